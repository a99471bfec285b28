"""Histograms: merging, subtracting, re-bucketing, time and quantiles."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.analyse.latency.histogram import Bucket, Histogram, Time
from doctord.errors import UserError

POWERS = [float(2**power) for power in range(12)]


def of_counts(counts: dict[float, int]) -> Histogram:
    """Powers of two by their upper edge; the first begins at 0."""
    return Histogram.of(Bucket(0.0 if edge == 1 else edge / 2, edge, count) for edge, count in counts.items())


histograms = st.dictionaries(st.sampled_from(POWERS), st.integers(0, 1000)).map(of_counts)


@given(histograms, histograms)
def test_what_was_merged_can_be_taken_off_again(a: Histogram, b: Histogram) -> None:
    rest = a.merge(b).minus(b)
    assert {bucket.le_us: bucket.count for bucket in rest.buckets if bucket.count} == {
        bucket.le_us: bucket.count for bucket in a.buckets if bucket.count
    }


@given(histograms)
def test_coarser_buckets_hold_the_same_waits_and_the_same_time(histogram: Histogram) -> None:
    coarse = histogram.rebucket(POWERS[::3])
    assert coarse.total == histogram.total
    assert coarse.time.us == pytest.approx(histogram.time.us)


@given(histograms, st.floats(0, 1))
def test_a_quantile_lies_in_its_bucket(histogram: Histogram, share: float) -> None:
    quantile = histogram.quantile(share)
    if not histogram.total:
        assert quantile is None
        return
    assert quantile is not None
    assert quantile.low_us <= quantile.us <= quantile.high_us
    within = sum(bucket.count for bucket in histogram.buckets if bucket.le_us <= quantile.high_us)
    assert within >= share * histogram.total - 1e-6


def test_an_edge_inside_of_a_bucket_is_refused() -> None:
    with pytest.raises(UserError, match="3 us lies inside of the bucket 2 to 4 us"):
        of_counts({4: 1}).rebucket([3.0, 8.0])


def test_a_count_that_fell_is_refused() -> None:
    with pytest.raises(UserError, match="the count of 2 to 4 us fell by 1"):
        of_counts({4: 1}).minus(of_counts({4: 2}))


def test_buckets_that_overlap_are_refused() -> None:
    with pytest.raises(UserError, match="buckets overlap"):
        of_counts({4: 1}).merge(Histogram.of([Bucket(3.0, 5.0, 1)]))


def test_time_is_three_quarters_of_the_upper_edge_of_a_wide_bucket() -> None:
    assert of_counts({1: 10, 8: 4}).time == Time(10 * 0.75 + 4 * 6.0, "estimated")


def test_time_is_the_middle_of_a_narrow_bucket() -> None:
    assert Histogram.of([Bucket(100.0, 102.0, 3)]).time == Time(303.0, "estimated")


def test_time_that_was_measured_is_exact() -> None:
    assert Histogram.of([Bucket(64.0, 128.0, 2, 200.0), Bucket(128.0, inf, 1, 5000.0)]).time == Time(5200.0, "exact")


def test_time_above_the_last_edge_is_only_a_lower_bound() -> None:
    assert Histogram.of([Bucket(64.0, inf, 2)]).time == Time(128.0, "at least")


def test_time_worked_out_before_rebucketing_stays_an_estimate() -> None:
    assert of_counts({4: 1, 8: 1}).rebucket([8.0]).time == Time(9.0, "estimated")


def test_above_the_last_edge_a_quantile_knows_no_upper_bound() -> None:
    quantile = Histogram.of([Bucket(64.0, inf, 2)]).quantile(0.5)
    assert quantile is not None
    assert (quantile.us, quantile.low_us, quantile.high_us) == (64.0, 64.0, inf)
