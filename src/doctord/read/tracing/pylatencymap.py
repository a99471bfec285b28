"""PyLatencyMap's tagged records (L. Canali, 2013): counters that grow from record to record.

Each record counts all waits since the source began, so the first one only says where counting starts. Oracle names a
bucket by its upper edge; SystemTap and DTrace by its lower one. `datasource` says which it is, SystemTap being the
default; records of v$event_histogram made before there was that tag say so in their label.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.format import Rank
from doctord.read.moments import moment_of
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "PyLatencyMap records"
RANK = Rank.NAMED
BEGIN, END = "<begin record>", "<end record>"
UNITS_US = {"nanosec": 1e-3, "microsec": 1.0, "millisec": 1e3}
SOURCES = ("oracle", "systemtap", "dtrace")
# DTrace prints its histograms as they are: value |@@@ count.
QUANTIZE_ROW = regex(r"\s*(\d+)\s*\|[@ ]*\s(\d+)\s*$")
# Lines of a histogram or of the tool that say nothing.
QUIET = regex(r"\s*$|\s*value\s+-+ Distribution|\s*\w+\s*$|\s*(?:value|key)\s*\|-+\s*count\s*$")


@dataclass
class Record:
    """One record as it stands in the file."""

    line: int
    clock_us: int | None = None
    moment: datetime | None = None
    label: str = ""
    unit: str = "millisec"
    source: str | None = None
    counts: dict[int, int] = field(default_factory=dict)

    @property
    def labels_are_lower(self) -> bool:
        """Whether a bucket is named by its lower edge."""
        return (self.source or ("oracle" if "event_histogram" in self.label else "systemtap")) != "oracle"

    @property
    def subject(self) -> str:
        """What was timed: the label, without what it says of where that comes from."""
        return re.sub(r"\s+(?:latency )?data from .*", "", self.label, flags=re.IGNORECASE) or "latency"


def sniff(head: str) -> bool:
    """Whether a file that begins so holds such records."""
    return BEGIN in head.lower()


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `latency` for the time between every two records, and of `event` where counts fell."""
    before: Record | None = None
    for record in _records(source):
        if before is not None:
            yield from _between(before, record, source)
        before = record


def _records(source: SourceFile) -> Iterator[Record]:
    record: Record | None = None
    for number, line in source.lines():
        word = line.strip().lower()
        if word == BEGIN:
            if record is not None:
                source.skip(record.line, "a record without an end")
            record = Record(number)
        elif word == END and record is not None:
            yield record
            record = None
        elif record is not None:
            _take(record, line, number, source)
    if record is not None:
        source.skip(record.line, "a record without an end")


def _take(record: Record, line: str, number: int, source: SourceFile) -> None:
    """What a line inside of a record says."""
    name, *rest = [part.strip() for part in line.split(",")]
    match name.lower(), rest:
        case "timestamp", ["microsec", clock, *text] if clock.isdigit():
            record.clock_us, record.moment = int(clock), moment_of(", ".join(text), source.zone)
        case "label", [*label] if label:
            record.label = ", ".join(label)
        case "latencyunit", [unit] if unit.lower() in UNITS_US:
            record.unit = unit.lower()
        case "datasource", [kind] if kind.lower() in SOURCES:
            record.source = kind.lower()
        case edge, [count] if edge.isdigit() and count.isdigit():
            _count(record, int(edge), int(count))
        case _ if row := QUANTIZE_ROW.match(line):
            _count(record, int(row[1]), int(row[2]))
        case _ if not QUIET.match(line):
            source.skip(number, f"not part of a record: {line[:60]!r}")


def _count(record: Record, edge: int, count: int) -> None:
    """A bucket; where its edge comes again it is of another instance, and they are added: their order changes."""
    record.counts[edge] = record.counts.get(edge, 0) + count


def _between(before: Record, after: Record, source: SourceFile) -> Iterator[Batch]:
    """What was counted from one record to the next."""
    interval_s = _seconds(before, after)
    end = after.moment or _counted_moment(after)
    if interval_s is None or interval_s <= 0 or end is None:
        source.skip(after.line, "a record whose time does not follow the one before")
        return
    gained = {key: count - before.counts.get(key, 0) for key, count in after.counts.items()}
    common: dict[str, Any] = {"ts": micros(end), "host": source.host}
    if before.label != after.label or min(gained.values(), default=0) < 0 or before.counts.keys() - after.counts.keys():
        text = f"counts of {after.subject} fell: the source began anew, and the interval before is not known"
        yield rows("event", [common | {"kind": "restart", "subject": after.subject, "text": text}])
        return
    common |= {"interval_s": interval_s, "subject": after.subject}
    held = [common | {"count": count} | _edges(after, edge) for edge, count in sorted(gained.items()) if count]
    yield rows("latency", held or [common | {"gt_us": 0.0, "count": 0}])


def _edges(record: Record, edge: int) -> dict[str, float]:
    """The bucket of a label: powers of two, by the upper or the lower edge; the lowest begins at zero."""
    unit_us = UNITS_US[record.unit]
    if record.labels_are_lower:
        return {"gt_us": edge * unit_us, "le_us": max(2 * edge, 1) * unit_us}
    return {"gt_us": edge // 2 * unit_us, "le_us": max(edge, 1) * unit_us}


def _seconds(before: Record, after: Record) -> float | None:
    if before.clock_us is not None and after.clock_us is not None:
        return (after.clock_us - before.clock_us) / 1e6
    if before.moment and after.moment:
        return (after.moment - before.moment).total_seconds()
    return None


def _counted_moment(record: Record) -> datetime | None:
    """A clock that counts microseconds since 1970 or since the machine's start, as it is."""
    if record.clock_us is None:
        return None
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=record.clock_us)
