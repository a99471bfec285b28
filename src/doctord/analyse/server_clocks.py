"""Clocks that differ: the servers' beside this host's, by more than the way of the question can explain."""

from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.figures import figures
from doctord.dataset.dataset import Dataset

OFFSET, ROUND_TRIP, OF_THIS_HOST = "clock.offset_s", "clock.round_trip_s", "clock.is_of_this_host"
UNSYNCHRONISED, MAX_ERROR = "clock.unsynchronised", "clock.max_error_s"
# A smeared leap second parts two clocks by up to a second for a day, and neither is wrong.
LEAST_S: Final = 1.0
# The error is half of the round trip at most; a way that is slow in one direction is no reason to speak.
TIMES_ROUND_TRIP: Final = 10.0


class Clock(NamedTuple):
    """A server's clock: how far it is ahead of this host's (negative: behind), at the last look and at the worst one.

    `differs` is whether it was off at the last look by more than the question's way can explain, `differed` whether it
    was at any. `is_here` says that the server runs on this host. What was not measured is null.
    """

    db: str
    offset_s: float
    round_trip_s: float
    worst_s: float
    differs: bool
    differed: bool
    looks: int
    is_here: bool


class Kept(NamedTuple):
    """What a kernel says of its own clock: whether nobody keeps it, and how far off it may be (null: not told)."""

    is_kept: bool
    max_error_s: float | None


def own_clock(dataset: Dataset) -> Kept | None:
    """What the kernel of this host says of its clock (adjtimex); null where it was not asked."""
    told = figures(dataset, UNSYNCHRONISED)
    error = figures(dataset, MAX_ERROR)
    return Kept(told[0].last == 0, error[0].last if error else None) if told else None


def clocks(dataset: Dataset) -> list[Clock]:
    """The clocks of the servers that were asked, by their names."""
    rows = dataset.frame("statistic").filter(pl.col("name").is_in([OFFSET, ROUND_TRIP]) & pl.col("db").is_not_null())
    if rows.is_empty():
        return []
    here = {one.db for one in figures(dataset, OF_THIS_HOST) if one.last > 0}
    looks = (
        rows.pivot("name", index=["db", "ts"], values="value", aggregate_function="last", maintain_order=True)
        .drop_nulls()
        .sort("db", "ts", maintain_order=True)
    )
    return [_clock(str(db), each, is_here=db in here) for (db,), each in looks.group_by("db", maintain_order=True)]


def _clock(db: str, looks: pl.DataFrame, *, is_here: bool) -> Clock:
    told = [(float(offset), float(trip)) for offset, trip in looks.select(OFFSET, ROUND_TRIP).iter_rows()]
    off = [offset for offset, trip in told if is_off(offset, trip)]
    offset_s, round_trip_s = told[-1]
    return Clock(
        db=db,
        offset_s=offset_s,
        round_trip_s=round_trip_s,
        worst_s=max(off, key=abs, default=offset_s),
        differs=is_off(offset_s, round_trip_s),
        differed=bool(off),
        looks=len(told),
        is_here=is_here,
    )


def is_off(offset_s: float, round_trip_s: float) -> bool:
    """Whether two clocks differ by more than leap smear and the way of the question explain.

    >>> is_off(0.8, 0.001), is_off(-1.2, 0.001), is_off(1.2, 0.5)
    (False, True, False)
    """
    return abs(offset_s) > max(LEAST_S, TIMES_ROUND_TRIP * round_trip_s)
