"""Rows of the chart's tables as batches, and moments as `ts` holds them."""

import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from doctord._native import Batch
from doctord.chart.tables import TABLES


def now_us() -> int:
    """The time of the wall clock in microseconds since the epoch, as `ts` holds it."""
    return time.time_ns() // 1000


def micros(moment: datetime) -> int:
    """A point in time (with its zone) as `ts` holds it."""
    return round(moment.timestamp() * 1_000_000)


def rows(table: str, values: Iterable[Mapping[str, Any]]) -> Batch:
    """Rows of one table as a batch; a missing key is null, a key that is no column a KeyError."""
    return Batch.from_rows(table, TABLES[table].layout, [dict(value) for value in values])
