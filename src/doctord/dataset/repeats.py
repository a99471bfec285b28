"""Rows that tell again what others told: of a file read twice, of one that grew meanwhile, of its copy as text."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import polars as pl

from doctord.dataset.tables import TABLES

# Rows of these are told apart by nothing less than all of their columns.
UNKEYED = ("event", "block_io")
# What follows from other columns tells nothing new; rows of before do not have it.
DERIVED = ("wait_kind",)
# Intervals that differ by no more than about a tenth are the same, seen by two tools.
STEPS_PER_E = 5


class Reach(NamedTuple):
    """What the rows of a part are of: from when to when, null where no time is known, and the hosts."""

    span: tuple[datetime, datetime] | None
    hosts: frozenset[str | None]

    @classmethod
    def of(cls, part: pl.DataFrame) -> "Reach":
        """The first and last `ts` of rows, and their hosts."""
        low, high = part["ts"].min(), part["ts"].max()
        span = (low, high) if isinstance(low, datetime) and isinstance(high, datetime) else None
        return cls(span, frozenset(part["host"].unique()))

    def meets(self, other: "Reach") -> bool:
        """Whether a row of the one may tell a row of the other again."""
        if self.hosts.isdisjoint(other.hosts):
            return False
        return not (self.span and other.span) or (self.span[0] <= other.span[1] and other.span[0] <= self.span[1])


def without_repeats(table: str, parts: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """The rows of each part that no part before it tells.

    A row tells another again when it has the same `ts`, `host` and entity, an interval as long, and no column filled
    that the other has not. Within one part every row is kept.

    >>> from doctord.dataset.dataset import Dataset
    >>> binary, text = (Dataset.from_rows(cpu=[{"host": "a", "usr_pct": 12.5}]).frame("cpu") for _ in "ab")
    >>> [frame.height for frame in without_repeats("cpu", [binary, text])]
    [1, 0]
    """
    kept = list[tuple[pl.DataFrame, Reach]]()
    for part in parts:
        reach = Reach.of(part)
        met = [earlier for earlier, its in kept if earlier.height and reach.meets(its)]
        # All at once: of hundreds of files of one day each meets all before it.
        kept.append((_without(table, part, pl.concat(met)) if part.height and met else part, reach))
    return [part for part, _ in kept]


def _without(table: str, fresh: pl.DataFrame, earlier: pl.DataFrame) -> pl.DataFrame:
    names = list(TABLES[table].columns_named)
    key = names if table in UNKEYED else ["ts", "host", *TABLES[table].entity]
    values = [name for name in names if name not in {*key, *DERIVED, "interval_s"}]
    length = (pl.col("interval_s").log() * STEPS_PER_E).round().alias("#length")
    numbered = fresh.with_row_index("#").with_columns(length)
    alike = earlier.join(fresh.select(key), on=key, how="semi", nulls_equal=True)
    if alike.is_empty():
        return fresh
    pairs = numbered.join(alike.with_columns(length), on=[*key, "#length"], nulls_equal=True, suffix="#")
    told = pl.all_horizontal(
        pl.lit(value=True), *(pl.col(name).is_null() | pl.col(f"{name}#").is_not_null() for name in values)
    )
    again = pairs.filter(told).select("#").unique()
    return numbered.join(again, on="#", how="anti").drop("#", "#length")
