"""uptime, and the first line of top and w: load averages, users, time since boot.

Table: `statistic` (component `kernel`): `uptime.load_1m`, `uptime.load_5m`, `uptime.load_15m`, `uptime.users`,
`uptime.up_s`. A load average counts tasks that run, wait for a CPU, or (on Linux) for a disk: it is not utilisation.
The time of day has no date; without seconds the whole minute is taken.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime

from doctord._native import Batch
from doctord.read.clock import Clock
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import NO_FIGURES
from doctord.read.tools.report import Line, Report, placed
from doctord.read.tools.times import moment_in
from doctord.regex import regex

NAME = "uptime"
RANK = Rank.SHAPE

UPTIME = regex(
    r"\s*(?:top - )?(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?\s*(?P<half>[ap]m)?,?\s+up\s+(?P<up>.*?),"
    r"\s+(?:(?P<users>\d+)\s+users?,\s+)?load averages?: (?P<loads>[\d.,]+ +[\d.,]+ +[\d.,]+)\s*$",
    re.IGNORECASE,
)
DAYS = regex(r"(\d+)\s*day")
HOURS = regex(r"(\d+):(\d\d)|(\d+)\s*hr|(\d+)\s*min")


def sniff(head: str) -> bool:
    """Whether it has a line of uptime and nothing else, but for moments."""
    lines = [line for line in head.splitlines()[:20] if line.strip()]
    return bool(lines) and len(lines) <= 2 * sum(bool(UPTIME.match(line)) for line in lines)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each line of the text; `day` is that of the first time of day where no date stands above it."""
    clock, at = Clock(source, day), None
    for number, line in lines:
        if found := UPTIME.match(line):
            report = Report(number, at=at or time_of(found, clock, source))
            add_uptime(report, found)
            yield report
            at = None
        elif moment := moment_in(line, source):
            at = moment
        elif line.strip():
            source.skip(number, NO_FIGURES)


def time_of(found: "re.Match[str]", clock: Clock, source: SourceFile) -> datetime | None:
    """The moment of a line of uptime; null where its time of day is none."""
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    if source.zone is None:
        source.note(ZONE_ASSUMED)
    try:
        return clock.at(hour, int(found["minute"]), int(found["second"] or 0))
    except ValueError:
        return None


def add_uptime(report: Report, found: "re.Match[str]") -> None:
    """Put a line of uptime into a report."""
    for name, text in zip(("1m", "5m", "15m"), found["loads"].split(), strict=True):
        report.statistic("kernel", f"uptime.load_{name}", float(text.rstrip(",").replace(",", ".")), "tasks")
    users = found["users"]
    report.statistic("kernel", "uptime.users", float(users) if users else None, "count")
    report.statistic("kernel", "uptime.up_s", _up_s(found["up"]), "s")


def _up_s(text: str) -> float:
    """Seconds of `24 day(s), 22:12`, `3 days, 14 min`, `2:05`.

    >>> _up_s("24 day(s), 22:12")
    2153520.0
    """
    days, rest = DAYS.search(text), HOURS.search(text)
    seconds = int(days[1]) * 86400 if days else 0
    if rest:
        hours, minutes, whole, alone = (int(part or 0) for part in rest.groups())
        seconds += (hours + whole) * 3600 + (minutes + alone) * 60
    return float(seconds)
