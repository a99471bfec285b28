"""Thresholds from a time that was good."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctord.analyse.capacity.thresholds.check import check
from doctord.analyse.capacity.thresholds.propose import Proposal, propose
from doctord.analyse.capacity.thresholds.threshold import Threshold
from histories import NAN, history

RANDOM = np.random.default_rng(11)
HOURS = np.arange(4 * 168)
NOISE = RANDOM.normal(100, 10, HOURS.size)
OFFICE = 50.0 * ((HOURS % 24 > 8) & (HOURS % 24 < 18) & (HOURS // 24 % 7 < 5))


def proposed(values: Iterable[float], figure: str = "disk_requests_per_s", hold_s: float = 3600) -> Proposal:
    (one,) = propose([history(values, figure)], hold_s)
    return one


def limit_of(values: Iterable[float], figure: str = "disk_requests_per_s") -> Threshold:
    one = proposed(values, figure)
    assert one.threshold is not None, one.why
    return one.threshold


def test_noise_gets_three_deviations() -> None:
    threshold = limit_of(NOISE)
    assert threshold.limit == pytest.approx(130, abs=5)
    assert (threshold.worse, threshold.by_hour, threshold.entity) == ("above", (), "sda")


def test_a_single_spike_moves_nothing() -> None:
    spiked = NOISE.copy()
    spiked[50] = 1e6
    assert limit_of(spiked).limit == pytest.approx(limit_of(NOISE).limit, rel=0.02)


def test_office_hours_have_their_own_limit() -> None:
    threshold = limit_of(100 + OFFICE + RANDOM.normal(0, 5, HOURS.size))
    night, day = threshold.by_hour[3], threshold.by_hour[13]
    assert night == pytest.approx(115, abs=6)
    assert day == pytest.approx(165, abs=6)
    assert threshold.by_hour[5 * 24 + 13] == pytest.approx(115, abs=6)  # Saturday
    assert "hours of the week differ" in threshold.reason


def test_less_than_three_weeks_tell_no_hours() -> None:
    threshold = limit_of((100 + OFFICE + RANDOM.normal(0, 5, HOURS.size))[: 2 * 168])
    assert threshold.by_hour == ()
    assert "less than three weeks" in threshold.reason


def test_what_should_be_high_gets_a_limit_below() -> None:
    threshold = limit_of(1e9 + 1e7 * NOISE, "memory_available_bytes")
    assert threshold.worse == "below"
    assert threshold.limit < 1.8e9


@pytest.mark.parametrize(
    ("values", "figure", "why"),
    [
        ([1.0, 2.0, 3.0], "disk_requests_per_s", "only 3 values of 1 h"),
        ([3.0] * 100, "disk_requests_per_s", "3 all the time"),
        ([0.0] * 50 + [7.0] + [0.0] * 50, "disk_requests_per_s", "0 nearly all the time"),
        (HOURS + NOISE, "disk_requests_per_s", "not steady"),
        (RANDOM.uniform(0, 100, 400), "disk_util_pct", "which nothing can exceed"),
        (RANDOM.uniform(1, 100, 400), "memory_available_bytes", "below which nothing can be"),
        ([NAN] * 100, "disk_requests_per_s", "only 0 values"),
    ],
)
def test_where_no_limit_follows_it_says_why(values: Iterable[float], figure: str, why: str) -> None:
    one = proposed(values, figure)
    assert one.threshold is None
    assert why in one.why


def test_holes_of_weeks_are_told() -> None:
    holed = NOISE.copy()
    holed[168:504] = NAN
    assert "14 d without a value" in limit_of(holed).reason


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.one_of(st.floats(-1e6, 1e6), st.just(NAN)), min_size=24, max_size=200),
    st.sampled_from(["disk_requests_per_s", "memory_available_bytes"]),
    st.sampled_from([0.0, 3600.0, 6 * 3600.0]),
)
def test_the_good_time_itself_violates_nothing(values: list[float], figure: str, hold_s: float) -> None:
    one = proposed(values, figure, hold_s)
    if one.threshold:
        assert check([one.threshold], [one.series]).violations == ()


@pytest.mark.parametrize("seed", range(5))
def test_nor_does_it_with_hours_of_its_own(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = 100 + OFFICE * random.uniform(0.5, 2) + random.lognormal(1, 1, HOURS.size)
    values[random.random(HOURS.size) < 0.1] = NAN
    one = proposed(values)
    assert one.threshold is not None
    assert one.threshold.by_hour
    assert check([one.threshold], [one.series]).violations == ()
