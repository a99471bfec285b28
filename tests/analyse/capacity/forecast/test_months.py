"""The turn of the month."""

from datetime import UTC, datetime

import numpy as np
import pytest

from doctord.analyse.capacity.forecast import forecast
from doctord.analyse.capacity.forecast.months import Month, month_of, turns
from doctord.analyse.capacity.forecast.prepare import prepared
from doctord.analyse.capacity.series import DAY_S, HOUR_S, Labels, Numbers, Series
from doctord.dataset.figure import Figure

MIDNIGHT = datetime(2026, 1, 2, tzinfo=UTC)  # at which the first day, that of 1 January, ends
DAYS = np.datetime64("2026-01-01") + np.arange(400)
NOISE = np.random.default_rng(4).standard_normal(400)


def closing(days: int, last: int = 2) -> Numbers:
    left = ((DAYS.astype("datetime64[M]") + 1).astype("datetime64[D]") - DAYS).astype(int)
    return np.where(left <= last, 40.0, 0.0)[:days]


def found(values: Numbers, start: datetime = MIDNIGHT, step_s: int = DAY_S) -> Month | None:
    return month_of(values, np.ones(len(values), dtype=bool), start, step_s)


def test_days_are_counted_from_both_ends_of_a_month() -> None:
    february = np.arange("2026-01-30", "2026-02-08", dtype="datetime64[D]")
    assert turns(february, is_working=False).tolist() == [-2, -1, 1, 2, 3, 4, 5, 0, 0]
    assert turns(february, is_working=True).tolist() == [-1, 0, 0, 1, 2, 3, 4, 5, 0]


def test_a_closing_month_is_seen_and_goes_on() -> None:
    month = found(100 + closing(130) + NOISE[:130])
    assert month is not None
    assert (set(month.shape), month.is_working) == ({-2, -1}, False)
    assert np.abs(month.over(130, 90) - closing(220)[130:]).max() < 5
    assert "level: second last day +39 %, last day +39 %" in month.note(100.0)


def test_working_days_are_told_from_days() -> None:
    is_last = turns(DAYS, is_working=True) == -1
    month = found(100 + 40 * is_last[:200] + NOISE[:200])
    assert month is not None
    assert (set(month.shape), month.is_working) == ({-1}, True)
    assert np.flatnonzero(month.over(200, 60) > 20).tolist() == np.flatnonzero(is_last[200:260]).tolist()


def test_hours_of_the_closing_day_have_their_own_shape() -> None:
    night = np.tile(np.arange(24) < 6, 130)
    values = 100 + np.repeat(closing(130, 1), 24) * night + np.random.default_rng(5).standard_normal(130 * 24)
    month = found(values, datetime(2026, 1, 1, 1, tzinfo=UTC), HOUR_S)
    assert month is not None
    assert set(month.shape) == {-1}
    assert np.abs(month.shape[-1] - np.where(np.arange(24) < 6, 40, 0)).max() < 5


@pytest.mark.parametrize("values", [100 + NOISE, 100 + np.cumsum(NOISE), 100 + closing(100) + NOISE[:100]])
def test_noise_walks_and_three_months_have_no_turns(values: Numbers) -> None:
    assert found(values) is None


def test_a_forecast_holds_the_next_closing() -> None:
    values = 100 + closing(200) + 0.2 * np.arange(200) + NOISE[:200]
    figure = Figure("load", "load", "workload", "disk", "reads_per_s", "per_s")
    (said,) = forecast([Series(figure, Labels(), DAY_S, MIDNIGHT, values, values, values)], 30)
    truth = 100 + closing(230)[200:] + 0.2 * np.arange(200, 230)
    assert np.abs(said.mean - truth).max() < 10
    assert any("turn of the month" in note for note in said.notes)
    assert prepared(values, DAY_S, MIDNIGHT).outliers == ()
