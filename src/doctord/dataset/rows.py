"""Rows of the dataset's tables as batches, and moments as `ts` holds them."""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.tables import TABLES
from doctord.dataset.waits.events import kind_of

_WAITING: Final = frozenset({"wait", "session"})


def now_us() -> int:
    """The time of the wall clock in microseconds since the epoch, as `ts` holds it."""
    return time.time_ns() // 1000


def micros(moment: datetime) -> int:
    """A point in time (with its zone) as `ts` holds it."""
    return round(moment.timestamp() * 1_000_000)


def rows(table: str, values: Iterable[Mapping[str, Any]]) -> Batch:
    """Rows of one table as a batch; a missing key is null, a key that is no column a KeyError.

    `wait_kind`, where a row leaves it out, is that of its event.
    """
    found = [dict(value) for value in values]
    for row in found if table in _WAITING else ():
        if "wait_kind" not in row:
            row["wait_kind"] = kind_of(row.get("event"), row.get("wait_class"))
    return Batch.from_rows(table, TABLES[table].layout, found)


def columns(table: str, count: int, values: Mapping[str, object]) -> Batch:
    """So many rows of one table by columns: each a sequence of that length, or one value for all rows.

    A column that is left out is null (`wait_kind` that of the event), one that the table does not have a KeyError, one
    of another length a ValueError.

    >>> len(columns("disk", 2, {"ts": [1, 2], "host": "a", "device": "sda", "util_pct": [1.5, None]}))
    2
    """
    if table in _WAITING and "wait_kind" not in values:
        values = {**values, "wait_kind": _kinds(count, values.get("event"), values.get("wait_class"))}
    return Batch.from_columns(table, TABLES[table].layout, count, values)


def _kinds(count: int, *event_and_class: object) -> list[str | None]:
    """The kind of each event; event and class may be one value for all rows."""
    each = (value if isinstance(value, Sequence) and not isinstance(value, str) else repeat(value, count)
            for value in event_and_class)  # fmt: skip
    return [kind_of(event, wait_class) for event, wait_class in zip(*each, strict=True)]
