"""Whose the load is, over time: average active sessions by a dimension in buckets, with how far single steps were off.

A mean hides what is shorter than a bucket: beside it stand the extremes and the quartiles of the steps in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from doctord.analyse.over_time.buckets import Buckets, Envelope, Numbers
from doctord.analyse.over_time.load_steps import DIMENSIONS, Steps
from doctord.errors import UserError

LEAST_LOOKED: Final = 0.5  # of a step, that anything is said of its bucket
MAY_BE_NONE: Final = ("blocker",)  # where each session with a value could as well have none


@dataclass(frozen=True, slots=True)
class Band:
    """One value of the dimension; null: the sessions tell none.

    Attributes:
        name: The value.
        sessions: Average active sessions over all the time that was looked at.
        share: Their part (0 to 1) of the load that is looked at.
        values: Average active sessions in each bucket; NaN where it was not looked at.
    """

    name: str | None
    sessions: float
    share: float
    values: Numbers


@dataclass(frozen=True, slots=True)
class LoadOverTime:
    """The load by a dimension, the largest band first; bands and `others` add up to the mean of `total`.

    Attributes:
        dimension: What it is split by.
        buckets: The stretches of time.
        step_s: Seconds of the steps whose spread the envelope is of.
        seconds: How long it was looked at.
        bands: The largest values.
        others: The sum of all others; null where there is none.
        others_count: How many these are.
        total: Of all sessions that are looked at.
    """

    dimension: str
    buckets: Buckets
    step_s: int
    seconds: float
    bands: tuple[Band, ...]
    others: Band | None
    others_count: int
    total: Envelope

    @property
    def sessions(self) -> float:
        """Average active sessions."""
        return sum(band.sessions for band in self.bands) + (self.others.sessions if self.others else 0.0)


@dataclass(frozen=True, slots=True)
class Skew:
    """How unevenly the load lies on the values of a dimension.

    Attributes:
        dimension: Which.
        skew: 0 where each value takes the same part, 1 where one takes all though there are others.
        values: How many there are.
        largest: The value that takes most; null: sessions that tell none.
        share: Its part (0 to 1).
    """

    dimension: str
    skew: float
    values: int
    largest: str | None
    share: float


def load_over_time(
    steps: Steps, dimension: str, where: Mapping[str, Sequence[str | None]], buckets: Buckets, most: int
) -> LoadOverTime:
    """The load by a dimension in buckets.

    Args:
        steps: The load.
        dimension: What to split by, of `DIMENSIONS`.
        where: The values of other dimensions that count; null: sessions that tell none.
        buckets: The stretches of time, each of whole steps.
        most: How many values get a band of their own.

    Raises:
        UserError: there is no such dimension, or these steps do not tell it.
    """
    kinds = _chosen(steps, (dimension, *where), where).select("kind", name=DIMENSIONS[dimension])
    looked_s = _looked(steps, where, buckets)
    seconds = float(np.nansum(looked_s))
    active = steps.active.with_columns(bucket=_bucket(steps, buckets))
    is_looked = pl.col("bucket").is_in(np.flatnonzero(~np.isnan(looked_s)))
    chosen = active.filter(is_looked).join(kinds.select("kind"), "kind", how="semi", maintain_order="left")
    by_kind = chosen.group_by("bucket", "kind", maintain_order=True).agg(pl.col("active_s").sum())
    sums = (
        by_kind.join(kinds, "kind", maintain_order="left")
        .group_by("bucket", "name", maintain_order=True)
        .agg(pl.col("active_s").sum())
    )
    by_name = (
        sums.group_by("name", maintain_order=True)
        .agg(pl.col("active_s").sum())
        .sort("active_s", "name", descending=[True, False], maintain_order=True)
    )
    names, all_s = by_name["name"].to_list(), float(by_name["active_s"].sum())

    def band(name: str | None, rows: pl.DataFrame) -> Band:
        active_s = np.zeros(buckets.count)
        np.add.at(active_s, rows["bucket"].to_numpy(), rows["active_s"].to_numpy())
        whole = float(rows["active_s"].sum())
        return Band(name, whole / seconds if seconds else 0.0, whole / all_s if all_s else 0.0, active_s / looked_s)

    bands = tuple(band(name, sums.filter(pl.col("name").eq_missing(pl.lit(name)))) for name in names[:most])
    rest = sums.filter(~_is_one_of("name", names[:most])) if names[most:] else sums.clear()
    others = band(None, rest) if names[most:] else None
    total = _envelope(steps, chosen, looked_s, buckets, is_all=not where)
    return LoadOverTime(dimension, buckets, steps.step_s, seconds, bands, others, len(names[most:]), total)


def skews(steps: Steps, where: Mapping[str, Sequence[str | None]]) -> list[Skew]:
    """The dimensions, the most skewed first: where to look for what explains the load.

    Method: 1 - Pielou's evenness (Pielou: "The measurement of diversity in different types of biological collections",
    1966): 1 - H / ln(n), H being Shannon's entropy of the parts, and n how many there are.
    """
    kinds = _chosen(steps, tuple(where), where)
    whole = (
        steps.active.group_by("kind", maintain_order=True).agg(pl.col("active_s").sum()).filter(pl.col("active_s") > 0)
    )
    chosen = kinds.join(whole, "kind", maintain_order="left")
    found = list[Skew]()
    for name in steps.dimensions:
        parts = chosen.group_by(value=DIMENSIONS[name], maintain_order=True).agg(pl.col("active_s").sum())
        if name in where or parts.is_empty():
            continue
        parts = parts.sort("active_s", "value", descending=[True, False], maintain_order=True)
        shares = parts["active_s"].to_numpy() / parts["active_s"].sum()
        possible = len(parts) + (name in MAY_BE_NONE and parts["value"].null_count() == 0)
        entropy = -float(np.sum(shares * np.log(shares)))
        skew = 1 - entropy / np.log(possible) if possible > 1 else 0.0
        found.append(Skew(name, max(float(skew), 0.0), len(parts), parts["value"][0], float(shares[0])))
    return sorted(found, key=lambda one: (one.largest is None, -one.skew, one.dimension))


def _chosen(steps: Steps, names: Sequence[str], where: Mapping[str, Sequence[str | None]]) -> pl.DataFrame:
    """The kinds of sessions that count."""
    for name in names:
        if name not in DIMENSIONS:
            raise UserError(f"there is no dimension {name!r}", f"dimensions are {', '.join(DIMENSIONS)}")
        if name not in steps.dimensions and not steps.active.is_empty():
            raise UserError(
                f"nothing tells of each {name} in so long a time",
                f"ask for a shorter time, or for {', '.join(steps.dimensions)}",
            )
    if steps.active.is_empty():
        return pl.DataFrame(schema={"kind": pl.UInt32} | dict.fromkeys(DIMENSIONS.values(), pl.String))
    conditions = [_is_one_of(DIMENSIONS[name], values) for name, values in where.items()]
    return steps.kinds.filter(*conditions) if conditions else steps.kinds


def _is_one_of(column: str, values: Sequence[str | None]) -> pl.Expr:
    """Whether a value is one of some, of which one may be null; never null itself."""
    named = [value for value in values if value is not None]
    is_named = pl.col(column).is_in(pl.Series(named, dtype=pl.String).implode()).fill_null(value=False)
    return is_named | pl.col(column).is_null() if None in values else is_named


def _looked(steps: Steps, where: Mapping[str, Sequence[str | None]], buckets: Buckets) -> Numbers:
    """Seconds of each bucket that were looked at; NaN where that is next to nothing. Of several hosts the longest."""
    rows = steps.looked.with_columns(bucket=_bucket(steps, buckets))
    if "host" in where:
        rows = rows.filter(_is_one_of("host", where["host"]))
    rows = rows.filter(pl.col("bucket").is_between(0, buckets.count - 1))
    longest = (
        rows.group_by("bucket", "host", maintain_order=True)
        .agg(pl.col("looked_s").sum())
        .group_by("bucket", maintain_order=True)
        .agg(pl.col("looked_s").max())
    )
    looked_s = np.full(buckets.count, np.nan)
    looked_s[longest["bucket"].to_numpy()] = longest["looked_s"].to_numpy()
    return np.where(looked_s >= LEAST_LOOKED * steps.step_s, looked_s, np.nan)


def _envelope(steps: Steps, chosen: pl.DataFrame, looked_s: Numbers, buckets: Buckets, *, is_all: bool) -> Envelope:
    """The spread of the load of single steps in each bucket; a step without a session has load 0."""
    by_step = chosen.group_by("bucket", "at", maintain_order=True).agg(
        pl.col("active_s").sum() / steps.step_s, pl.col("most").max()
    )
    by_step = by_step.sort("bucket", "active_s", maintain_order=True)
    bucket, load = by_step["bucket"].to_numpy(), by_step["active_s"].to_numpy()
    there = np.bincount(bucket, minlength=buckets.count) if len(bucket) else np.zeros(buckets.count, dtype=np.int64)
    all_steps = np.maximum(np.rint(np.nan_to_num(looked_s) / steps.step_s).astype(np.int64), there)
    first = np.cumsum(there) - there

    def at(share: float) -> Numbers:
        """The load that so large a part of the steps does not exceed: the nearest of them."""
        rank = np.rint(share * (all_steps - 1)).astype(np.int64) - (all_steps - there)
        found = np.where(rank >= 0, np.append(load, 0.0)[np.clip(first + rank, 0, len(load))], 0.0)
        return np.where(np.isnan(looked_s), np.nan, found)

    mean = np.bincount(bucket, load * steps.step_s, buckets.count) / looked_s if len(bucket) else 0.0 * looked_s
    high = np.maximum(at(1.0), _most(steps, by_step, buckets, is_all=is_all))
    low = np.minimum(at(0.0), _fewest(steps, buckets)) if is_all else at(0.0)
    return Envelope(mean, low, at(0.25), at(0.5), at(0.75), high)


def _most(steps: Steps, by_step: pl.DataFrame, buckets: Buckets, *, is_all: bool) -> Numbers:
    """The most in any of the finest steps: of all sessions exactly, else of the largest kind."""
    rows = by_step.select("bucket", high="most")
    if is_all:
        rows = _extremes(steps, buckets).select("bucket", "high")
    most = rows.group_by("bucket", maintain_order=True).agg(pl.col("high").max())
    found = np.full(buckets.count, -np.inf)
    found[most["bucket"].to_numpy()] = most["high"].to_numpy()
    return found


def _fewest(steps: Steps, buckets: Buckets) -> Numbers:
    rows = _extremes(steps, buckets).group_by("bucket", maintain_order=True).agg(pl.col("low").min())
    found = np.full(buckets.count, np.inf)
    found[rows["bucket"].to_numpy()] = rows["low"].to_numpy()
    return found


def _extremes(steps: Steps, buckets: Buckets) -> pl.DataFrame:
    """The extremes of each step by bucket, of all hosts together."""
    rows = steps.looked.with_columns(bucket=_bucket(steps, buckets))
    rows = rows.filter(pl.col("bucket").is_between(0, buckets.count - 1))
    return rows.group_by("bucket", "at", maintain_order=True).agg(pl.col("low").sum(), pl.col("high").sum())


def _bucket(steps: Steps, buckets: Buckets) -> pl.Expr:
    """The bucket in which a step lies."""
    return (pl.col("at") * steps.step_s - buckets.start_s) // buckets.width_s
