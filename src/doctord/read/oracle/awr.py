"""AWR reports of Oracle in HTML: 10g to 23ai, of an instance or a cluster, of one period or two that are compared."""

import re
from collections.abc import Iterator, Sequence

from doctord._native import Batch, ReportTable, html_tables
from doctord.errors import Refusal
from doctord.read.oracle import identity
from doctord.read.oracle.mail import unmailed
from doctord.read.oracle.report import Report
from doctord.read.oracle.sections import read_reports
from doctord.read.source import Source

NAME = "AWR report (HTML)"
BEGINS = re.compile(
    r"<title>AWR\s|WORKLOAD\s+REPOSITORY\s+(?:PDB\s+|RAC\s+)?(?:COMPARE\s+PERIOD\s+)?REPORT|AWR (?:RAC )?Report for DB",
    re.IGNORECASE,
)
MARKUP = re.compile(r"<html|<table|<h1|<title", re.IGNORECASE)


def sniff(head: str) -> bool:
    """Whether a file that begins so is such a report, perhaps as a mail program saved it."""
    plain = head.replace("=\r\n", "").replace("=\n", "")
    return bool(MARKUP.search(plain) and BEGINS.search(re.sub(r"\s+", " ", plain)))


def read(source: Source) -> Iterator[Batch]:
    """Rows of all that the report holds: see docs/reference/oracle-names.md.

    Raises:
        Refusal: the report does not say when it was.
    """
    title, tables = html_tables(unmailed(source.content()))
    seen = set[tuple[object, ...]]()
    for own in _parts(tables):
        found = [report for report in identity.reports(title, own, source) if _is_new(report, seen)]
        if found:
            yield from read_reports(own, found)
    if not seen:
        raise Refusal(
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


def _parts(tables: Sequence[ReportTable]) -> Iterator[list[ReportTable]]:
    """The tables of each report in a file; one file may hold several."""
    part = list[ReportTable]()
    for table in tables:
        if identity.begins(table) and any(identity.begins(held) for held in part):
            yield part
            part = []
        part.append(table)
    yield part
