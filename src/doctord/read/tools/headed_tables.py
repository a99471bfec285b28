"""Tables under headings, as most tools print them: what a report is made of, and where the next one begins."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime

from doctord.read.clock import Clock
from doctord.read.source import SourceFile
from doctord.read.tools.banner import banner_of
from doctord.read.tools.report import Line, Report
from doctord.read.tools.times import TIME, moment_in, time_in
from doctord.regex import regex

RULER = regex(r"[-=+|\s]*")
TIME_ALONE = regex(rf"\w{{2,8}}:\s*{TIME}")
NO_FIGURES = "neither a heading nor figures of this tool"


@dataclass(slots=True)
class HeadedRow:
    """A line of figures: the names above it, and the report to which it belongs.

    Attributes:
        number: Of the line.
        part: Which of the tool's tables it belongs to.
        names: The names of the columns.
        words: The line.
        report: Where its figures go.
    """

    number: int
    part: str
    names: list[str]
    words: list[str]
    report: Report


# Which table a line is the heading of, and the names of its columns; null for any other line.
HeadingOf = Callable[[str], tuple[str, list[str]] | None]


def headed_rows(
    lines: Iterable[Line],
    source: SourceFile,
    day: date | None,
    heading_of: HeadingOf,
    *,
    titles: tuple[str, ...] = (),
    since_boot: bool = True,
) -> Iterator[HeadedRow]:
    """The lines of figures. A report begins with a moment, sysstat's first line, or a heading that it already has.

    Args:
        lines: The text.
        source: Is told the host, and a zone that is assumed.
        day: The day of the first report where the text tells no more.
        heading_of: Recognises the tool's headings.
        titles: How lines begin that say nothing.
        since_boot: Whether the first report covers the time since boot.
    """
    report, part, names, seen = Report(0, day=day, since_boot=since_boot), "", list[str](), set[str]()
    is_first, clock = since_boot, Clock(source, day)
    for number, line in lines:
        banner, heading = banner_of(line), heading_of(line)
        if banner:
            clock = Clock(source, banner.day)
        moment = None if banner or heading else moment_in(line, source) or _told(line, clock, source)
        if banner or moment or (heading and heading[0] in seen):
            is_first = since_boot and (banner is not None or (is_first and not report))
            day = banner.day if banner else day
            source.host = banner.host if banner else source.host
            report, seen = Report(number, at=moment, day=day, since_boot=is_first), set()
        if heading:
            part, names = heading
            seen.add(part)
        elif not banner and not moment and not RULER.fullmatch(line) and not line.lstrip().startswith(titles):
            yield HeadedRow(number, part, names, line.split(), report)


def _told(line: str, clock: Clock, source: SourceFile) -> datetime | None:
    """The moment of a line such as `Time: 03:49:57 PM`, of old iostat -t; null for any other line."""
    found = TIME_ALONE.fullmatch(line.strip())
    return time_in(clock, found, source) if found else None


def reports_of(rows: Iterable[HeadedRow], take: Callable[[HeadedRow], object], source: SourceFile) -> Iterator[Report]:
    """Put each line into its report with `take`, and yield each report when it is complete.

    `take` raises a ValueError if a line is none of figures, a KeyError if the heading lacks a name that it needs.
    """
    report: Report | None = None
    for row in rows:
        if report is not None and row.report is not report:
            yield report
        report = row.report
        try:
            take(row)
        except (ValueError, KeyError):
            source.skip(row.number, NO_FIGURES)
        report.blame(row.number, source)
    if report is not None:
        yield report
