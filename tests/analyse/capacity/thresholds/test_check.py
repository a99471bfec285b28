"""Thresholds held against histories."""

from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.analyse.capacity.series import DAY_S, Labels
from doctord.analyse.capacity.thresholds.check import Breach, breaches_of, check
from doctord.analyse.capacity.thresholds.threshold import Threshold
from histories import MONDAY, NAN, history

HOUR = timedelta(hours=1)


def above(limit: float, hours: float = 0, **more: object) -> Threshold:
    return Threshold("t", "disk_requests_per_s", limit, hold_s=hours * 3600, **more)  # type: ignore[arg-type]


def found(threshold: Threshold, *values: float) -> list[Breach]:
    return list(check([threshold], [history(values)]).violations)


def test_a_violation_says_since_when_until_when_and_how_bad() -> None:
    (one,) = found(above(5), 1, 6, 9, 7, 2)
    assert not one.is_older
    assert (one.since, one.until) == (MONDAY + HOUR, MONDAY + 4 * HOUR)
    assert (one.duration_s, one.worst, one.limit) == (3 * 3600, 9.0, 5.0)
    assert (one.is_now, one.lost, one.gap_s) == (False, False, 0.0)


def test_what_is_at_the_limit_is_good() -> None:
    assert found(above(5), 5, 5) == []


def test_what_begins_with_the_first_value_may_be_older() -> None:
    (one,) = found(above(5), NAN, 6, 1)
    assert one.is_older


def test_below_is_the_bad_side_where_it_is_said() -> None:
    (one,) = found(above(5, worse="below"), 6, 3, 4)
    assert (one.worst, one.is_now, one.duration_s) == (3.0, True, 2 * 3600)


def test_what_does_not_last_is_none() -> None:
    assert found(above(5, hours=2), 6, 1, 6, 1) == []
    assert len(found(above(5, hours=2), 6, 6, 1)) == 1
    assert len(found(above(5, hours=1.5), 6, 6, 1)) == 1


def test_a_short_gap_neither_counts_nor_ends_it() -> None:
    (one,) = found(above(5, hours=2), 6, NAN, 6, 1)
    assert (one.duration_s, one.gap_s) == (2 * 3600, 3600)
    assert found(above(5, hours=2), 6, NAN, 1) == []


def test_after_a_long_gap_it_is_another_and_the_end_of_the_first_is_not_known() -> None:
    newest, oldest = found(above(5), 6, NAN, NAN, NAN, 6)
    assert (oldest.lost, oldest.is_now, oldest.until) == (True, False, MONDAY + HOUR)
    assert (newest.lost, newest.is_now) == (False, True)


def test_who_is_not_measured_any_more_does_not_violate_now() -> None:
    silent, alive = history([6.0, 6.0]), history([1.0] * 9, labels=Labels("b"))
    (one,) = check([above(5)], [silent, alive]).violations
    assert (one.is_now, one.lost) == (False, True)


def test_trailing_hours_without_values_are_no_news() -> None:
    (one,) = found(above(5), 6, 6, NAN, NAN, NAN, NAN)
    assert one.is_now
    assert one.until == MONDAY + 2 * HOUR


def test_what_was_never_measured_is_told() -> None:
    checked = check([above(5), Threshold("log", "wait_ms", 15.0)], [history([NAN, 1.0])])
    assert [one.name for one in checked.unmeasured] == ["log"]
    assert len(checked.held) == 1
    nothing = check([above(5)], [history([NAN, NAN])])
    assert (nothing.now, [one.name for one in nothing.unmeasured]) == (None, ["t"])


def test_the_limit_is_that_of_the_hour_of_the_week() -> None:
    limits = tuple(float(hour) for hour in range(168))
    assert found(above(167, by_hour=limits), *limits) == []
    ((one),) = found(above(167, by_hour=limits), *(limits[:30]), 30.5, *(limits[31:]))
    assert (one.limit, one.since) == (30.0, MONDAY + 30 * HOUR)


def test_days_are_held_against_the_most_lenient_hour() -> None:
    limits = (1.0,) * 167 + (9.0,)
    assert list(breaches_of(above(9, by_hour=limits), history([8.0], step_s=DAY_S))) == []


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, NAN]), max_size=40),
    st.integers(min_value=0, max_value=4),
)
def test_each_hour_beyond_is_in_one_violation_or_lasted_too_short(values: list[float], hours: int) -> None:
    violations = list(breaches_of(above(1.5, hours=hours), history(values)))
    assert all(one.duration_s >= max(1, hours) * 3600 and one.worst == 2.0 for one in violations)
    assert all(one.duration_s + one.gap_s == (one.until - one.since).total_seconds() for one in violations)
    assert all(first.until < second.since or first.lost for first, second in pairwise(violations))
    beyond = int((np.array(values, dtype=float) == 2.0).sum())
    assert sum(one.duration_s for one in violations) <= beyond * 3600
    if hours <= 1:
        assert sum(one.duration_s for one in violations) == beyond * 3600


@pytest.mark.parametrize("limit", [0.5, 1.5])
def test_a_more_lenient_limit_never_violates_more(limit: float) -> None:
    values = np.random.default_rng(7).normal(1, 1, 300)
    hours = [sum(one.duration_s for one in found(above(limit + more, hours=2), *values)) for more in (0.0, 0.2, 0.9)]
    assert hours == sorted(hours, reverse=True)
