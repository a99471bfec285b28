"""Models: each reads prepared histories, and says the steps to come; a row of NaN where it does not fit."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from doctord.analyse.capacity.forecast.pooled import pooled
from doctord.analyse.capacity.forecast.prepare import FEWEST, Prepared, seasons
from doctord.analyse.capacity.forecast.step_growth import LEVEL
from doctord.analyse.capacity.series import DAY_S, HOUR_S, Numbers

Model = Callable[[Sequence[Prepared], int, int], Numbers]
"""Prepared histories, steps ahead and seconds of a step in; a row of forecasts for each history out."""

MOST_STEPS = 1008  # what a model reads of a history: six weeks of hours, almost three years of days
TIMES_TO_REST = np.geomspace(0.05, 1.5, 24)  # tau of growth that comes to rest, in lengths of the history
SEASONAL_NAIVE = "seasonal naive"
BY_STEPS = "growth by steps"


def each(one: Callable[[Numbers, int, tuple[int, ...]], Numbers | None]) -> Model:
    """A model of all histories, from one of a single history, its horizon and its seasons."""

    def model(histories: Sequence[Prepared], horizon: int, step_s: int) -> Numbers:
        ahead = np.full((len(histories), horizon), np.nan)
        for row, history in zip(ahead, histories, strict=True):
            recent = history.values[-MOST_STEPS:]
            said = one(recent, horizon, seasons(step_s, len(recent)))
            if said is not None:
                row[:] = said
        return ahead

    return model


def seasonal_naive(history: Numbers, horizon: int, cycles: tuple[int, ...]) -> Numbers:
    """What was one season ago, the longest season that the history shows twice; the last value without a season."""
    period = cycles[-1] if cycles else 1
    return np.asarray(np.resize(history[-period:], horizon), dtype=np.float64)


def straight_line(history: Numbers, horizon: int, cycles: tuple[int, ...]) -> Numbers:
    """A line through all of the history, and the usual shape of the season: least squares, outliers being gone."""
    shape, season = _shape(history, horizon, cycles)
    calm = history - shape
    at = np.arange(len(history)) - (len(history) - 1) / 2
    slope = float(at @ calm / (at @ at))
    return np.asarray(calm.mean() + slope * (at[-1] + np.arange(1, horizon + 1)) + season)


def recent_line(history: Numbers, horizon: int, cycles: tuple[int, ...]) -> Numbers | None:
    """The same through its last third, for growth that changed."""
    kept = max(len(history) // 3, 2 * (cycles[-1] if cycles else 1), 2 * FEWEST)
    return straight_line(history[-kept:], horizon, cycles) if kept < len(history) else None


def saturating(history: Numbers, horizon: int, cycles: tuple[int, ...]) -> Numbers | None:
    """Growth that comes to rest, `1 - exp(-t / tau)`; only where it explains a tenth more than a straight line does."""
    shape, season = _shape(history, horizon, cycles)
    steps = np.arange(len(history) + horizon) / len(history)
    paths = np.vstack([steps, 1 - np.exp(-steps / TIMES_TO_REST[:, None])])
    known = paths[:, : len(history)] - paths[:, : len(history)].mean(axis=1, keepdims=True)
    calm = history - shape
    weights = known @ calm / np.square(known).sum(axis=1)
    left = np.square(calm - calm.mean() - weights[:, None] * known).sum(axis=1)
    best = int(np.argmin(left))
    if left[best] >= 0.9 * left[0]:
        return None
    ahead = paths[best, len(history) :] - paths[best, : len(history)].mean()
    return np.asarray(calm.mean() + weights[best] * ahead + season)


def drift(history: Numbers, horizon: int, cycles: tuple[int, ...]) -> Numbers:
    """From the last value on by the mean step, plus the season; for levels that wander."""
    shape, ahead = _shape(history, horizon, cycles)
    calm = history - shape
    step = (calm[-1] - calm[0]) / max(1, len(calm) - 1)
    return np.asarray(calm[-1] + step * np.arange(1, horizon + 1) + ahead, dtype=np.float64)


def theta(history: Numbers, horizon: int, cycles: tuple[int, ...]) -> Numbers | None:
    """Dynamic optimised Theta: J. A. Fiorucci and others, "Models for optimising the theta method" (2016)."""
    from statsforecast.models import DynamicOptimizedTheta  # noqa: PLC0415 - of the extra `forecast`

    return _told(DynamicOptimizedTheta(season_length=cycles[0] if cycles else 1), history, horizon)


def ets(history: Numbers, horizon: int, cycles: tuple[int, ...]) -> Numbers | None:
    """Exponential smoothing, its form chosen by AICc: R. J. Hyndman and others, "A state space framework" (2002)."""
    from statsforecast.models import AutoETS  # noqa: PLC0415 - of the extra `forecast`

    period = cycles[0] if cycles and cycles[0] <= 24 else 1
    return _told(AutoETS(season_length=period), history, horizon)


def mstl(history: Numbers, horizon: int, cycles: tuple[int, ...]) -> Numbers | None:
    """Several seasons taken off one after another: K. Bandara, R. J. Hyndman, C. Bergmeir, "MSTL" (2021)."""
    from statsforecast.models import MSTL, AutoETS  # noqa: PLC0415 - of the extra `forecast`

    if not cycles:
        return None
    return _told(MSTL(season_length=list(cycles), trend_forecaster=AutoETS(model="ZZN")), history, horizon)


def shared(histories: Sequence[Prepared], horizon: int, step_s: int) -> Numbers:
    """The regression over all series at hand."""
    return pooled([one.values for one in histories], horizon, _lags(step_s, horizon, 3))


def own(histories: Sequence[Prepared], horizon: int, step_s: int) -> Numbers:
    """A regression for each series, drawn towards that over all."""
    return pooled([one.values for one in histories], horizon, _lags(step_s, horizon, 1), own=True)


def by_steps(histories: Sequence[Prepared], horizon: int, step_s: int) -> Numbers:
    """Growth by steps of the usual size, each after the usual time; only where there are stairs."""
    ahead = np.full((len(histories), horizon), np.nan)
    for row, history in zip(ahead, histories, strict=True):
        if step_growth := history.step_growth:
            shape, season = _shape(history.values, horizon, seasons(step_s, len(history.values)))
            newest = (history.values - shape)[max(step_growth.places[-1] - len(shape), -LEVEL) :]
            level = float(np.median(newest + step_growth.slope * np.arange(len(newest))[::-1]))
            row[:] = level + step_growth.ahead(horizon) + season
    return ahead


def _lags(step_s: int, horizon: int, weeks: int) -> int:
    if step_s >= 7 * DAY_S:
        return 26 if weeks == 1 else 104
    if step_s == DAY_S:
        return 14 if weeks == 1 else 56
    return min(weeks * 7 * DAY_S // step_s, 504) if step_s <= HOUR_S else 4 * horizon


QUICK: Mapping[str, Model] = {
    SEASONAL_NAIVE: each(seasonal_naive),
    "straight line": each(straight_line),
    "recent straight line": each(recent_line),
    "drift": each(drift),
    "saturating growth": each(saturating),
    BY_STEPS: by_steps,
    "theta": each(theta),
    "regression over all series": shared,
    "regression of its own": own,
}
"""Models cheap enough for thousands of series."""

THOROUGH: Mapping[str, Model] = {**QUICK, "exponential smoothing": each(ets), "MSTL": each(mstl)}
"""Those that cost tenths of a second a series as well."""


def _told(model: Any, history: Numbers, horizon: int) -> Numbers | None:  # noqa: ANN401 - statsforecast has no types
    """What a model of statsforecast says; null if it cannot be fitted. Its search depends on the unit: all get one."""
    size = float(np.abs(history).mean()) or 1.0
    try:
        ahead = size * np.asarray(model.forecast(y=history / size, h=horizon)["mean"], dtype=np.float64)
    except (ValueError, ZeroDivisionError, FloatingPointError, np.linalg.LinAlgError):
        return None
    return ahead if np.isfinite(ahead).all() else None


def _shape(history: Numbers, horizon: int, cycles: tuple[int, ...]) -> tuple[Numbers, Numbers]:
    """The season's shape over the history and over what is to come: the median departure from a running mean."""
    if not cycles:
        return np.zeros(len(history)), np.zeros(horizon)
    period = cycles[-1]
    whole = len(history) // period
    rows = history[-whole * period :].reshape(whole, period)
    slope = (rows[-1].mean() - rows[0].mean()) / max(1, (whole - 1) * period)
    flat = rows - rows.mean(axis=1, keepdims=True) - slope * (np.arange(period) - (period - 1) / 2)
    shape = np.median(flat, axis=0)
    shape -= shape.mean()
    place = (np.arange(len(history) + horizon) - len(history)) % period
    return shape[place][: len(history)], shape[place][len(history) :]
