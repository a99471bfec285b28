"""Latency logs of fio (`write_lat_log`): milliseconds since the start, latency, direction, block size, offset.

fio 3 writes nanoseconds, fio 2 microseconds. A log of four columns may be of either: where its nanoseconds would keep
less than half a request in flight, they are microseconds; a note says so, and --unit decides otherwise. With
`log_avg_msec` a line is the mean of an interval and no wait (its block size is 0, or the lines come evenly): it becomes
`statistic` (component fio, `fio.lat_mean`, microseconds). fio writes logs of bandwidth and of operations in the same
form: only the name tells them apart.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePath
from statistics import median

from doctord._native import Batch
from doctord.dataset.rows import rows
from doctord.errors import UserError
from doctord.read.format import Rank
from doctord.read.single_waits import CLOCK_FROM_1970, Waits
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "fio's latency logs"
RANK = Rank.NAMED
LINE = regex(r"(\d+), (\d+), ([0-3]), (\d+)((?:, (?:\d+|0x[0-9a-f]+))*)\s*$")
DIRECTIONS = ("read", "write", "trim", "sync")
OTHER_LOG = regex(r"_(bw|iops)\.")
NS_US = 1e-3
MANY_LINES = 1000
FEW_STEPS = 3
UNEVEN = 0.1
LEAST_MEAN_MS = 10  # closer lines may be waits of a device that takes as long each time
LEAST_IN_FLIGHT = 0.5  # a load that keeps less in flight is no load: then the unit is larger
MICROSECONDS = "four columns, as fio 2 writes them: latencies are taken for microseconds (--unit tells)"
MEANS = "its lines are means over {:g} ms (log_avg_msec), no single waits: a map of waits needs the log without it"
NO_LINE = "not a line of a latency log"
SINCE_1970_MS = 10**12  # log_unix_epoch: times are of the wall clock


def sniff(head: str) -> bool:
    """Whether the first lines are of such a log."""
    lines = head.splitlines()[:3]
    return bool(lines) and all(LINE.match(line) for line in lines)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `latency` by direction, in columns of a second; of means, rows of `statistic`.

    Raises:
        UserError: its name says that it is a log of something else.
    """
    if other := OTHER_LOG.search(PurePath(source.name).name):
        raise UserError(
            f"{source.name}: a log of {other[1]}, not of latencies", "write_lat_log of fio writes NAME_lat.1.log"
        )
    found = ((number, LINE.match(line), line) for number, line in source.lines())
    one_us = source.unit_us or _unit_us(source)
    step_ms = mean_of_ms(source.head)
    if step_ms is not None:
        source.note(MEANS.format(step_ms))
        yield from _means(source, found, one_us, step_ms)
        return
    waits = Waits(source)
    for number, parts, line in found:
        if parts:
            ended_ms = _ended_ms(source, parts)
            direction = f"fio {DIRECTIONS[int(parts[3])]}"
            yield from waits.add(number, ended_ms * 1e3, int(parts[2]) * one_us, direction)
        elif line.strip():
            source.skip(number, NO_LINE)
    yield from waits.flush()


def mean_of_ms(head: str) -> float | None:
    """Milliseconds of which each line is the mean; null where a line is a single wait."""
    found = [parts for line in head.splitlines()[:MANY_LINES] if (parts := LINE.match(line))]
    steps = [later - one for one, later in pairwise(sorted({int(parts[1]) for parts in found})) if later > one]
    step_ms = median(steps) if steps else 0.0
    even = len(steps) >= FEW_STEPS and all(abs(step - step_ms) <= UNEVEN * step_ms for step in steps)
    evenly = even and step_ms >= LEAST_MEAN_MS and len(found) <= 2 * (len(steps) + 1)
    if found and all(parts[4] == "0" for parts in found):
        return step_ms
    return step_ms if evenly else None


def _means(
    source: SourceFile, found: Iterator[tuple[int, re.Match[str] | None, str]], one_us: float, step_ms: float
) -> Iterator[Batch]:
    held = []
    for number, parts, line in found:
        if parts:
            held.append(
                {
                    "ts": round(_ended_ms(source, parts) * 1e3),
                    "interval_s": step_ms / 1e3 or None,
                    "host": source.host,
                    "component": "fio",
                    "entity": DIRECTIONS[int(parts[3])],
                    "name": "fio.lat_mean",
                    "value": int(parts[2]) * one_us,
                    "unit": "us",
                    "kind": "gauge",
                }
            )
        elif line.strip():
            source.skip(number, NO_LINE)
    if held:
        yield rows("statistic", held)  # fmt: skip


def _ended_ms(source: SourceFile, parts: re.Match[str]) -> int:
    ended_ms = int(parts[1])
    if ended_ms < SINCE_1970_MS:
        source.place("time", CLOCK_FROM_1970)
    return ended_ms


def _unit_us(source: SourceFile) -> float:
    """Microseconds in the unit of its latencies."""
    found = [parts for line in source.head.splitlines()[:MANY_LINES] if (parts := LINE.match(line))]
    if any(parts[5] for parts in found):
        return NS_US
    times_ms = [int(parts[1]) for parts in found]
    waited = sum(int(parts[2]) for parts in found)
    in_flight = waited * 1e-6 / max(max(times_ms) - min(times_ms), 1)
    if in_flight >= LEAST_IN_FLIGHT and not all(parts[4] == "0" for parts in found):
        return NS_US
    source.note(MICROSECONDS)
    return 1.0
