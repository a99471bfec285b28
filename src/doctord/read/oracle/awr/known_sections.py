"""All sections of Oracle's reports, and what is made of the tables of one report."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from doctord._native import Batch, ReportTable
from doctord.errors import UserError
from doctord.read.oracle.awr import histograms, totals, unknown
from doctord.read.oracle.awr.compare import period_of
from doctord.read.oracle.awr.identity import parted, reports
from doctord.read.oracle.awr.report import Report, Span
from doctord.read.oracle.awr.section import Section
from doctord.read.oracle.awr.sections import (
    contention,
    io,
    memory,
    rac,
    segments,
    settings,
    sql,
    statistics,
    text,
    time,
    waits,
)
from doctord.read.oracle.awr.whole import tell_of_cut
from doctord.read.source import SourceFile
from doctord.regex import regex

# In this order they are filled in: of two that give the same figure the first is right.
MODULES = (
    time,
    waits,
    rac,
    statistics,
    io,
    contention,
    memory,
    segments,
    sql,
    settings,
    text,
)
SECTIONS: tuple[Section, ...] = tuple(section for module in MODULES for section in module.SECTIONS)
PATTERNS = tuple(regex(section.title, re.IGNORECASE) for section in SECTIONS)


@lru_cache(maxsize=4096)
def candidates(title: str, summary: str) -> tuple[int, ...]:
    """Numbers of the sections that a table may be, by its title; then by what its summary says it displays."""
    about = unknown.DISPLAYS.sub("", summary)
    by_title = [at for at, pattern in enumerate(PATTERNS) if pattern.match(title)]
    by_summary = [at for at, pattern in enumerate(PATTERNS) if at not in by_title and pattern.match(about)]
    return (*by_title, *by_summary)


def sharpened(tables: Sequence[ReportTable], report: Report) -> Span:
    """The interval, to parts of a second: the length that the report itself divided its greatest count by."""
    whole = report.whole
    for table in () if report.spans else tables:
        if table.find("Statistic", "Statistic Name") != 0:
            continue
        total, rate = table.find("Total", "Value"), table.find("per Second", "per Second (Elapsed Time)")
        if total is None or rate is None:
            continue
        pairs = [
            (each, count)
            for count, each in zip(table.numbers(total), table.numbers(rate), strict=True)
            if count and each
        ]
        each, count = max(pairs, default=(0.0, 0.0))
        if each > 100_000 and abs(count / each - whole.seconds) < 2:
            return replace(whole, seconds=count / each)
    return whole


def fill(tables: Sequence[ReportTable], report: Report) -> None:
    """Take all tables of one report (or of one of the periods that it compares) into its rows."""
    report.whole = sharpened(tables, report)
    todo = list[tuple[int, int, ReportTable, tuple[int, ...]]]()
    pictures = list[ReportTable]()
    for at, table in enumerate(tables):
        if not len(table):
            continue
        if histograms.is_histogram(table):
            pictures.append(table)
            continue
        found = candidates(table.title, table.summary)
        todo.append((found[0] if found else len(SECTIONS), at, table, found))
    for _, _, table, found in sorted(todo, key=lambda each: each[:2]):
        if not any(SECTIONS[section].fill(table, report) for section in found):
            unknown.fill(table, report)
    histograms.fill(pictures, report)
    totals.finish(report)


def read_parts(parts: Iterable[tuple[str, Sequence[ReportTable], bool]], source: SourceFile) -> Iterator[Batch]:
    """Rows of all reports in a file; the same one only once.

    Each is given as the document's title, its tables, and whether it is whole.

    Raises:
        UserError: no report says when it was.
    """
    seen = set[tuple[object, ...]]()
    for title, tables, whole in parts:
        heads, body = parted(tables)
        found = [report for report in reports(title, heads, source) if _is_new(report, seen)]
        if found:
            yield from read_reports(body, found, whole=whole)
    if not seen:
        raise UserError(
            f"{source.name} does not say from when to when it is",
            "its lines Begin Snap and End Snap say it: take the whole report",
        )


def _is_new(report: Report, seen: set[tuple[object, ...]]) -> bool:
    key = (report.whole.db, report.whole.instance, report.whole.ts, report.whole.seconds)
    is_new = key not in seen
    seen.add(key)
    if not is_new:
        report.source.note("the same report is in it more than once: read once")
    return is_new


def read_reports(tables: Sequence[ReportTable], found: Sequence[Report], *, whole: bool) -> Iterator[Batch]:
    """Rows of the reports of one head: one, or the two periods that it compares."""
    if len(found) == 1:
        fill(tables, found[0])
    else:
        for period, report in enumerate(found, 1):
            own = [table for table in (period_of(table, period) for table in tables) if table is not None]
            fill(own, report)
    for report in found:
        if not whole:
            tell_of_cut(report)
        yield from report.filled.batches()
