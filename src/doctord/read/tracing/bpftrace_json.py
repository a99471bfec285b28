"""Histograms as `bpftrace -f json` prints them: one JSON object a line."""

import json
from collections.abc import Iterator
from typing import Any

from doctord._native import Batch
from doctord.read.clock import Clock
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.time_units import unit_us
from doctord.read.tracing.columns import Columns
from doctord.read.tracing.histogram_text import CLOCK, buckets_us, subject_of

NAME = "bpftrace's JSON"
RANK = Rank.NAMED
HISTOGRAMS = {"hist", "lhist"}


def sniff(head: str) -> bool:
    """Whether the first line is such an object."""
    found = _object(head.lstrip().partition("\n")[0])
    return "type" in found and "data" in found


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `latency`; an interval ends where the same map and key come again, or at a time printed."""
    columns, clock = Columns(source), Clock(source)
    for number, line in source.lines():
        if not line.strip():
            continue
        found = _object(line)
        kind, data = found.get("type"), found.get("data")
        if kind in HISTOGRAMS and isinstance(data, dict):
            for name, value in data.items():
                yield from _histograms(columns, name, value, number, source)
        elif kind in {"time", "printf"} and (stamp := CLOCK.match(str(data).strip())):
            yield from columns.begin(clock.at(*map(int, stamp.groups())))
        elif kind not in {"attached_probes", "lost_events", "time", "printf"}:
            source.skip(number, f"no histogram: {kind}" if kind else "no object of bpftrace")
    yield from columns.rest()


def _histograms(
    columns: Columns, name: str, value: dict[str, Any] | list[Any], number: int, source: SourceFile
) -> Iterator[Batch]:
    """Those of one map: of each of its keys, or of the map itself where it has none."""
    name = name.removeprefix("@")
    unit = name.rpartition("_")[2]
    for key, held in value.items() if isinstance(value, dict) else [(None, value)]:
        try:
            values = [_bucket(bucket) for bucket in held]
        except (AttributeError, KeyError, TypeError, ValueError):
            source.skip(number, "a histogram without counts")
            continue
        if buckets := buckets_us(values, unit if unit_us(unit) else None, number, source):
            named = name if key is None else f"{name}[{key.replace(',', ', ')}]"
            yield from columns.take(subject_of(named, None), buckets)


def _bucket(bucket: dict[str, Any]) -> tuple[float | None, float | None, int]:
    """Its edges and its count; `max` is the last value in it, and an edge that is open is not named."""
    low, last = bucket.get("min"), bucket.get("max")
    return None if low is None else float(low), None if last is None else float(last) + 1, int(bucket["count"])


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
