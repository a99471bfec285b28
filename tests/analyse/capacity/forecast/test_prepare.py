"""Histories made ready for models."""

import numpy as np

from doctord.analyse.capacity.forecast.prepare import gaps_filled, prepared, seasons
from doctord.analyse.capacity.forecast.shifts import level_shifts
from doctord.analyse.capacity.series import DAY_S, HOUR_S

NOISE = np.random.default_rng(3).standard_normal(300)


def test_seasons_are_those_that_a_history_shows_twice() -> None:
    assert seasons(HOUR_S, 1000) == (24, 168)
    assert seasons(HOUR_S, 100) == (24,)
    assert seasons(DAY_S, 100) == (7,)
    assert seasons(7 * DAY_S, 200) == (52,)
    assert seasons(DAY_S, 10) == ()


def test_a_level_shift_is_found_where_it_is() -> None:
    values = 100 + NOISE
    values[170:] += 40
    ((step, jump),) = level_shifts(values)
    assert step == 170
    assert abs(jump - 40) < 2


def test_growth_and_walks_are_no_shifts() -> None:
    assert level_shifts(100 + 3.0 * np.arange(300) + NOISE) == []
    assert level_shifts(100 + np.cumsum(NOISE)) == []


def test_a_counter_that_restarts_grows_on() -> None:
    values = np.arange(300.0) * 5 + NOISE
    values[200:] -= values[200]
    ready = prepared(values, DAY_S)
    assert ready.shifts == (200,)
    assert np.abs(np.diff(ready.values) - 5).max() < 12


def test_spikes_are_outliers_and_episodes_are_not() -> None:
    values = 100 + NOISE
    values[50] = 500.0
    values[100:110] = 300.0
    assert prepared(values, DAY_S).outliers == (50,)


def test_gaps_are_filled_with_the_weekday_in_mind() -> None:
    week = np.resize([10.0, 50, 52, 51, 49, 48, 11], 70)
    holed = week.copy()
    holed[30:36] = np.nan
    assert np.abs(gaps_filled(holed, (7,)) - week).max() < 1


def test_what_lies_before_a_long_hole_is_left_out() -> None:
    values = 100 + NOISE
    values[60:160] = np.nan
    ready = prepared(values, DAY_S)
    assert ready.first == 160
    assert "what lies before a hole of 100 steps was left out" in ready.notes
    assert len(ready.values) == 140
