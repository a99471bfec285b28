"""What the script AWR-miner (T. Muth, versions 2.9 to 5.0; `awr-hist-*.out`) took from AWR, a row for each snapshot.

A file is made of sections between `~~BEGIN-NAME~~` and `~~END-NAME~~`, each a table of SQL*Plus. MAIN-METRICS says when
each snapshot of each instance ended (minutes, in the database's zone, which is not told), and how long it is; a section
without instances covers all of them, until the latest of these ends. It yields `statistic`, `wait` (the top events of a
snapshot, foreground and background added up, and CPU by instance), `latency`, `statement`, `space`, `setting`, `event`
(patches), and `cpu` and `memory` where OSSTAT is there and says whose host it was.

Not read: what the script derives from other columns (differences between the rows of an advisor, ranks).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.oracle.awr_miner import about, statements
from doctord.read.oracle.awr_miner.report import Found, Placed, Report, Span
from doctord.read.oracle.awr_miner.sections import SECTIONS
from doctord.read.oracle.ruled_table import Line, Row, figure, table_rows
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "AWR-miner's output"
RANK = Rank.NAMED
NO_SNAPSHOT = "a row of a snapshot whose end is not known"
CUT_OFF = "the file ends within this section: its last line may be cut off"
NO_MOMENT = "no date and time of day"

MARK = regex(r"~~(BEGIN|END)-(.+?)~~")
BEGINS = regex(r"~~BEGIN-[A-Z0-9-]+~~\s*$", re.MULTILINE)
FIRST = "OS-INFORMATION"
OF_HOST = ("cpu", "memory")
NO_SUCH_VIEW = "table not in this version"

Section = Callable[[Report, list[Placed]], Iterator[Found]]
# What is made of a section whose rows are about snapshots, and of one that is about the whole.
BY_SNAPSHOT: dict[str, Section] = SECTIONS | statements.BY_SNAPSHOT
WHOLE: dict[str, Section] = about.SECTIONS | statements.WHOLE


@dataclass
class Sections:
    """The sections of one report, as lines."""

    held: dict[str, list[Line]] = field(default_factory=dict)
    open: str | None = None

    def take(self, number: int, line: str) -> None:
        """A line of the file; what stands outside of sections says nothing."""
        if mark := MARK.match(line):
            self.open = mark[2] if mark[1] == "BEGIN" else None
        elif self.open:
            self.held.setdefault(self.open, []).append((number, line))

    def end(self, source: SourceFile) -> None:
        """Skip the last line of a section that the end of the file cut off."""
        if self.open and (lines := self.held.get(self.open)):
            source.skip(lines.pop()[0], CUT_OFF)

    def rows(self, name: str) -> Iterator[tuple[int, Row]]:
        """Rows of a section; none where it is missing, or where the database is too old for it."""
        found = table_rows(self.held.get(name, []))
        return ((number, row) for number, row in found if NO_SUCH_VIEW not in row.values())


def sniff(head: str) -> bool:
    """Whether a file that begins so is of AWR-miner."""
    return bool(BEGINS.search(head))


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of the report, or of reports one after another."""
    sections = Sections()
    for number, line in source.lines():
        if sections.held and (mark := MARK.match(line)) and mark.groups() == ("BEGIN", FIRST):
            yield from _report(source, sections)
            sections = Sections()
        sections.take(number, line)
    sections.end(source)
    yield from _report(source, sections)


def _report(source: SourceFile, sections: Sections) -> Iterator[Batch]:
    report = _about(source, sections)
    by_table: dict[str, list[dict[str, Any]]] = {}
    for table, values in _found(report, sections):
        of_server = {} if table in OF_HOST else {"db": report.db}
        by_table.setdefault(table, []).append(of_server | values)
    for table, found in by_table.items():
        yield rows(table, found)


def _about(source: SourceFile, sections: Sections) -> Report:
    report = Report(source, {row.get("stat_name") or "": row.get("stat_value") for _, row in sections.rows(FIRST)})
    for number, row in sections.rows("MAIN-METRICS"):
        snapshot, span = row.get("snap"), _span(source, row)
        report.has_cpu |= row.get("cpu_per_s") is not None
        if span and snapshot:
            report.add(snapshot, row.get("inst"), span)
        else:
            source.skip(number, NO_MOMENT)
    if report.spans and source.zone is None:
        source.note(ZONE_ASSUMED)
    for _, row in sections.rows("DATABASE-PARAMETERS"):
        if row.get("parameter_name") == "db_block_size":
            report.block_bytes = figure(row.get("value"))
    report.hosts = about.hosts(report.about, [row for _, row in sections.rows("OS-INFORMATION2")])
    return report


def _span(source: SourceFile, row: Row) -> Span | None:
    minutes = figure(row.get("dur_m"))
    try:
        end = datetime.strptime(row.get("end") or "", "%y/%m/%d %H:%M").replace(tzinfo=source.zone or UTC)
    except ValueError:
        return None
    return Span(micros(end), minutes * 60 if minutes else None)


def _found(report: Report, sections: Sections) -> Iterator[Found]:
    for name, section in BY_SNAPSHOT.items():
        yield from section(report, list(_placed(report, sections.rows(name))))
    about = [(section, list(sections.rows(name))) for name, section in WHOLE.items()]
    if any(found for _, found in about):
        whole = report.whole or Span(micros(untimed(report.source, 1)[0]), None)
        for section, found in about:
            yield from section(report, [Placed(number, whole, row) for number, row in found])


def _placed(report: Report, found: Iterator[tuple[int, Row]]) -> Iterator[Placed]:
    for number, row in found:
        place = Placed(number, Span(0, None), row)
        span = report.spans.get((place.snapshot, place.instance))
        if span:
            yield Placed(number, span, row)
        elif "end" not in row:  # told already
            report.source.skip(number, NO_SNAPSHOT)
