"""Rows of `statistic` with the component `postgresql`, gathered for one batch."""

import os
from collections.abc import Mapping
from typing import Any

from doctord._native import Batch
from doctord.dataset.rows import now_us, rows


class Figures:
    """Named figures of one server, all of one moment."""

    def __init__(self, db: str) -> None:
        """`db` names the server; the moment is now."""
        self._common = {"ts": now_us(), "host": os.uname().nodename, "component": "postgresql", "db": db}
        self._rows: list[dict[str, Any]] = []

    def gauge(
        self,
        name: str,
        value: Any,  # noqa: ANN401 - any number
        unit: str = "count",
        entity: str | None = None,
        interval_s: float | None = None,
    ) -> None:
        """A reading, or the mean of some over an interval; what is null is left out."""
        if value is not None:
            span = {"interval_s": interval_s} if interval_s is not None else {}
            reading = {"name": name, "entity": entity, "value": float(value), "unit": unit, "kind": "gauge"}
            self._rows.append({**self._common, **span, **reading})

    def gauges(self, row: Mapping[str, Any]) -> None:
        """Each column of a row as a reading under its own name, about what its column `entity` says."""
        for name, value in row.items():
            if name != "entity":
                self.gauge(name, value, unit_of_gauge(name), row.get("entity"))

    def rate(self, name: str, per_s: float, interval_s: float, entity: str | None = None) -> None:
        """An increase per second over an interval; its unit follows from the name."""
        increase = {"name": name, "entity": entity, "value": per_s, "unit": f"{unit_of(name)}per_s", "kind": "rate"}
        self._rows.append({**self._common, "interval_s": interval_s, **increase})

    def has(self, name: str) -> bool:
        """Whether there is a figure of that name."""
        return any(row["name"] == name for row in self._rows)

    def batches(self) -> list[Batch]:
        """One batch, or none when there is nothing to say."""
        return [rows("statistic", self._rows)] if self._rows else []


def unit_of_gauge(name: str) -> str:
    """Unit of a reading, from our own habits of naming.

    >>> [unit_of_gauge(name) for name in ("slots.retained_bytes", "xacts.oldest_s", "db.frozen_age", "slots.active")]
    ['bytes', 's', 'transactions', 'count']
    """
    for ending, unit in (("_bytes", "bytes"), ("_s", "s"), ("_age", "transactions"), ("_pct", "pct")):
        if name.endswith(ending):
            return unit
    return "blocks" if "blks" in name else "count"


def unit_of(name: str) -> str:
    """Prefix of the unit of a counter, from PostgreSQL's habits of naming: empty for plain counts.

    >>> [unit_of(f"pg_stat_database.{column}") for column in ("blk_read_time", "temp_bytes", "deadlocks")]
    ['ms_', 'bytes_', '']
    """
    if name.endswith(("_time", ".session_time", "_delay_ms")):
        return "ms_"
    if name.endswith("_bytes"):
        return "bytes_"
    if name.rpartition(".")[2].startswith(("blks_", "buffers_", "heap_blks", "idx_blks")):
        return "blocks_"
    return ""
