"""Counts in buckets whose edges grow by 2 %: any percentile is right to 1 % of itself, and counts are simply added.

C. Masson, J. E. Rim, H. K. Lee, "DDSketch: a fast and fully-mergeable quantile sketch with relative-error guarantees",
VLDB 2019.
"""

import math
from collections.abc import Sequence
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


def percentiles(buckets: npt.NDArray[np.int32], counts: npt.NDArray[np.uint32], shares: Sequence[float]) -> list[float]:
    """The values below which these shares (0 to 1) of what was counted lie; NaN where nothing was.

    >>> [round(value, 2) for value in percentiles(np.array([ZERO_AT + 1, ZERO_AT + 36]), np.array([9, 1]), (0.5, 0.95))]
    [1.01, 2.02]
    """
    if not counts.sum():
        return [math.nan] * len(shares)
    order = np.argsort(buckets)
    below = np.cumsum(counts[order], dtype=np.int64)
    # A share of a tenth of ten is the first of them, whatever floating point makes of the product.
    found = buckets[order][np.searchsorted(below, np.asarray(shares) * below[-1] * (1 - 1e-12))]
    return [_middle(int(bucket)) for bucket in found]


def _middle(bucket: int) -> float:
    if not bucket:
        return 0.0
    return math.copysign(2 * GROWTH ** (abs(bucket) - ZERO_AT) / (GROWTH + 1), bucket)
