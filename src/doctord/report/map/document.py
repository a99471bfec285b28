"""A latency map as one JSON document: docs/reference/map.md says what its keys mean."""

from dataclasses import asdict
from datetime import datetime
from math import inf
from typing import Any

from doctord.analyse.latency.difference import Part
from doctord.analyse.latency.histogram import Bucket, Histogram, Quantile
from doctord.analyse.latency.map import Column, LatencyMap
from doctord.analyse.latency.modes import reading
from doctord.report.map import difference
from doctord.report.map.reading import sentences

SHARES = (0.5, 0.9, 0.95, 0.99, 0.999)


def document(drawn: LatencyMap, compare_at: datetime | None = None) -> dict[str, Any]:
    """The map: what it is of, its columns, what all of them hold together, and what differs after a moment."""
    return {
        "subject": drawn.subject,
        "db": drawn.db,
        "host": drawn.host,
        "kind": drawn.kind,
        "columns": [_column(column) for column in drawn.columns],
        "whole": _whole(drawn.whole) if drawn.kind != "mean" else None,
        "reading": _reading(drawn),
        "compared": None if compare_at is None else _compared(drawn, compare_at),
        "markers": [
            {"at": marker.at.isoformat(), "kind": marker.kind, "text": marker.text} for marker in drawn.markers
        ],
    }


def _reading(drawn: LatencyMap) -> dict[str, Any]:
    found = reading(drawn)
    return {
        "modes": [asdict(mode) for mode in found.modes],
        "outliers": found.outliers and asdict(found.outliers),
        "bursts": found.bursts and asdict(found.bursts),
        "shift": found.shift and asdict(found.shift) | {"at": found.shift.at.isoformat()},
        "sentences": sentences(drawn),
    }


def _compared(drawn: LatencyMap, at: datetime) -> dict[str, Any]:
    found = difference.compared(drawn, at)
    return {
        "at": at.isoformat(),
        "a": _part(found.a),
        "b": _part(found.b),
        "moved": found.moved,
        "shifts": [asdict(shift) | {"le_us": None if shift.le_us == inf else shift.le_us} for shift in found.shifts],
        "sentences": list(difference.sentences(found)),
    }


def _part(part: Part) -> dict[str, Any]:
    return {"seconds": part.seconds, "count": part.count, "waited_us": part.waited_us, "mean_us": part.mean_us}


def _column(column: Column) -> dict[str, Any]:
    return {
        "end": column.end.isoformat(),
        "interval_s": column.interval_s,
        "count": column.count,
        "waited_us": column.waited_us,
        "mean_us": column.mean_us,
        "buckets": None if column.histogram is None else [_bucket(bucket) for bucket in column.histogram.buckets],
    }


def _bucket(bucket: Bucket) -> dict[str, Any]:
    return {
        "gt_us": bucket.gt_us,
        "le_us": None if bucket.le_us == inf else bucket.le_us,
        "count": bucket.count,
        "waited_us": bucket.waited_us,
    }


def _whole(histogram: Histogram) -> dict[str, Any]:
    time = histogram.time
    return {
        "count": histogram.total,
        "waited_us": time.us,
        "time_is": time.sureness,
        "above_last_edge": histogram.overflow,
        "quantiles": [_quantile(share, found) for share in SHARES if (found := histogram.quantile(share))],
    }


def _quantile(share: float, found: Quantile) -> dict[str, Any]:
    high_us = None if found.high_us == inf else found.high_us
    return {"share": share, "us": found.us, "low_us": found.low_us, "high_us": high_us}
