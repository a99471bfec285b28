"""Counts in buckets whose edges grow by 2 %: any percentile is right to 1 % of itself, and counts are simply added.

C. Masson, J. E. Rim, H. K. Lee, "DDSketch: a fast and fully-mergeable quantile sketch with relative-error guarantees",
VLDB 2019.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

GROWTH: Final = 1.02
ZERO_AT: Final = 40_000  # no logarithm of a double is as far from zero: the sign of a bucket's number is the value's


def bucket_of(value: pl.Expr) -> pl.Expr:
    """The number of the bucket that holds a value.

    >>> pl.DataFrame({"x": [0.0, 1.01, -1.01]}).select(bucket_of(pl.col("x"))).to_series().to_list()
    [0, 40001, -40001]
    """
    number = ZERO_AT + (value.abs().log() / math.log(GROWTH)).ceil()
    return pl.when(value == 0).then(0).otherwise(value.sign() * number).cast(pl.Int32)


def percentiles(rows: pl.DataFrame, by: Sequence[str], shares: Mapping[str, float]) -> pl.DataFrame:
    """Values below which shares of what was counted lie.

    Args:
        rows: `bucket` and `count`, and the columns of `by`.
        by: What tells groups apart.
        shares: Name of each percentile, and its share (0 to 1).

    Returns:
        By group: `by`, `rows` (how many were counted), and a column for each percentile.

    >>> rows = pl.DataFrame({"who": ["a", "a"], "bucket": [ZERO_AT + 36, ZERO_AT + 1], "count": [1, 9]})
    >>> percentiles(rows, ["who"], {"p50": 0.5, "p95": 0.95}).select(pl.col(pl.Float64).round(2)).row(0)
    (1.01, 2.02)
    """
    counted = rows.group_by(*by, "bucket").agg(pl.col("count").cast(pl.Int64).sum()).sort(*by, "bucket")
    groups = counted.group_by(*by, maintain_order=True).agg(pl.col("count").sum().alias("rows"))
    below, whole = counted["count"].cum_sum().to_numpy(), groups["rows"].to_numpy()
    before = np.cumsum(whole) - whole
    # A share of a tenth of ten is the first of them, whatever floating point makes of the product.
    places = {
        name: np.searchsorted(below, before + np.maximum(1, np.ceil(whole * share - 1e-6)))
        for name, share in shares.items()
    }
    buckets = counted["bucket"].to_numpy()
    return groups.with_columns(pl.Series(name, _middles(buckets[place])) for name, place in places.items())


def _middles(buckets: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """The value of each bucket that is wrong by the same share at both of its edges."""
    sizes = 2 * GROWTH ** (np.abs(buckets).astype(np.float64) - ZERO_AT) / (GROWTH + 1)
    return np.where(buckets == 0, 0.0, np.copysign(sizes, buckets))
