"""Oracle's extended SQL trace (event 10046, level 8 or 12): each wait with its time, `ela=`, in microseconds.

`tim=` counts microseconds of a clock that may be any; lines that begin with `***` give the wall clock at that point.
Where both agree but for a whole number of quarter hours, `tim=` is the wall clock in UTC.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from doctord._native import Batch
from doctord.chart.rows import micros
from doctord.read.latency.waits import CLOCK_FROM_1970, Waits
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import Source

NAME = "Oracle 10046 traces"
NO_TIME = "a wait before any time of day is known"

WAIT = re.compile(r"WAIT #-?\d+: nam='([^']*)' ela= ?(\d+)\b")
TIM = re.compile(r"\btim=(\d+)")
STAMP = re.compile(r"\*\*\* (?:.*\) )?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.?\d*)([+-]\d\d:\d\d|Z)?\s*$")

BEGINS = re.compile(r"^(?:PARSING IN CURSOR #|(?:PARSE|EXEC|FETCH) #-?\d+:c=\d+,e=)", re.MULTILINE)
QUARTER_HOUR_US = 900_000_000
# How far the stamp may be from the time of the line after it.
SLACK_US = 5_000_000
DAY_US = 86_400_000_000
EARLIEST_EPOCH_US = 10**15  # 2001: below it `tim=` is no time since 1970


def sniff(head: str) -> bool:
    """Whether a file that begins so is such a trace."""
    return bool(WAIT.search(head)) or bool(BEGINS.search(head))


class Clock:
    """Turns `tim=` into wall-clock time."""

    def __init__(self, source: Source) -> None:
        """Nothing is known yet."""
        self._source = source
        self._stamp_us: int | None = None
        self._has_zone = False
        self._offset_us: int | None = None

    def stamp(self, text: str, zone: str | None) -> None:
        """A time of day as the trace has it."""
        moment = datetime.fromisoformat(text + (zone or "").replace("Z", "+00:00"))
        self._has_zone = moment.tzinfo is not None or self._source.zone is not None
        self._stamp_us = micros(moment if moment.tzinfo else moment.replace(tzinfo=self._source.zone or UTC))

    def wall_us(self, tim: int) -> int:
        """Microseconds since 1970."""
        if self._stamp_us is not None:
            self._offset_us, self._stamp_us = self._offset(tim, self._stamp_us), None
        if self._offset_us is None:
            if tim < EARLIEST_EPOCH_US:
                self._source.note(CLOCK_FROM_1970)
            self._offset_us = 0
        return tim + self._offset_us

    def _offset(self, tim: int, stamp_us: int) -> int:
        offset_us = stamp_us - tim
        if abs(offset_us) < DAY_US and _from_quarter_hour(offset_us) < SLACK_US:
            return 0
        if not self._has_zone:
            self._source.note(ZONE_ASSUMED)
        # The clocks drift less than stamps are late: an offset is only changed when it is far off.
        known = self._offset_us
        return known if known is not None and abs(known - offset_us) < SLACK_US else offset_us


def _from_quarter_hour(offset_us: int) -> int:
    return abs((offset_us + QUARTER_HOUR_US // 2) % QUARTER_HOUR_US - QUARTER_HOUR_US // 2)


def read(source: Source) -> Iterator[Batch]:
    """Rows of `latency` by event, in columns of a second."""
    waits, clock, last_us = Waits(source, db=_server(source)), Clock(source), None
    for number, line in source.lines():
        if line.startswith("***"):
            if stamp := STAMP.match(line):
                _stamped(clock, stamp, number, source)
            continue
        if tim := TIM.search(line):
            last_us = clock.wall_us(int(tim[1]))
        if line.startswith("WAIT #"):
            yield from _wait(waits, line, number, last_us, source)
    yield from waits.flush()


def _stamped(clock: Clock, stamp: "re.Match[str]", number: int, source: Source) -> None:
    try:
        clock.stamp(stamp[1], stamp[2])
    except ValueError:
        source.skip(number, "no time of day")


def _wait(waits: Waits, line: str, number: int, end_us: int | None, source: Source) -> Sequence[Batch]:
    wait = WAIT.match(line)
    if wait is None:
        source.skip(number, "a wait without its event or its time")
        return ()
    if end_us is None:
        source.skip(number, NO_TIME)
        return ()
    return waits.add(number, end_us, int(wait[2]), wait[1])


def _server(source: Source) -> str:
    """The server, from the trace's header; the host is noted."""
    if node := re.search(r"^Node name:\s*(\S+)", source.head, re.MULTILINE):
        source.host = node[1]
    instance = re.search(r"^Instance name:\s*(\S+)", source.head, re.MULTILINE)
    return f"oracle:{instance[1]}" if instance else "oracle"
