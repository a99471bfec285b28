"""Percentiles from counts."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from doctord.dataset.buckets import bucket_of, percentiles

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64, min_value=-1e300, max_value=1e300)


@given(st.lists(NUMBERS.filter(lambda value: not value or abs(value) > 1e-300), min_size=1), st.floats(0.01, 0.99))
def test_any_percentile_is_right_to_one_percent(values: list[float], share: float) -> None:
    frame = pl.DataFrame({"value": values}, {"value": pl.Float64})
    rows = frame.group_by(bucket_of(pl.col("value")).alias("bucket")).agg(pl.len().alias("count"))
    (found,) = percentiles(rows.with_columns(who=1), "who", {"share": share})["share"]
    near = [np.quantile(values, at, method="inverted_cdf") for at in (share - 1e-6, share, share + 1e-6)]
    assert any(abs(found - value) <= 0.0101 * abs(value) for value in near)


def test_groups_are_told_apart() -> None:
    rows = pl.DataFrame({"who": [2, 1, 2], "bucket": [40_001, 40_001, -40_001], "count": [1, 7, 1]})
    assert percentiles(rows, "who", {"p50": 0.5}).select("who", "rows", pl.col("p50").round(2)).rows() == [
        (1, 7, 1.01),
        (2, 2, -1.01),
    ]


def test_of_nothing_there_is_none() -> None:
    rows = pl.DataFrame(schema={"who": pl.Int64(), "bucket": pl.Int32(), "count": pl.UInt32()})
    assert percentiles(rows, "who", {"p50": 0.5}).is_empty()
