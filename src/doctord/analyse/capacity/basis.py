"""What a forecast rests on: how long a history, how much of it measured, and how it did on what it had not seen."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from doctord.analyse.capacity.forecast import Forecast
from doctord.analyse.capacity.forecast.models import SEASONAL_NAIVE
from doctord.analyse.capacity.forecast.robust import noise_floor
from doctord.analyse.capacity.series import DAY_S, Series


@dataclass(frozen=True, slots=True)
class Basis:
    """What a forecast rests on.

    Attributes:
        since, until: Start of the first step and end of the last.
        measured: Part (0 to 1) of the steps between that were measured.
        longest_gap_s: The longest time in which nothing was measured, seconds; 0 where there is no gap.
        error: Mean absolute error of the model in the backtest, in the figure's unit; null without a backtest.
        naive_error: That of seasonal naive: the same values as a season ago.
        growth_per_day: What the forecast grows by in a day, by a straight line through it; null without one.
    """

    since: datetime
    until: datetime
    measured: float
    longest_gap_s: float
    error: float | None
    naive_error: float | None
    growth_per_day: float | None


def basis_of(series: Series, forecast: Forecast) -> Basis:
    """What the forecast of a series rests on."""
    measured = np.flatnonzero(np.isfinite(series.values))
    gaps = np.diff(measured) - 1
    return Basis(
        series.at(-1),
        series.end,
        len(measured) / len(series.values),
        float(gaps.max(initial=0) * series.step_s),
        forecast.errors.get(forecast.model),
        forecast.errors.get(SEASONAL_NAIVE),
        growth_per_day(forecast),
    )


def growth_per_day(forecast: Forecast) -> float | None:
    """The slope of the least-squares line through a forecast, per day; null where that has fewer than two steps.

    What rounding alone could make of a level forecast is no growth.
    """
    steps = np.flatnonzero(np.isfinite(forecast.mean))
    if len(steps) < 2:
        return None
    away = steps - steps.mean()
    per_step = float(away @ forecast.mean[steps] / (away @ away))
    if abs(per_step) * (steps[-1] - steps[0]) < noise_floor(forecast.mean):
        return 0.0
    return per_step * DAY_S / forecast.step_s
