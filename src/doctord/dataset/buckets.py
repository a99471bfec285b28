"""Counts in buckets whose edges grow by 2 %: any percentile is right to 1 % of itself, and counts are simply added.

C. Masson, J. E. Rim, H. K. Lee, "DDSketch: a fast and fully-mergeable quantile sketch with relative-error guarantees",
VLDB 2019.
"""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

GROWTH: Final = 1.02
ZERO_AT: Final = 40_000  # no logarithm of a double is as far from zero: the sign of a bucket's number is the value's

_BUCKETS: Final = 1 << 18  # more than the numbers of buckets, from below -75 896 to above 75 896


def bucket_of(value: pl.Expr) -> pl.Expr:
    """The number of the bucket that holds a value.

    >>> pl.DataFrame({"x": [0.0, 1.01, -1.01]}).select(bucket_of(pl.col("x"))).to_series().to_list()
    [0, 40001, -40001]
    """
    number = ZERO_AT + (value.abs().log() / math.log(GROWTH)).ceil()
    return pl.when(value == 0).then(0).otherwise(value.sign() * number).cast(pl.Int32)


def percentiles(rows: pl.DataFrame, by: str, shares: Mapping[str, float]) -> pl.DataFrame:
    """Values below which shares of what was counted lie.

    Args:
        rows: `bucket` and `count`, and the column `by`.
        by: What tells groups apart: whole numbers from 0 to 2^44.
        shares: Name of each percentile, and its share (0 to 1).

    Returns:
        By group, in their order: `by`, `rows` (how many were counted), and a column for each percentile.

    >>> rows = pl.DataFrame({"who": [7, 7], "bucket": [ZERO_AT + 36, ZERO_AT + 1], "count": [1, 9]})
    >>> percentiles(rows, "who", {"p50": 0.5, "p95": 0.95}).select(pl.all().round(2)).row(0)
    (7, 10, 1.01, 2.02)
    """
    # Group and bucket in one number: one key is grouped and sorted twice as fast as two.
    key = pl.col(by).cast(pl.Int64) * _BUCKETS + pl.col("bucket") + _BUCKETS // 2
    counted = rows.select(key.alias("key"), "count").group_by("key").agg(pl.col("count").sum()).sort("key")
    group, bucket = np.divmod(counted["key"].to_numpy(), _BUCKETS)
    below = counted["count"].cast(pl.Int64).cum_sum().to_numpy()
    last = np.flatnonzero(np.diff(group, append=-1))
    whole = np.diff(below[last], prepend=0)
    columns: dict[str, npt.NDArray[np.int64] | npt.NDArray[np.float64]] = {by: group[last], "rows": whole}
    for name, share in shares.items():
        # A share of a tenth of ten is the first of them, whatever floating point makes of the product.
        place = np.searchsorted(below, below[last] - whole + np.maximum(1, np.ceil(whole * share - 1e-6)))
        columns[name] = _middles(bucket[place] - _BUCKETS // 2)
    return pl.DataFrame(columns)


def _middles(buckets: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The value of each bucket that is wrong by the same share at both of its edges."""
    sizes = 2 * GROWTH ** (np.abs(buckets).astype(np.float64) - ZERO_AT) / (GROWTH + 1)
    return np.where(buckets == 0, 0.0, np.copysign(sizes, buckets))
