"""What a forecast rests on."""

import numpy as np
import pytest

from doctord.analyse.capacity.basis import basis_of, growth_per_day
from doctord.analyse.capacity.forecast.result import untold
from doctord.analyse.capacity.series import DAY_S, HOUR_S
from histories import NAN, history
from report.capacity_examples import line


def test_gaps_and_their_longest() -> None:
    series = history([1.0, NAN, NAN, 2.0, NAN, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], step_s=HOUR_S)
    basis = basis_of(series, untold(HOUR_S, series.end, "too short"))
    assert (basis.measured, basis.longest_gap_s) == (0.75, 2 * HOUR_S)
    assert (basis.until - basis.since).total_seconds() == 12 * HOUR_S
    assert (basis.error, basis.naive_error, basis.growth_per_day) == (None, None, None)


def test_growth_is_the_slope_of_the_forecast_per_day() -> None:
    days = line(history(3.0 + 0.5 * np.arange(30), step_s=DAY_S))
    assert growth_per_day(days) == pytest.approx(0.5)


def test_what_rounding_makes_of_a_level_figure_is_no_growth() -> None:
    """Else it differs from one processor to the next."""
    assert growth_per_day(line(history(30e9 + 1e-5 * np.arange(30), step_s=DAY_S))) == 0.0


def test_the_error_beside_seasonal_naive_s() -> None:
    series = history(np.arange(30) % 2, step_s=DAY_S)
    basis = basis_of(series, line(series))
    assert basis.error is not None
    assert basis.naive_error == pytest.approx(3.5 * basis.error)
