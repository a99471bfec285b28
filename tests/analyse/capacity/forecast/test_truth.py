"""Forecasts of histories whose truth is known, and what must hold of every forecast."""

import runpy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.analyse.capacity.forecast import Forecast, When, forecast, when
from doctord.analyse.capacity.series import DAY_S, Labels, Numbers, Series
from doctord.dataset.figure import Figure

pytestmark = pytest.mark.slow

SIMULATED = runpy.run_path(str(Path(__file__).parents[4] / "benchmarks" / "capacity" / "simulated.py"))
START: datetime = SIMULATED["START"]
GROWING, STILL = (tuple(SIMULATED[name]) for name in ("GROWING", "STILL"))
FIGURE = Figure("figure", "figure", "workload", "disk", "reads_per_s", "per_s")
OF_EACH = 3
PATH = np.random.default_rng(2).normal(np.linspace(0, 100, 60), 10)


def series_of(values: Numbers) -> Series:
    return Series(FIGURE, Labels(), DAY_S, START, values, values, values)


@pytest.fixture(scope="module")
def told() -> list[tuple[Any, Series, Forecast]]:
    random = np.random.default_rng(20261121)
    made = [SIMULATED["simulated"](random, kind) for kind in (*GROWING, *STILL) for _ in range(OF_EACH)]
    series = [series_of(one.values) for one in made]
    return list(zip(made, series, forecast(series, SIMULATED["AHEAD_DAYS"]), strict=True))


def test_the_true_date_lies_in_the_interval_and_near_the_date(told: list[tuple[Any, Series, Forecast]]) -> None:
    held, errors = [], []
    for one, series, said in told:
        if one.kind in GROWING:
            answer, true = when(series, said, one.limit, "above"), START + timedelta(days=one.true)
            held.append(bool(answer.earliest and answer.earliest <= true <= (answer.latest or true)))
            if answer.date:
                errors.append(abs((answer.date - true).days) / (one.true - len(one.values) + 1))
    assert np.mean(held) >= 0.9
    assert len(errors) >= 0.9 * len(held)
    assert np.median(errors) <= 0.1


def test_what_stands_still_gets_no_date(told: list[tuple[Any, Series, Forecast]]) -> None:
    answers = [(one.kind, when(series, said, one.limit, "above").date) for one, series, said in told if not one.true]
    assert [kind for kind, date in answers if date] == []
    assert len(answers) == OF_EACH * len(STILL)


def test_a_forecast_is_whole_and_lies_in_its_interval(told: list[tuple[Any, Series, Forecast]]) -> None:
    for _, series, said in told:
        assert said.start == series.at(len(series.values))
        assert np.isfinite([said.mean, said.low, said.high]).all()
        assert (said.low <= said.mean).all()
        assert (said.mean <= said.high).all()
        assert said.errors[said.model] >= 0


def test_the_unit_of_a_figure_does_not_matter() -> None:
    random = np.random.default_rng(6)
    many = [100 + random.uniform(0, 1) * np.arange(100) + random.standard_normal(100) for _ in range(21)]
    small, large = (forecast([series_of(values * factor) for values in many], 20) for factor in (1.0, 1024.0))
    assert [one.model for one in small] == [one.model for one in large]
    for one, other in zip(small, large, strict=True):
        np.testing.assert_allclose(other.mean, 1024 * one.mean, rtol=1e-6)
        np.testing.assert_allclose(other.high, 1024 * one.high, rtol=1e-6)


def asked(limit: float, hold_days: int) -> When:
    """Of a path that goes up and down, by about 100 in 60 days."""
    history = series_of(np.linspace(-200, -1, 100))
    said = Forecast("line", DAY_S, datetime(2026, 1, 1, tzinfo=UTC), PATH, PATH - 20, PATH + 20)
    return when(history, said, limit, "above", hold_s=hold_days * DAY_S)


@given(limit=st.floats(0, 120), more=st.floats(0, 50), hold_days=st.integers(0, 20), longer=st.integers(0, 20))
def test_higher_limits_and_longer_holds_are_violated_later(
    limit: float, more: float, hold_days: int, longer: int
) -> None:
    answer = asked(limit, hold_days)
    for later in (asked(limit + more, hold_days), asked(limit, hold_days + longer)):
        for sooner_date, later_date in ((answer.date, later.date), (answer.earliest, later.earliest)):
            assert later_date is None or (sooner_date is not None and sooner_date <= later_date)
    if answer.date is not None:
        assert answer.earliest is not None
        assert answer.earliest <= answer.date <= (answer.latest or answer.date)
