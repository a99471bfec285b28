"""Histograms as DTrace, SystemTap, the bcc tools and bpftrace print them.

Keys name what was timed. The unit stands in the heading (bcc: `usecs : count distribution`) or behind the name of the
map (bpftrace: `@read_us`); where neither says it, it is that of `doctord map --unit`, else nanoseconds, in which these
tracers count time themselves. Keys of DTrace belong to the histogram below them also over a blank line. What is told
to be of bytes, priorities, lengths and the like is no latency: bitesize.d (`PID CMD`) and pridist.d (`CMD: ... PID:`)
of the DTraceToolkit do not say it, and are known by these lines.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from math import inf

from doctord._native import Batch, histograms
from doctord.read.clock import Clock
from doctord.read.format import Rank
from doctord.read.moments import placed_moment
from doctord.read.source import SourceFile
from doctord.read.time_units import unit_us
from doctord.read.tracing.columns import Buckets, Columns
from doctord.regex import regex

NAME = "histograms of DTrace, SystemTap, bcc and bpftrace"
RANK = Rank.SHAPE
ASSUMED_UNIT = "no unit in it: values are taken for nanoseconds; doctord map --unit says otherwise"

CLOCK = regex(r"\[?([01]\d|2[0-3]):([0-5]\d):([0-5]\d)\]?$")
TICK = regex(r"\d+\s+\d+\s+:tick-(\d+)(n|u|m|)(?:s|sec)?$")
TICK_UNITS_S = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0}
MAP = regex(r"(\w+)(?:\[(.*)\])?$")
NAMED_KEY = regex(r"(\S+) ?= ?(.+)$")
Values = Sequence[tuple[float | None, float | None, int]]
# What is counted here is no time, where no unit of time stands beside it.
NO_TIME = regex(
    r"(?<![a-z])(bytes?|sizes?|blocks|sectors|pages|priorit(?:y|ies)|prio|lengths?|depths?|packets)(?![a-z])",
    re.IGNORECASE,
)
OF_PRIORITIES = regex(r"CMD: .*PID: \d+")
SIZES_BELOW = regex(r"PID\s+CMD$")
HEADINGS_ALONE = regex(r"[A-Z]{2,}(?:\s+[A-Z]{2,})+$")
DTRACE_HEADING = regex(r"value\s+-+ Distribution -+ count$")
TRACED = regex(r"Tracing (.+?)(?: latency)?\.\.\.")


def sniff(head: str) -> bool:
    """Whether there is such a histogram in the beginning of a file."""
    return bool(histograms(head)[0])


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `latency`, an interval at a time."""
    columns, clock = Columns(source), Clock(source)
    traced, has_begun, are_sizes = "latency", False, False
    for number, lines in _blocks(source):
        are_sizes = are_sizes or any(map(SIZES_BELOW.match, lines))
        lines[:] = _keys_below(["" if HEADINGS_ALONE.match(line) else line for line in lines])
        for nth, line in enumerate(lines):
            if found := TRACED.search(line):
                traced = found[1]
            if (tick := TICK.match(line)) or (stamp := _stamp(line, clock, source)):
                tick_s = int(tick[1]) * TICK_UNITS_S[tick[2]] if tick else None
                yield from columns.begin(None if tick else stamp, tick_s)
                lines[nth] = ""
        printed, unread = histograms("\n".join(lines))
        # Before the first one the tool, or whoever kept its output, says what it is.
        for nth in unread if has_begun else ():
            source.skip(number + nth - 1, "not part of a histogram")
        has_begun = has_begun or bool(printed)
        for key, unit, values in printed:
            if told := "bytes" if are_sizes else _no_time(key, unit, traced):
                source.skip(number, f"a histogram of {told}, not of time")
            elif buckets := buckets_us(values, unit, number, source):
                yield from columns.take(subject_of(key, unit, traced), buckets)
    yield from columns.rest()


def _no_time(key: str, unit: str | None, traced: str) -> str | None:
    """What is counted, where it is no time; null where it is one, or where nothing tells.

    >>> _no_time("read size", None, "latency"), _no_time("disk blocks", "usecs", "latency"), _no_time("lgwr", None, "")
    ('size', None, None)
    """
    if unit is not None and unit_us(unit.rpartition(",")[2].strip()) is not None:
        return None
    if OF_PRIORITIES.match(key):
        return "priorities"
    found = next((found for text in (key, unit or "", traced) if (found := NO_TIME.search(text))), None)
    return found[1].lower() if found else None


def _keys_below(lines: list[str]) -> list[str]:
    """The lines with DTrace's keys directly above their histogram, and the blank lines between them before these."""
    moved = list(lines)
    for at, line in enumerate(lines):
        if DTRACE_HEADING.match(line):
            end = next((nth + 1 for nth in range(at - 1, -1, -1) if lines[nth]), 0)
            begin = next((nth + 1 for nth in range(end - 1, -1, -1) if not lines[nth]), 0)
            moved[begin:at] = [""] * (at - end) + lines[begin:end]
    return moved


def _blocks(source: SourceFile) -> Iterator[tuple[int, list[str]]]:
    """Number of the first line, and lines up to the last row of a histogram: what stands before it may be its key."""
    begin, block = 1, list[str]()
    for number, line in source.lines():
        if block and "|" in block[-1] and "|" not in line and line.strip() != "~":
            yield begin, block
            begin, block = number, []
        block.append(line.strip())
    yield begin, block


def _stamp(line: str, clock: Clock, source: SourceFile) -> datetime | None:
    if time_of_day := CLOCK.match(line):
        return clock.at(*map(int, time_of_day.groups()))
    return placed_moment(line, source) if line[:1].isalnum() and ":" in line else None


def subject_of(key: str, unit: str | None, otherwise: str = "latency") -> str:
    """What was timed, from a histogram's keys, else from its heading, else as the caller says.

    >>> subject_of("us[postgres, 3]", "us"), subject_of("read_us", "us"), subject_of("disk = vda", "usecs")
    ('postgres 3', 'read', 'vda')
    >>> subject_of("", "kcbgtcr latency, ns"), subject_of("tnslsnr 25351", None)
    ('kcbgtcr latency', 'tnslsnr 25351')
    """
    if found := NAMED_KEY.match(key):
        return found[2] if found[1] in {"disk", "event"} else f"{found[1]} {found[2]}"
    if found := MAP.match(key):
        name = "_".join(part for part in found[1].split("_") if unit_us(part) is None)
        keys = (found[2] or "").replace(", ", " ")
        return f"{name} {keys}".strip() or otherwise
    heading = unit.rpartition(",")[0] if unit else ""
    return key or heading.strip() or otherwise


def buckets_us(values: Values, unit: str | None, line: int, source: SourceFile) -> Buckets:
    """Buckets in microseconds; none when they do not hold times, which is said."""
    name = (unit or "").rpartition(",")[2].strip()
    scale = unit_us(name) if name else source.unit_us
    if name and scale is None:
        source.skip(line, f"a histogram of {name}, not of time")
        return ()
    if scale is None:
        source.note(ASSUMED_UNIT)
        scale = 1e-3
    if any((low is None or low < 0) and count for low, _, count in values):
        source.skip(line, "times below zero")
    buckets = [
        (low * scale, None if high is None else high * scale, count)
        for low, high, count in values
        if low is not None and low >= 0
    ]
    ends = [0.0, *(inf if high is None else high for _, high, _ in buckets)]
    if any(low < end or end_here <= low for (low, _, _), end, end_here in zip(buckets, ends, ends[1:], strict=False)):
        source.skip(line, "a histogram whose buckets overlap")
        return ()
    return buckets
