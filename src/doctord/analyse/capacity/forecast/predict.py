"""Forecasts of many series at once: prepared, models compared by backtest, the best of each with its interval."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from doctord.analyse.capacity.forecast.backtest import best, forecasts, tried, unseen_errors, with_means
from doctord.analyse.capacity.forecast.intervals import half_widths
from doctord.analyse.capacity.forecast.models import BY_STEPS, QUICK, SEASONAL_NAIVE, THOROUGH
from doctord.analyse.capacity.forecast.prepare import FEWEST, Prepared, prepared
from doctord.analyse.capacity.forecast.result import Forecast, untold
from doctord.analyse.capacity.forecast.short_history import line_through_short_history
from doctord.analyse.capacity.series import DAY_S, Numbers, Series
from doctord.dataset.figure import Sum

DAYS_IN_HOURS = 14  # days ahead that are told hour by hour; what lies further is told by day
THOROUGH_SERIES = 20  # as many series are worth the models that take long
TOGETHER = 1000  # series that learn from one another, which bounds the memory that this takes
DAY_MEASURED = 0.25  # of a day, for its summary to be worth anything


def _last(days: Numbers) -> Numbers:
    place = days.shape[1] - 1 - np.argmax(np.isfinite(days)[:, ::-1], axis=1)
    return np.asarray(days[np.arange(len(days)), place])


SUMMED: Mapping[Sum, Callable[[Numbers], Numbers]] = {
    "mean": lambda days: np.asarray(np.nanmean(days, axis=1)),
    "max": lambda days: np.asarray(np.nanmax(days, axis=1)),
    "min": lambda days: np.asarray(np.nanmin(days, axis=1)),
    "last": _last,
}
"""How the hours of a day become one value, a row a day; NaN is left out."""


def forecast(series: Sequence[Series], horizon_steps: int, level: float = 0.95) -> list[Forecast]:
    """Where each series goes.

    Args:
        series: Any figures; those of equal steps learn from one another.
        horizon_steps: How far to look, in each series' own steps.
        level: Share of what comes that the intervals are to hold.

    Returns:
        A forecast for each, in their order. Series of steps shorter than a day that are asked for more than
        two weeks are told by day, from days summed up as the figure's `sum` says.
    """
    ready = [_in_days(one, horizon_steps) for one in series]
    groups: dict[tuple[int, int], list[int]] = {}
    for place, (one, horizon) in enumerate(ready):
        groups.setdefault((one.step_s, horizon), []).append(place)
    said: dict[int, Forecast] = {}
    for (_, horizon), places in groups.items():
        for begin in range(0, len(places), TOGETHER):
            some = places[begin : begin + TOGETHER]
            said.update(zip(some, _together([ready[place][0] for place in some], horizon, level), strict=True))
    return [said[place] for place in range(len(series))]


def _in_days(series: Series, horizon: int) -> tuple[Series, int]:
    """The series by day, if it has shorter steps and is asked for weeks; days end with its last step."""
    a_day = DAY_S // series.step_s
    if a_day < 2 or horizon * series.step_s <= DAYS_IN_HOURS * DAY_S or len(series.values) < 2 * a_day:
        return series, horizon
    kept = series.values[len(series.values) % a_day :].reshape(-1, a_day)
    finite = np.where(np.isfinite(kept), kept, np.nan)
    days = np.full(len(finite), np.nan)
    enough = np.isfinite(finite).mean(axis=1) >= DAY_MEASURED
    days[enough] = SUMMED[series.figure.sum](finite[enough])
    start = series.at(len(series.values) % a_day + a_day - 1)
    return replace(series, step_s=DAY_S, start=start, values=days, low=days, high=days), -(-horizon // a_day)


def _together(series: Sequence[Series], horizon: int, level: float) -> list[Forecast]:
    seen = [prepared(one.values, one.step_s, one.start) for one in series]
    moving = [place for place, one in enumerate(seen) if not one.why and not one.constant]
    said = {}
    if moving:
        told = _told([series[place] for place in moving], [seen[place] for place in moving], horizon, level)
        said = dict(zip(moving, told, strict=True))
    return [
        said[place] if place in said else _unmoved(one, ready, horizon, level)
        for place, (one, ready) in enumerate(zip(series, seen, strict=True))
    ]


def _unmoved(series: Series, seen: Prepared, horizon: int, level: float) -> Forecast:
    start = series.at(len(series.values))
    if seen.why:
        is_short = int(np.isfinite(series.values).sum()) < FEWEST
        return (
            line_through_short_history(series, horizon, level, seen.why)
            if is_short
            else untold(series.step_s, start, seen.why, seen.notes)
        )
    same = np.full(horizon, seen.values[-1])
    notes = (*seen.notes, f"it never changed in {len(seen.values)} steps")
    return _dated(Forecast("constant", series.step_s, start, same, same, same, level, notes=notes), series, seen)


def _told(series: Sequence[Series], seen: Sequence[Prepared], horizon: int, level: float) -> list[Forecast]:
    """Forecasts of series of equal steps that move."""
    step_s = series[0].step_s
    models = THOROUGH if len(series) <= THOROUGH_SERIES else QUICK
    past = tried(series, models, horizon)
    ahead = with_means(forecasts(seen, models, horizon, step_s))
    chosen, sizes = best(past, ahead), past.errors()
    errors = unseen_errors(past, ahead)
    wide = half_widths(errors, np.array([_wobble(one.values, step_s, horizon) for one in seen]), level)
    found = []
    for place, (one, ready, name) in enumerate(zip(series, seen, chosen, strict=True)):
        start, mean, half = one.at(len(one.values)), ahead[name][place], wide[place]
        if not np.isfinite(errors[place]).any():
            found.append(untold(step_s, start, "too little was measured to try models on it", ready.notes))
            continue
        low, high = _interval(mean, half, ready, level, is_by_steps=name == BY_STEPS)
        low = np.maximum(low, 0.0) if np.nanmin(one.values) >= 0 else low
        known = errors[place][np.isfinite(errors[place])]
        held = np.abs(errors[place]) <= half
        told = Forecast(name, step_s, start, mean, low, high, level, covered=float(held.sum() / len(known)))
        mistakes = {model: float(size[place]) for model, size in sizes.items() if np.isfinite(size[place])}
        found.append(_dated(replace(told, errors=mistakes, notes=_notes(ready, name)), one, ready))
    return found


def _interval(
    mean: Numbers, half: Numbers, seen: Prepared, level: float, *, is_by_steps: bool
) -> tuple[Numbers, Numbers]:
    """The calibrated interval; of growth by steps also what steps that come sooner or later, larger or smaller add."""
    low, high = mean - half, mean + half
    if not is_by_steps or seen.step_growth is None:
        return low, high
    usual = seen.step_growth.ahead(len(mean))
    away = NormalDist().inv_cdf((1 + level) / 2)
    paths = [mean - usual + seen.step_growth.ahead(len(mean), deviations) for deviations in (-away, away)]
    return np.minimum(low, np.min(paths, axis=0)), np.maximum(high, np.max(paths, axis=0))


def _notes(seen: Prepared, model: str) -> tuple[str, ...]:
    if model == SEASONAL_NAIVE:
        return (*seen.notes, "no model was better than seasonal naive")
    return seen.notes


def _wobble(values: Numbers, step_s: int, horizon: int) -> float:
    """How much a series moves from day to day or from week to week, whichever is less; from step to step if longer."""
    lags = [lag for lag in (DAY_S // step_s, 7 * DAY_S // step_s) if 1 <= lag <= len(values) // 4]
    return min(_moves(values, lag, horizon) for lag in lags or [1])


def _moves(values: Numbers, lag: int, horizon: int) -> float:
    """How much values differ from those so many steps before; never nothing.

    The mean of the usual and the recent moves, for calm and restless times come and go; the geometric one, for a single
    great move must not say it all.
    """
    recent = values[-max(2 * horizon, 4 * lag) :]
    usual, now = (float(np.abs(some[lag:] - some[:-lag]).mean()) for some in (values, recent))
    least = 1e-6 * float(np.abs(values).mean()) + 1e-12
    return float(np.sqrt((usual + least) * (now + least)))


def _dated(forecast: Forecast, series: Series, seen: Prepared) -> Forecast:
    return replace(
        forecast,
        change_points=tuple(series.at(step) for step in seen.shifts),
        outliers=tuple(series.at(step) for step in seen.outliers),
    )
