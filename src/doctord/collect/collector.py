"""What a collector is: something with a period that yields batches of rows for the chart's tables."""

import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from doctord._native import Batch
from doctord.chart.tables import TABLES


class Collector(Protocol):
    """One source, asked again and again.

    A collector turns counters into rates at its own edge, so its first sample may hold less than the later ones. What
    it cannot read it reports once, as a row of `event` with kind `unseen`; what it costs, as rows of `statistic` with
    component `doctord`. It raises nothing that a next sample could outlive: a server that went away is an event.
    """

    name: str
    period_s: float

    def sample(self) -> list[Batch]:
        """Rows since the last call."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


def now_us() -> int:
    """The time of the wall clock in microseconds since the epoch, as `ts` holds it."""
    return time.time_ns() // 1000


def micros(moment: datetime) -> int:
    """A point in time (with its zone) as `ts` holds it."""
    return round(moment.timestamp() * 1_000_000)


def rows(table: str, values: Iterable[Mapping[str, Any]]) -> Batch:
    """Rows of one table as a batch; a missing key is null, a key that is no column a KeyError."""
    return Batch.from_rows(table, TABLES[table].layout, [dict(value) for value in values])
