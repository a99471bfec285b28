"""A time before each line of what a tool printed: `iostat -x 10 | ts`, `| logger`, `| awk '{print strftime(), $0}'`.

    2026-04-08 01:07:14 avg-cpu:  %user   %nice %system      date and time, in brackets too, with a fraction or a zone
    Nov 22 20:29:29 Device:         r/s     w/s              ts; without a year
    Nov 22 20:29:29 db1 vmstat[712]:  1  0      0 812340     logger, whose host is that of the rows
    1460077634 Mem:        7900000     2000000               seconds since 1970
    01:07:14 avg-cpu:  %user   %nice %system                 a time of day

What is left of the lines is read as the tool's own text: iostat, vmstat, mpstat, pidstat, sar, free, top and all
others whose reports are read, and MySQL's error log. A report without a time of its own was taken at the time of its
first line; the tool's own times are kept, in the zone that the stamp tells.
"""

import io
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from doctord._native import Batch
from doctord.read.clock import Clock, latest_first
from doctord.read.format import Format, Rank, formats
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.mysql import mysql_error
from doctord.read.source import SourceFile, source_of
from doctord.read.sysstat import sar_text
from doctord.read.tools.report import Line, Report, placed
from doctord.read.tools.times import DATE_AND_TIME, moment_in
from doctord.read.tools.tool import Tool, tool_of
from doctord.regex import regex

NAME = "what a tool printed, with a time before each line"
RANK = Rank.ARCHIVE
LOOKED_AT: Final = 400
MOST_OF: Final = 0.9  # the rest may be headings that a filter let pass, or what the shell said
CLOCK: Final = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
DATE_TIME: Final = rf"\d{{1,4}}[-/.]\d\d?[-/.]\d{{2,4}}[T ]{CLOCK}(?: ?(?:Z|[+-]\d\d:?\d\d))?"
MONTH_DAY: Final = rf"[A-Z][a-z]{{2}} [ \d]\d {CLOCK}"
IN_WORDS: Final = rf"[A-Z][a-z]{{2}} {MONTH_DAY}(?: [A-Z]{{2,5}})? \d{{4}}"
SINCE_1970: Final = r"\d{10}(?:\.\d+)?"
REST: Final = r"[:|,]?(?:[ \t](?P<rest>.*))?$"
LOGGED: Final = r"(?: (?P<host>[\w.-]+) [\w./-]+(?:\[\d+\])?:)"
FRACTION: Final = regex(r"(?<=:\d\d)[.,](\d+)")
LETTER_FIRST: Final = regex(r"\s*[A-Za-z%]")


class Form(NamedTuple):
    """How lines are stamped: what stands before the tool's own text, and the moment that a stamp tells."""

    pattern: re.Pattern[str]
    moment: Callable[[str, SourceFile, Clock], datetime | None]


def sniff(head: str) -> bool:
    """Whether most lines begin with a time, headings too, and a tool's text is behind it."""
    form = _form(head)
    if form is None or _format_of(plain := _plain(head, form)) is None:
        return False
    is_own_time = form.moment is _of_day and any(f.sniff(head) for f in formats() if f.RANK is not Rank.ARCHIVE)
    # vmstat's figures alone, with a time before them, are a form of vmstat.
    is_with_words = mysql_error.sniff(plain) or any(LETTER_FIRST.match(line) for line in plain.splitlines())
    return not is_own_time and is_with_words


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of the tool's own format."""
    form = _form(source.head)
    found = _format_of(_plain(source.head, form)) if form else None
    if form is None or found is None:
        return
    source.head = _plain(source.head, form)
    stamps = Stamps(form, source)
    if isinstance(found, Tool):
        yield from placed(_timed(found, stamps, source), source)
    else:
        yield from _of_own_times(found, stamps, source)


class Stamps:
    """The lines without their stamps, and what these told."""

    def __init__(self, form: Form, source: SourceFile) -> None:
        """Nothing is read yet."""
        self._form, self._source, self._clock = form, source, Clock(source)
        self._numbers: list[int] = []
        self._moments: list[datetime] = []
        self._before = ""

    def lines(self) -> Iterator[Line]:
        """Number and text of each line; one without a stamp as it is."""
        for number, line in self._source.lines():
            found = self._form.pattern.match(line)
            if found and found["stamp"] != self._before:
                self._take(number, found)
            yield number, (found["rest"] or "") if found else line

    def at(self, number: int) -> datetime | None:
        """The moment of a line that was read; of the first one for what stands before it."""
        place = max(bisect_right(self._numbers, number) - 1, 0)
        return self._moments[place] if self._moments else None

    def _take(self, number: int, found: "re.Match[str]") -> None:
        self._before = found["stamp"]
        if named := found.groupdict().get("host"):
            self._source.host = self._source.host or named
        try:
            moment = self._form.moment(self._before, self._source, self._clock)
        except (ValueError, OverflowError):
            moment = None
        if moment is None:
            self._source.skip(number, "the time before the line is none")
            return
        self._numbers.append(number)
        self._moments.append(moment)
        if self._source.zone is None and moment.tzinfo is not UTC:
            self._source.options = replace(self._source.options, zone=moment.tzinfo)


def _timed(tool: Tool, stamps: Stamps, source: SourceFile) -> Iterator[Report]:
    """The tool's reports, each at its own time, else at that of its first line."""
    for report in tool.reports(stamps.lines(), source):
        report.at = report.at or stamps.at(report.line)
        yield report


def _of_own_times(found: Format, stamps: Stamps, source: SourceFile) -> Iterator[Batch]:
    """The rows of a text that tells the time on each of its lines."""
    text = "".join(f"{line}\n" for _, line in stamps.lines())
    own = source_of(io.BytesIO(text.encode()), source.name, source.options)
    own.host, own.modified, own.size_bytes = source.host, source.modified, len(text)
    yield from found.read(own)
    source.skipped += own.skipped
    source.skipped_lines += own.skipped_lines
    for note in own.notes:
        source.note(note)


def _format_of(text: str) -> Format | None:
    own_times: tuple[Format, ...] = (sar_text, mysql_error)
    return next((found for found in own_times if found.sniff(text)), tool_of(text))


def _form(head: str) -> Form | None:
    """The first form that most lines have; null where none is."""
    lines = [line for line in head.splitlines()[:LOOKED_AT] if line.strip()]
    enough = max(MOST_OF * len(lines), 2)
    return next((form for form in FORMS if sum(map(bool, map(form.pattern.match, lines))) >= enough), None)


def _plain(head: str, form: Form) -> str:
    found = ((line, form.pattern.match(line)) for line in head.splitlines())
    return "\n".join((match["rest"] or "") if match else line for line, match in found)


def _of_date(stamp: str, source: SourceFile, _: Clock) -> datetime | None:
    """A date and time; a fraction of a second, which no other layout has, is put aside first."""
    fraction = FRACTION.search(stamp)
    plain = re.sub(r" (?=[Z+-])", "", FRACTION.sub("", stamp))
    moment = moment_in(plain, source) if DATE_AND_TIME.match(plain) else None
    return moment + timedelta(seconds=float(f"0.{fraction[1]}")) if moment and fraction else moment


def _in_words(stamp: str, source: SourceFile, _: Clock) -> datetime | None:
    return moment_in(stamp, source)


def _of_month(stamp: str, source: SourceFile, _: Clock) -> datetime | None:
    """A time without its year: the latest year that does not bring it after the file's last change."""
    latest = latest_first(source)
    for year in range(latest.year, latest.year - 8, -1):  # a 29 February comes again after eight years at most
        try:
            moment = datetime.strptime(f"{year} {FRACTION.sub('', stamp)}", "%Y %b %d %H:%M:%S")  # noqa: DTZ007
        except ValueError:
            continue
        if moment <= latest + timedelta(days=1):
            return _zoned(moment, source)
    return None


def _since_1970(stamp: str, _: SourceFile, __: Clock) -> datetime:
    return datetime.fromtimestamp(float(stamp), UTC)


def _of_day(stamp: str, source: SourceFile, clock: Clock) -> datetime:
    hour, minute, second = stamp.replace(",", ".").split(":")
    if source.zone is None:
        source.note(ZONE_ASSUMED)
    return clock.at(int(hour), int(minute), float(second))


def _zoned(moment: datetime, source: SourceFile) -> datetime:
    if source.zone is None:
        source.note(ZONE_ASSUMED)
    return moment.replace(tzinfo=source.zone or UTC)


def _forms(stamp: str, moment: Callable[[str, SourceFile, Clock], datetime | None]) -> Iterator[Form]:
    """What logger wrote, a stamp in brackets, and a bare one."""
    for logged in (LOGGED, ""):
        yield Form(re.compile(rf"\[?(?P<stamp>{stamp})\]?{logged}{REST}"), moment)


FORMS: Final = tuple(
    form
    for stamp, moment in (
        (DATE_TIME, _of_date),
        (IN_WORDS, _in_words),
        (MONTH_DAY, _of_month),
        (SINCE_1970, _since_1970),
        (CLOCK, _of_day),
    )
    for form in _forms(stamp, moment)
)
