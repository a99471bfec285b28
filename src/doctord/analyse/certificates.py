"""Certificates of servers: how long they still hold, and from when on that is little."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset

LEFT_S, HELD_S = "certificate.left_s", "certificate.held_s"
# A month is what a person needs to have one renewed. Those of few weeks or hours are renewed by machines, when a third
# of their life is left at the latest (certbot, cert-manager): a fifth is late for them.
NEAR_S: Final = 30 * 86400.0
NEAR_PART: Final = 0.2
# All of a server are looked at one after the other, once an hour.
AT_ONCE: Final = timedelta(minutes=5)


class Certificate(NamedTuple):
    """A certificate of a server as it was seen at a moment; `entity` says where it stands.

    `left_s` is the time until it ends, `held_s` the time since it began; both may be negative.
    """

    db: str
    entity: str
    at: datetime
    left_s: float
    held_s: float

    @property
    def is_over(self) -> bool:
        """Whether it has expired."""
        return self.left_s <= 0

    @property
    def is_early(self) -> bool:
        """Whether it has not begun."""
        return self.held_s < 0

    @property
    def near_s(self) -> float:
        """So much time left is little: a month, or a fifth of its whole life."""
        return min(NEAR_S, NEAR_PART * (self.left_s + self.held_s))

    @property
    def is_near(self) -> bool:
        """Whether it should have been renewed by now."""
        return self.left_s < self.near_s


def certificates(dataset: Dataset) -> list[Certificate]:
    """Those that a server had when it was looked at last, by server and place: another file may be named by then."""
    rows = dataset.frame("statistic").filter(pl.col("name").is_in([LEFT_S, HELD_S]) & pl.col("db").is_not_null())
    rows = rows.filter(pl.col("ts") >= pl.col("ts").max().over("db") - AT_ONCE)
    last = (
        rows.sort("ts", maintain_order=True)
        .group_by("db", "entity", maintain_order=True)
        .agg(
            pl.col("ts").last(),
            pl.col("value").filter(pl.col("name") == LEFT_S).last().alias("left_s"),
            pl.col("value").filter(pl.col("name") == HELD_S).last().alias("held_s"),
        )
        .drop_nulls(["left_s", "held_s"])
        .sort("db", "entity", maintain_order=True)
    )
    return [Certificate(*row) for row in last.iter_rows()]
