"""A handful of steps: too few to try models on, enough for a line and an interval that admits how little they tell."""

from dataclasses import replace

import numpy as np

from doctord.analyse.capacity.forecast.intervals import student
from doctord.analyse.capacity.forecast.result import Forecast, untold
from doctord.analyse.capacity.series import Series

FEWEST = 4  # two are a line, a third shows that it is none, a fourth how far it is from one


def line_through_short_history(series: Series, horizon: int, level: float, why: str) -> Forecast:
    """A straight line by least squares, with its prediction interval.

    Student's t with the few degrees of freedom that there are: N. R. Draper, H. Smith, "Applied Regression Analysis"
    (1998).

    Args:
        series: What was measured.
        horizon: Steps to look ahead.
        level: Share of what comes that the interval is to hold.
        why: Why no model can be tried; the answer where a line cannot be drawn either.
    """
    start = series.at(len(series.values))
    steps = np.flatnonzero(np.isfinite(series.values))
    if len(steps) < FEWEST:
        return untold(series.step_s, start, why)
    values, mean_step = series.values[steps], steps.mean()
    spread = float(((steps - mean_step) ** 2).sum())
    slope = float(((steps - mean_step) * values).sum()) / spread
    residual = values - values.mean() - slope * (steps - mean_step)
    error = float(np.sqrt((residual**2).sum() / (len(steps) - 2)))
    ahead = np.arange(len(series.values), len(series.values) + horizon)
    mean = values.mean() + slope * (ahead - mean_step)
    half = student(level, len(steps) - 2) * error * np.sqrt(1 + 1 / len(steps) + (ahead - mean_step) ** 2 / spread)
    line = Forecast("straight line", series.step_s, start, mean, mean - half, mean + half, level)
    return replace(line, notes=(f"{len(steps)} steps only: a line through them, and its interval",))
