"""How long Oracle's logs take to be archived, beside how long they take to be filled."""

from typing import NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset

ARCHIVED_IN, FILLED_IN = "alert_log.archive_time", "alert_log.fill_time"
# Fewer in an hour are those of a quiet one; a backup that switches by hand makes one or two small ones.
FEWEST = 4


class Archiving(NamedTuple):
    """The logs of one database in its worst hour: how many, and the mean seconds to fill and to archive one."""

    db: str
    logs: int
    fill_s: float
    archive_s: float

    @property
    def share(self) -> float:
        """Archive time by fill time: above 1 one archiver falls behind."""
        return self.archive_s / self.fill_s


def slowest(dataset: Dataset) -> Archiving | None:
    """The hour in which archiving took most of the time in which logs were filled; null where that is not told."""
    told = dataset.frame("statistic").filter(pl.col("name").is_in([ARCHIVED_IN, FILLED_IN]))
    by_hour = told.group_by("db", "entity", pl.col("ts").dt.truncate("1h"), maintain_order=True).agg(
        pl.col("value").filter(pl.col("name") == ARCHIVED_IN).mean().alias("archive_s"),
        pl.col("value").filter(pl.col("name") == FILLED_IN).mean().alias("fill_s"),
        (pl.col("name") == ARCHIVED_IN).sum().alias("logs"),
    )
    found = [
        Archiving(row["db"] or "oracle", row["logs"], row["fill_s"], row["archive_s"])
        for row in by_hour.filter((pl.col("logs") >= FEWEST) & (pl.col("fill_s") > 0)).iter_rows(named=True)
    ]
    return max(found, key=lambda one: one.share, default=None)
