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


def columns(table: str, count: int, values: Mapping[str, object]) -> Batch:
    """So many rows of one table by columns: each a sequence of that length, or one value for all rows.

    A column that is left out is null, one that the table does not have a KeyError, one of another length a ValueError.

    >>> len(columns("disk", 2, {"ts": [1, 2], "host": "a", "device": "sda", "busy_pct": [1.5, None]}))
    2
    """
    return Batch.from_columns(table, TABLES[table].layout, count, values)
