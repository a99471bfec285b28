"""Counts of calls and their time in sum: syscount of libbpf-tools and bcc, and pairs of bpftrace's maps, @c and @t.

No distribution is in it: only means are known, in `wait`; counts without a time are `syscount.calls` in `statistic`.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import Clock
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.time_units import unit_us
from doctord.read.tracing.columns import EPOCH, NO_MOMENTS
from doctord.read.tracing.histogram_text import ASSUMED_UNIT, CLOCK
from doctord.regex import regex

NAME = "counts of calls with their time (syscount, bpftrace)"
RANK = Rank.ANY_TABLE
NO_LENGTH = "it does not say how long it counted: it is drawn as one second"
NO_TIME = "a count without a time: syscount -L prints it"

HEADING = regex(r"\s*(?:(SYSCALL)|PID\s+COMM)\s+COUNT(?:\s+TIME \((\w+)\))?\s*$")
ROW = regex(r"\s*(\S.*?)\s+(\d+)(?:\s+(\d+(?:\.\d+)?))?\s*$")
MAP = regex(r"@(\w+)\[(.*)\]: (\d+)\s*$")
COUNTS = {"c", "n", "count", "counts", "calls"}
TIMES = regex(r"(?:t|time|total|sum)?_?([num]?s|[num]?secs?)?$")

# Calls and their time in microseconds, by subject; null until it is known.
Sums = dict[str, tuple[int | None, float | None]]


def sniff(head: str) -> bool:
    """Whether it begins with a table of syscount, or with bpftrace's counts."""
    lines = head.splitlines()
    return any(HEADING.match(line) for line in lines[:20]) or any(
        found and found[1] in COUNTS for found in map(MAP.match, lines)
    )


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `wait`: calls and their mean time by subject."""
    tables = list(_tables(source))
    ends = [end for end, _ in tables if end]
    lengths_s = [(after - before).total_seconds() for before, after in pairwise(ends)] or [0.0]
    # The first one lasted as long as the second, as far as is known.
    for (end, sums), length_s in zip(tables, (lengths_s[0], *lengths_s), strict=False):
        yield from _rows(sums, end, length_s, source)


def _tables(source: SourceFile) -> Iterator[tuple[datetime | None, Sums]]:
    """Moment, null when there is none, and sums of each time that was printed."""
    clock, end, unit, sums = Clock(source), None, None, Sums()
    for number, line in source.lines():
        if stamp := CLOCK.match(line.strip()):
            if end or sums:
                yield end, sums
            end, sums = clock.at(*map(int, stamp.groups())), Sums()
        elif heading := HEADING.match(line):
            unit = unit_us(heading[2]) if heading[2] else None
        elif found := MAP.match(line):
            _take_map(sums, found, number, source)
        elif row := ROW.match(line):
            time_us = None if unit is None or row[3] is None else float(row[3]) * unit
            sums[re.sub(r"\s+", " ", row[1])] = (int(row[2]), time_us)
        elif line.strip() and not line.startswith(("Tracing ", "Attaching ", "Attached ")):
            source.skip(number, "not a count of calls")
    yield end, sums


def _take_map(sums: Sums, found: "re.Match[str]", number: int, source: SourceFile) -> None:
    subject, value = found[2].replace(", ", " "), int(found[3])
    count, time_us = sums.get(subject, (None, None))
    if found[1] in COUNTS:
        sums[subject] = (value, time_us)
    elif named := TIMES.match(found[1]):
        scale = unit_us(named[1]) if named[1] else source.unit_us
        if scale is None:
            source.note(ASSUMED_UNIT)
        sums[subject] = (count, value * (scale or 1e-3))
    else:
        source.skip(number, "neither a count nor a time by its name")


def _rows(sums: Sums, end: datetime | None, length_s: float, source: SourceFile) -> Iterator[Batch]:
    known = {subject: (count, us) for subject, (count, us) in sums.items() if count and us is not None}
    counted = {subject: count for subject, (count, us) in sums.items() if count and us is None}
    if counted:
        source.note(NO_TIME)
        at = {"ts": micros(end or EPOCH), "host": source.host, "component": "kernel", "kind": "gauge"}
        named = at | {"name": "syscount.calls", "unit": "calls"}
        yield rows("statistic", (named | {"entity": subject, "value": count} for subject, count in counted.items()))
    if not known:
        return
    if not length_s:
        source.note(NO_LENGTH)
        length_s = 1.0
    if end is None:
        source.place("time", NO_MOMENTS)
    common = {"ts": micros(end or EPOCH + timedelta(seconds=length_s)), "interval_s": length_s, "host": source.host}
    yield rows("wait", (common | _mean(subject, count, us, length_s) for subject, (count, us) in known.items()))


def _mean(subject: str, count: int, time_us: float, length_s: float) -> dict[str, str | float]:
    return {
        "event": subject,
        "waits_per_s": count / length_s,
        "avg_wait_ms": time_us / count / 1e3,
        "average_active_sessions": time_us / 1e6 / length_s,
    }
