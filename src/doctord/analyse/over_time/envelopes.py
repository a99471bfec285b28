"""A figure over time in even buckets, with what is lost in a mean: the extremes and quartiles of what was measured."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from doctord.analyse.capacity.series import Labels, Series, text_of, valued
from doctord.analyse.over_time.buckets import Buckets, Envelope, Numbers
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure

_US: Final = 1_000_000
KEY: Final = ("host", "db", "entity")


@dataclass(frozen=True, eq=False)
class Enveloped:
    """One figure of one entity.

    Attributes:
        labels: Whom it is about.
        mean: Of all that was measured, by weight.
        envelope: By bucket.
        newest: The last value.
    """

    labels: Labels
    mean: float
    envelope: Envelope
    newest: float


def rows_of(dataset: Dataset, figure: Figure) -> pl.DataFrame:
    """What was measured of a figure: host, db, entity, `end_us`, `value`, `low`, `high`, `weight`."""
    rows = valued(dataset.frame(figure.table), figure)
    return rows.select(
        *KEY,
        "value",
        "weight",
        end_us=pl.col("ts").dt.epoch("us"),
        low=pl.col("value"),
        high=pl.col("value"),
    )


def rows_of_series(series: list[Series]) -> pl.DataFrame:
    """The same of steps, each with the extremes of what was measured in it."""
    parts = [
        pl.DataFrame(
            {
                "value": one.values,
                "weight": np.ones(len(one.values)),
                "end_us": (np.arange(len(one.values)) * one.step_s + one.start.timestamp()).astype(np.int64) * _US,
                "low": one.low,
                "high": one.high,
            }
        )
        .filter(pl.col("value").is_finite())
        .select(*(pl.lit(getattr(one.labels, name), pl.String).alias(name) for name in KEY), pl.all())
        for one in series
    ]
    return pl.concat(parts) if parts else _NO_ROWS


_NO_ROWS: Final = pl.DataFrame(
    schema=dict.fromkeys(KEY, pl.String)
    | {"value": pl.Float64, "weight": pl.Float64, "end_us": pl.Int64, "low": pl.Float64, "high": pl.Float64}
)


def spacing_s(rows: pl.DataFrame) -> float:
    """Seconds between two measurements of one entity, mostly; 0 where there are no two."""
    gaps = rows.sort("end_us", maintain_order=True).select((pl.col("end_us").diff().over(KEY) / _US).alias("gap_s"))[
        "gap_s"
    ]
    usual = gaps.drop_nulls().filter(gaps.drop_nulls() > 0).median()
    return float(usual) if isinstance(usual, int | float) else 0.0


def envelopes(rows: pl.DataFrame, buckets: Buckets) -> Iterator[Enveloped]:
    """A figure of each entity by bucket; a row belongs to the bucket in which its interval ends.

    Args:
        rows: As `rows_of` gives them.
        buckets: The stretches of time.
    """
    value, weight = pl.col("value"), pl.col("weight")
    placed = rows.with_columns(bucket=((pl.col("end_us") - 1) // _US - buckets.start_s) // buckets.width_s)
    placed = placed.filter(pl.col("bucket").is_between(0, buckets.count - 1))
    sums = placed.group_by(*KEY, "bucket", maintain_order=True).agg(
        ((value * weight).sum() / weight.sum()).alias("mean"),
        pl.col("low").min(),
        *(value.quantile(share).alias(name) for name, share in (("q1", 0.25), ("median", 0.5), ("q3", 0.75))),
        pl.col("high").max(),
        weight.sum(),
        value.sort_by("end_us", maintain_order=True).last().alias("last"),
    )
    for key, part in sums.sort("bucket", maintain_order=True).group_by(*KEY, maintain_order=True):
        at = part["bucket"].to_numpy()

        def spread(name: str, part: pl.DataFrame = part, at: Numbers = at) -> Numbers:
            filled = np.full(buckets.count, np.nan)
            filled[at] = part[name].to_numpy()
            return filled

        mean = float(np.average(part["mean"].to_numpy(), weights=part["weight"].to_numpy()))
        envelope = Envelope(*map(spread, ("mean", "low", "q1", "median", "q3", "high")))
        yield Enveloped(Labels(*map(text_of, key)), mean, envelope, float(part["last"][-1]))
