"""When a threshold is violated."""

from datetime import UTC, datetime, timedelta
from typing import Literal

import numpy as np
import pytest

from doctord.analyse.capacity.forecast import When, forecast, when
from doctord.analyse.capacity.series import DAY_S, Labels, Numbers, Series
from doctord.dataset.figure import Figure

pytestmark = pytest.mark.slow

START = datetime(2026, 1, 1, tzinfo=UTC)
FIGURE = Figure("used_bytes", "used", "space", "disk", "reads_per_s", "bytes")
NOISE = np.random.default_rng(7).standard_normal(200)


def asked(
    values: Numbers, limit: float, worse: Literal["above", "below"] = "above", days: int = 60, hold_days: int = 0
) -> When:
    series = Series(FIGURE, Labels(), DAY_S, START, values, values, values)
    (said,) = forecast([series], days)
    return when(series, said, limit, worse, hold_s=hold_days * DAY_S)


@pytest.mark.parametrize(("sign", "worse"), [(1.0, "above"), (-1.0, "below")])
def test_the_date_of_a_line_and_its_interval(sign: float, worse: Literal["above", "below"]) -> None:
    answer = asked(1000 + sign * (2.0 * np.arange(200) + NOISE), 1000 + sign * 439, worse)
    true = START + timedelta(days=220)
    assert answer.verdict == "date"
    assert answer.date is not None
    assert abs(answer.date - true) <= timedelta(days=2)
    assert answer.earliest is not None
    assert answer.earliest <= true
    assert answer.latest is None or answer.latest >= true


def test_no_date_where_nothing_grows() -> None:
    answer = asked(100 + NOISE, 104.0)
    assert (answer.verdict, answer.date) == ("not within the horizon", None)


def test_a_limit_that_is_passed_already() -> None:
    assert asked(100 + 2.0 * np.arange(200) + NOISE, 300.0).verdict == "violated"


def test_beyond_the_horizon() -> None:
    answer = asked(100 + 2.0 * np.arange(200) + NOISE, 10_000.0)
    assert answer.verdict == "not within the horizon"
    assert "until 2026-09-17" in answer.why


def test_what_cannot_be_told_says_why() -> None:
    answer = asked(np.array([1.0, 2.0]), 3.0)
    assert answer.verdict == "cannot be told"
    assert "only 2 steps were measured" in answer.why


def test_a_step_is_not_taken_for_growth() -> None:
    values = 100 + NOISE
    values[120:] += 50
    assert asked(values, 170.0).date is None


def test_what_does_not_last_long_enough_is_no_violation() -> None:
    weekends = 100 + np.resize([0.0, 0, 0, 0, 0, 40, 40], 200) + 0.5 * np.arange(200) + 0.2 * NOISE
    short, lasting = (asked(weekends, 241.0, days=90, hold_days=days) for days in (2, 3))
    assert short.date is not None
    assert abs(short.date - START - timedelta(days=208)) <= timedelta(days=7)
    assert lasting.date is not None
    assert abs(lasting.date - START - timedelta(days=282)) <= timedelta(days=7)


def test_a_line_without_any_noise_has_its_date() -> None:
    date = asked(100 + 2.0 * np.arange(200), 539.0).date
    assert date is not None
    assert abs(date - START - timedelta(days=220)) <= timedelta(days=1)
