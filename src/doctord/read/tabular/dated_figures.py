"""Texts of two columns, a date and a figure, as people keep them for forecasts: one figure a day, say.

The columns are parted by tabs, semicolons, commas or blanks; a heading names the figure (`figure` without one). Dates
are `2008-01-31`, `1/31/2008`, `31.1.2008`, `31/01/2008`, `23-Jul`, `23-Jul-2008`, with or without a time of day. It
yields `statistic` (component `table`, kind gauge, name: the heading, entity: the file's name without its ending), a row
for each line at the moment that it names; a date is its midnight.

A note says what is assumed: the order of day and month, where every date would be one either way; the year, where there
is none (the last line is no later than the file's last change, and the year goes on when the months begin again); the
zone.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from doctord._native import Batch
from doctord.dataset.rows import columns, micros
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "two columns of dates and figures"
RANK = Rank.ANY_TABLE
NO_FIGURE = "no date and figure"
NO_DATE = "no date of the calendar"
YEAR_ASSUMED = (
    "no year in its dates: the last one is taken to be no later than when the file was last written, in {year}"
)
ORDER_ASSUMED = "its dates may have the day or the month first: {first} first is taken"

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DATE = r"""(?:
    (?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})
  | (?P<one>\d{1,2})(?P<mark>[-/.])(?P<two>\d{1,2})(?P=mark)(?P<last_year>\d{4})
  | (?P<named_day>\d{1,2})-(?P<name>[A-Za-z]{3})[A-Za-z]*(?:-(?P<named_year>\d{4}|\d\d))?
)"""
TIME = r"(?:[T\ ](?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d))?)?"
# A decimal comma only where commas do not part the columns.
FIGURE = r"""(?:
    \s*,\s*"?(?P<figure>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
  | (?:\s*;\s*|\s+)"?(?P<other>[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d+)?)
)"""
LINE = regex(rf"\s*\"?{DATE}{TIME}\"?{FIGURE}\"?\s*$", re.VERBOSE)
HEADING = regex(r"\s*\"?[A-Za-z][\w %/()-]*\"?\s*[\t;,]\s*\"?(?P<name>[A-Za-z][\w %/().-]*?)\"?\s*$")
LEAST_SHARE = 0.8  # of the lines below a heading that hold date and figure


class Line(NamedTuple):
    """A line: its number in the file, the parts of its date as far as they are told, time of day, and figure.

    Attributes:
        number: Of the line.
        year: Null where none is told.
        parts: Month and day, or two numbers of which either may be the month (`is_open`).
        is_open: Whether it is not told which is which.
        seconds: Of the day.
        figure: What was measured.
    """

    number: int
    year: int | None
    parts: tuple[int, int]
    is_open: bool
    seconds: int
    figure: float


def sniff(head: str) -> bool:
    """Whether a file that begins so has two such columns, and no other."""
    lines = [line for line in head.splitlines()[:50] if line.strip()]
    if len(head) >= 1 << 12:
        lines = lines[:-1]  # may be cut off
    fitting = sum(LINE.match(line) is not None for line in lines)
    return fitting >= 2 and fitting >= LEAST_SHARE * (len(lines) - 1)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`."""
    name, lines = "figure", list[Line]()
    for number, text in source.lines():
        if found := LINE.match(text):
            lines.append(_line(number, found))
        elif (heading := HEADING.match(text)) and not lines:
            name = heading["name"]
        elif text.strip():
            source.skip(number, NO_FIGURE)
    days = zip(_days(source, lines), lines, strict=True)
    placed = [(_moment(source, day, line.seconds), line.figure) for day, line in days if day is not None]
    about = {"host": source.host, "component": "table", "entity": _stem(source), "name": name, "kind": "gauge"}
    figures = {"ts": [at_us for at_us, _ in placed], "value": [figure for _, figure in placed]}
    yield columns("statistic", len(placed), {**about, **figures})


def _stem(source: SourceFile) -> str:
    return Path(source.name).name.partition(".")[0]


def _line(number: int, found: "re.Match[str]") -> Line:
    if found["name"]:
        month = MONTHS.index(found["name"].lower()) + 1 if found["name"].lower() in MONTHS else 0
        year, parts = found["named_year"], (month, int(found["named_day"]))
    elif found["year"]:
        year, parts = found["year"], (int(found["month"]), int(found["day"]))
    else:
        year, parts = found["last_year"], (int(found["one"]), int(found["two"]))
    seconds = int(found["hour"] or 0) * 3600 + int(found["minute"] or 0) * 60 + int(found["second"] or 0)
    whole_year = None if year is None else int(year) + (2000 if len(year) == 2 else 0)
    figure = float((found["figure"] or found["other"]).replace(",", "."))
    return Line(number, whole_year, parts, found["one"] is not None, seconds, figure)


def _days(source: SourceFile, lines: list[Line]) -> list[date | None]:
    """The day of each line; null where it is none of the calendar, which is told."""
    day_first = any(line.is_open for line in lines) and _is_day_first(source, lines)
    years = _years(source, lines)
    days = list[date | None]()
    for line, year in zip(lines, years, strict=True):
        month, day = line.parts[::-1] if line.is_open and day_first else line.parts
        try:
            days.append(date(year, month, day))
        except ValueError:
            source.skip(line.number, NO_DATE)
            days.append(None)
    return days


def _is_day_first(source: SourceFile, lines: list[Line]) -> bool:
    firsts = [line.parts[0] for line in lines if line.is_open]
    seconds = [line.parts[1] for line in lines if line.is_open]
    if (max(firsts) > 12) != (max(seconds) > 12):
        return max(firsts) > 12
    # Days change from line to line, months do not.
    day_first = sum(a != b for a, b in pairwise(firsts)) > sum(a != b for a, b in pairwise(seconds))
    source.note(ORDER_ASSUMED.format(first="the day" if day_first else "the month"))
    return day_first


def _years(source: SourceFile, lines: list[Line]) -> list[int]:
    """The year of each line: where none is told, that which brings the last line to the file's last change."""
    if not any(line.year is None for line in lines):
        return [line.year or 0 for line in lines]
    changed = source.day or (source.modified or datetime(1970, 12, 31, tzinfo=UTC)).date()
    latest = lines[-1].parts
    year = changed.year - ((changed.month, changed.day) < latest)
    source.note(YEAR_ASSUMED.format(year=year))
    years = [year]
    for one, later in pairwise(line.parts for line in reversed(lines)):
        years.append(years[-1] - (later > one and later[0] - one[0] > 6))
    return [line.year or assumed for line, assumed in zip(lines, reversed(years), strict=True)]


def _moment(source: SourceFile, day: date, seconds: int) -> int:
    if source.zone is None:
        source.note(ZONE_ASSUMED)
    return micros(datetime(day.year, day.month, day.day, tzinfo=source.zone or UTC) + timedelta(seconds=seconds))
