"""Forecasts of series."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from doctord.analyse.capacity.forecast import forecast
from doctord.analyse.capacity.series import DAY_S, HOUR_S, Labels, Numbers, Series
from doctord.dataset.figure import Figure, Sum

pytestmark = pytest.mark.slow

START = datetime(2026, 1, 1, tzinfo=UTC)


def series_of(values: Numbers, step_s: int = DAY_S, summed: Sum = "mean") -> Series:
    figure = Figure("used_bytes", "used", "space", "disk", "reads_per_s", "bytes", sum=summed)
    return Series(figure, Labels(), step_s, START, values, values, values)


def noise(steps: int, size: float = 1.0, seed: int = 1) -> Numbers:
    return size * np.random.default_rng(seed).standard_normal(steps)


def test_a_line_goes_on_and_the_interval_holds_what_comes() -> None:
    truth = 100 + 2.0 * np.arange(230)
    (said,) = forecast([series_of((truth + noise(230))[:200])], 30)
    assert said.why == ""
    assert said.start == START + timedelta(days=200)
    assert np.abs(said.mean - truth[200:]).max() < 10
    assert (said.low < truth[200:]).all()
    assert (truth[200:] < said.high).all()


def test_weekdays_come_back() -> None:
    week = np.resize([10.0, 50, 52, 51, 49, 48, 11], 140)
    (said,) = forecast([series_of(week + noise(140, 0.5))], 14)
    assert np.abs(said.mean - week[:14]).max() < 5


def test_models_are_compared_with_seasonal_naive() -> None:
    (said,) = forecast([series_of(100 + 2.0 * np.arange(200) + noise(200))], 30)
    assert len(said.errors) >= 4
    assert said.errors[said.model] < said.errors["seasonal naive"]
    assert said.covered is not None
    assert 0.8 <= said.covered <= 1.0


def test_hours_are_told_by_day_when_weeks_are_asked_for() -> None:
    hours = 100 + 0.1 * np.arange(40 * 24 + 5) + noise(40 * 24 + 5)
    hours[30:40] = np.nan
    (said,) = forecast([series_of(hours, HOUR_S)], 30 * 24)
    assert (said.step_s, len(said.mean)) == (DAY_S, 30)
    assert said.start == START + timedelta(hours=40 * 24 + 4 + 24)
    (by_hour,) = forecast([series_of(hours, HOUR_S)], 24)
    assert (by_hour.step_s, len(by_hour.mean)) == (HOUR_S, 24)


@pytest.mark.parametrize(("summed", "value"), [("mean", 13.5), ("max", 25.0), ("min", 2.0), ("last", 25.0)])
def test_days_are_summed_up_as_the_figure_says(summed: Sum, value: float) -> None:
    hours = np.tile(np.arange(2.0, 26.0), 20)
    (said,) = forecast([series_of(hours, HOUR_S, summed)], 30 * 24)
    assert (said.model, said.mean[0]) == ("constant", value)


def test_a_constant_stays() -> None:
    (said,) = forecast([series_of(np.full(60, 7.0))], 5)
    assert said.mean.tolist() == said.low.tolist() == said.high.tolist() == [7.0] * 5
    assert "never changed" in said.notes[-1]


def test_a_single_spike_is_no_growth() -> None:
    values = np.full(60, 7.0)
    values[40] = 900.0
    (said,) = forecast([series_of(values)], 5)
    assert said.mean.tolist() == [7.0] * 5
    assert said.outliers == (START + timedelta(days=40),)


def test_three_days_by_day_cannot_be_told() -> None:
    (said,) = forecast([series_of(np.array([1.0, 2.0, 3.0]))], 5)
    assert "only 3 steps were measured" in said.why
    assert len(said.mean) == 0


def test_three_days_by_hour_are_told_with_what_they_rest_on() -> None:
    (said,) = forecast([series_of(100 + 0.5 * np.arange(72) + noise(72), HOUR_S)], 24)
    assert said.why == ""
    assert (said.high > said.low).all()


def test_infinity_and_gaps_are_left_out() -> None:
    values = 100 + np.arange(90.0) + noise(90)
    values[10], values[20:25] = np.inf, np.nan
    (said,) = forecast([series_of(values)], 5)
    assert np.isfinite(said.mean).all()
    assert "1 infinite values were left out" in said.notes
    assert abs(said.mean[0] - 190) < 10


def test_what_is_no_longer_measured_cannot_be_told() -> None:
    values = np.concatenate([np.arange(50.0), np.full(40, np.nan)])
    (said,) = forecast([series_of(values)], 5)
    assert said.why == "nothing was measured in the last 40 steps"


def test_series_of_different_steps_come_back_in_their_order() -> None:
    days, hours = series_of(np.full(60, 1.0)), series_of(np.full(60, 2.0), HOUR_S)
    assert [(one.step_s, one.mean[0]) for one in forecast([days, hours, days], 5)] == [
        (DAY_S, 1.0),
        (HOUR_S, 2.0),
        (DAY_S, 1.0),
    ]


def test_growth_by_steps_goes_on() -> None:
    values = 100 + 20.0 * (np.arange(240) // 30) + noise(240, 0.5)
    (said,) = forecast([series_of(values)], 60)
    assert len(said.change_points) == 7
    assert "it moves by steps" in said.notes[-1]
    assert "growth by steps" in said.model
    assert said.low[-1] <= 280 <= said.high[-1]
    assert 265 < said.mean[-1] < 295


def test_growth_that_comes_to_rest_is_not_carried_on() -> None:
    values = 100 + 200 * (1 - np.exp(-np.arange(200) / 60)) + noise(200)
    (said,) = forecast([series_of(values)], 60)
    assert "saturating growth" in said.model
    assert 285 < said.mean[-1] < 305
