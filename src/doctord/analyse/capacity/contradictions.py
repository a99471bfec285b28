"""Rows of waits that contradict themselves: their mean is not their time by their number.

Time waited, waits and mean wait are one fact told three times. Where they disagree by more than the digits that tools
print can explain, one of the columns is not what its heading says: which, the data cannot tell.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import polars as pl

# Times are printed in whole seconds and means in whole milliseconds at worst: so much may be rounding, and a tenth.
ROUNDED: Final = (
    "1 + 0.001 * waits_per_s * interval_s"
    " + 0.1 * interval_s * greatest(average_active_sessions, 0.001 * waits_per_s * avg_wait_ms)"
)
CONTRADICTS: Final = (
    "waits_per_s > 0 AND avg_wait_ms IS NOT NULL AND average_active_sessions IS NOT NULL"
    " AND interval_s IS NOT NULL AND "
    f"abs(average_active_sessions - 0.001 * waits_per_s * avg_wait_ms) * interval_s > {ROUNDED}"
)
"""The condition, in SQL over the table `wait`."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What one event's rows say against each other.

    Attributes:
        host, db, entity: Whom it is about, as in `Labels` of the figures of waits.
        ts: End of the interval where they differ most.
        rows: How many rows differ.
        waited_s: Seconds waited in that interval.
        waits: Waits in it.
        said_ms: The mean that the row gives.
    """

    host: str | None
    db: str | None
    entity: str
    ts: datetime
    rows: int
    waited_s: float
    waits: float
    said_ms: float

    @property
    def reckoned_ms(self) -> float:
        """Mean milliseconds of a wait: time waited by the number of waits."""
        return 1000 * self.waited_s / self.waits


def contradictions(waits: pl.DataFrame) -> list[Contradiction]:
    """Contradictions in rows of `wait`, one for each event: the widest, and how many rows there are like it."""
    rows = waits.filter(pl.sql_expr(CONTRADICTS)).with_columns(
        pl.concat_str("instance", "event", separator=" ", ignore_nulls=True).alias("entity"),
        (pl.col("average_active_sessions") / (0.001 * pl.col("waits_per_s") * pl.col("avg_wait_ms")))
        .log()
        .abs()
        .alias("wide"),
    )
    found = list[Contradiction]()
    for (host, db, entity), part in rows.group_by("host", "db", "entity", maintain_order=True):
        row = part.sort("wide", maintain_order=True).row(-1, named=True)
        length = row["interval_s"]
        found.append(
            Contradiction(
                None if host is None else str(host),
                None if db is None else str(db),
                str(entity),
                row["ts"],
                part.height,
                row["average_active_sessions"] * length,
                row["waits_per_s"] * length,
                row["avg_wait_ms"],
            )
        )
    return found
