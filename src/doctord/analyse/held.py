"""Who holds the connections of a server, and of which sessions the client no longer exists."""

from datetime import datetime
from typing import Final, Literal, NamedTuple, TypeAlias

import polars as pl

from doctord.dataset.dataset import Dataset

HELD: Final = "pg_stat_activity.held"
Fate: TypeAlias = Literal["gone", "silent"]
LOST: Final[dict[Fate, str]] = {
    "gone": "pg_stat_activity.client_gone_s",
    "silent": "pg_stat_activity.client_silent_s",
}
"""The figures of sessions whose client is gone, or silent, by `PID USER@ADDRESS PROGRAM`."""


class Holder(NamedTuple):
    """A client (`USER@ADDRESS PROGRAM`): connections, how many are idle, for how long half of these are, at the least.

    `there` is how many of the idle have a client that was seen, `gone` one that no longer exists, `silent` one that
    answers no more; null where that cannot be told.
    """

    who: str
    held: float
    idle: float
    idle_s: float | None
    there: float | None
    gone: float | None
    silent: float | None


class Left(NamedTuple):
    """A session whose client is gone, or silent, and for how long it is idle."""

    pid: int
    who: str
    idle_s: float


class Growth(NamedTuple):
    """How many idle connections a client had at first and at last, and the time between the two, in seconds."""

    first: float
    last: float
    seconds: float


def holders(dataset: Dataset, db: str | None) -> list[Holder]:
    """Those who held most at the look at which the server's connections were most; of several such the last."""
    rows = _rows(dataset, db).filter(pl.col("name").str.starts_with(HELD))
    sums = (
        rows.filter(pl.col("name") == HELD)
        .group_by("ts", maintain_order=True)
        .agg(pl.col("value").sum())
        .sort("value", "ts", maintain_order=True)
    )
    if sums.is_empty():
        return []
    told = dict[str, dict[str, float]]()
    for who, name, value in rows.filter(pl.col("ts") == sums["ts"][-1]).select("entity", "name", "value").iter_rows():
        told.setdefault(who, {})[name.removeprefix(HELD).removeprefix("_")] = value
    found = [
        Holder(who, one[""], one.get("idle", 0.0), one.get("idle_s"), one.get("there"), one.get("gone"),
               one.get("silent"))
        for who, one in told.items()
    ]  # fmt: skip
    return sorted(found, key=lambda one: (-one.held, one.who))


def left(dataset: Dataset, db: str | None, fate: Fate) -> list[Left]:
    """Sessions whose client is gone, or silent, at the last look that found any; those idle for longest first."""
    rows = _rows(dataset, db).filter(pl.col("name") == LOST[fate])
    last = rows.filter(pl.col("ts") == rows["ts"].max()).select("entity", "value").unique("entity", maintain_order=True)
    found = [
        Left(int(pid), who, value)
        for entity, value in last.iter_rows()
        for pid, _, who in [entity.partition(" ")]
        if pid.isdigit()
    ]
    return sorted(found, key=lambda one: (-one.idle_s, one.pid))


def growth(dataset: Dataset, db: str | None, who: str) -> Growth | None:
    """How a client's idle connections grew, where they never became fewer; null where they did, or of one look."""
    rows = (
        _rows(dataset, db)
        .filter((pl.col("name") == f"{HELD}_idle") & (pl.col("entity") == who))
        .sort("ts", maintain_order=True)
    )
    values = rows["value"]
    if rows.height < 3 or bool((values.diff().drop_nulls() < 0).any()):
        return None
    began, ended = (rows["ts"][at] for at in (0, -1))
    seconds = (ended - began).total_seconds() if isinstance(began, datetime) else 0.0
    return Growth(values[0], values[-1], seconds)


def _rows(dataset: Dataset, db: str | None) -> pl.DataFrame:
    return dataset.frame("statistic").filter((pl.col("db") == db) & pl.col("entity").is_not_null())
