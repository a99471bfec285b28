"""One regression over all series at hand: the next steps from the last ones, in logarithms, each horizon by itself.

Series that are too short or too noisy for a model of their own learn from the others: P. Montero-Manso and R. J.
Hyndman, "Principles and algorithms for forecasting groups of time series" (2021).
"""

from collections.abc import Sequence

import numpy as np

from doctord.analyse.capacity.series import Numbers

MOST_WINDOWS = 200_000  # of all series; more add time and nothing else
RIDGE = 1e-5
OWN = 0.3  # how much the regression over all weighs beside a series' own, in units of its variance
FLOOR = 1e-3  # of the mean: below it a value counts as this much, for zero has no logarithm


def pooled(histories: Sequence[Numbers], horizon: int, lags: int, *, own: bool = False) -> Numbers:
    """Forecasts: one row a series, one column a step; NaN for series of fewer than two steps.

    Args:
        histories: Values without gaps, one array a series.
        horizon: Steps ahead.
        lags: Steps looked back.
        own: Fit each series by itself as well, drawn towards the regression over all.
    """
    scaled = [_logarithms(history) for history in histories]
    each = max(1, MOST_WINDOWS // max(1, len(scaled)))
    sums = [_sums(values, horizon, lags, each) for values, _ in scaled]
    known = [one for one in sums if one is not None]
    if not known:
        return np.full((len(histories), horizon), np.nan)
    squares: Numbers = np.sum([one[0] for one in known], axis=0)
    products: Numbers = np.sum([one[1] for one in known], axis=0)
    all_of_them = _solved(squares, products, np.zeros_like(products), RIDGE)
    rows = []
    for (values, positive), one in zip(scaled, sums, strict=True):
        weights = _solved(*one, all_of_them, OWN) if own and one is not None else all_of_them
        rows.append(_ahead(values, lags, weights, positive=positive))
    scales = [np.abs(history).mean() for history in histories]
    return np.array([row * scale for row, scale in zip(rows, scales, strict=True)])


def _logarithms(history: Numbers) -> tuple[Numbers, bool]:
    """Values over their mean size, in logarithms unless some are negative."""
    scaled = history / (np.abs(history).mean() or 1.0)
    if (history < 0).any():
        return scaled, False
    return np.log(np.maximum(scaled, FLOOR)), True


def _sums(values: Numbers, horizon: int, lags: int, most: int) -> tuple[Numbers, Numbers] | None:
    """Mean squares and products of the newest windows; null where there is none."""
    if len(values) < lags + horizon:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(values, lags + horizon)[-most:]
    level = windows[:, :lags].mean(axis=1, keepdims=True)
    past = np.hstack([windows[:, :lags] - level, np.ones((len(windows), 1))])
    return past.T @ past / len(windows), past.T @ (windows[:, lags:] - level) / len(windows)


def _solved(squares: Numbers, products: Numbers, towards: Numbers, strength: float) -> Numbers:
    size = len(squares)
    ridge = strength * np.trace(squares) / size
    return np.linalg.solve(squares + ridge * np.eye(size), products + ridge * towards)


def _ahead(values: Numbers, lags: int, weights: Numbers, *, positive: bool) -> Numbers:
    last = values[-lags:]
    last = np.concatenate([np.full(lags - len(last), last[0]), last])
    level = last.mean()
    ahead: Numbers = np.append(last - level, 1.0) @ weights + level
    return np.exp(np.minimum(ahead, values.max() + 1.0)) if positive else ahead
