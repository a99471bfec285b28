"""Intervals as wide as the backtest's errors say: conformal prediction, its scores scaled by series and by horizon.

V. Vovk, A. Gammerman, G. Shafer, "Algorithmic Learning in a Random World" (2005); quantiles of scaled errors over many
series: J. A. Doornik, J. L. Castle, D. F. Hendry, "Card forecasts for M4" (2020) calibrate on such errors too.
"""

from statistics import NormalDist

import numpy as np

from doctord.analyse.capacity.forecast.backtest import mean_known
from doctord.analyse.capacity.series import Numbers

OWN_ORIGINS = 2.0  # origins of a series' own that its usual wobble is worth beside its errors
LEAST = 1e-6  # of the wobble: errors are never nothing, even if the past was told exactly
FEW = 40  # origins of all series; with fewer the quantile of Student's t guards the empirical one


def half_widths(errors: Numbers, wobble: Numbers, level: float) -> Numbers:
    """Half the width of each series' interval at each horizon.

    Args:
        errors: Of the chosen models in the backtest, series x origins x steps; NaN where unknown.
        wobble: How much each series usually moves from step to step, in its own unit.
        level: Share of what comes that the intervals are to hold.

    Returns:
        Series x steps; NaN where no error is known of any series.
    """
    size = np.abs(errors)
    growth = _growth(size / wobble[:, None, None])
    flat = size / growth
    known = np.isfinite(flat)
    by_origin = mean_known(flat, (2,))
    usual = max(LEAST, np.nanmedian(by_origin / wobble[:, None])) if np.isfinite(by_origin).any() else np.nan
    scale = _scale(by_origin, wobble * usual)
    without = np.stack([_scale(np.delete(by_origin, origin, 1), wobble * usual) for origin in range(size.shape[1])], 1)
    scores = np.where(known, flat / without[:, :, None], np.nan)
    return scale[:, None] * growth * _quantile(scores, int(np.isfinite(by_origin).sum()), level)


def _scale(by_origin: Numbers, prior: Numbers) -> Numbers:
    """The size of a series' errors: the mean of its origins, drawn towards what its wobble lets expect."""
    known = np.isfinite(by_origin)
    count = known.sum(axis=1)
    total: Numbers = np.where(known, by_origin, 0.0).sum(axis=1) + OWN_ORIGINS * prior
    return np.asarray(total / (count + OWN_ORIGINS))


def _growth(sizes: Numbers) -> Numbers:
    """How errors grow with the horizon: a power of it, between none and straight, fitted to the medians."""
    steps = np.arange(1, sizes.shape[2] + 1)
    known = np.isfinite(sizes).any(axis=(0, 1))
    if known.sum() < 4:
        return np.asarray(np.sqrt(steps), dtype=np.float64)
    medians = np.nanmedian(sizes.reshape(-1, sizes.shape[2])[:, known], axis=0)
    logs = np.log(np.maximum(medians, 1e-12))
    power = float(np.polyfit(np.log(steps[known]), logs, 1)[0])
    return np.asarray(steps ** np.clip(power, 0.0, 1.0), dtype=np.float64)


def _quantile(scores: Numbers, origins: int, level: float) -> float:
    """The score that this share of the scores does not pass, a little more for few of them.

    Series share what happens to all of them, so a part of the history is one trial however many series there are: the
    quantile is as much larger as its error is, which the parts' own quantiles tell.
    """
    known = scores[np.isfinite(scores)]
    if not len(known):
        return np.nan
    empirical = float(np.quantile(known, min(1.0, level * (1 + 1 / max(1, origins)))))
    if origins < FEW:
        return max(empirical, student(level, max(2, origins - 1)) * float(np.sqrt(np.mean(known**2))))
    parts = [part[np.isfinite(part)] for part in np.moveaxis(scores, 1, 0)]
    logs = np.log([max(LEAST, float(np.quantile(part, level))) for part in parts if len(part)])
    return empirical * float(np.exp(logs.std(ddof=1) / np.sqrt(len(logs)))) if len(logs) > 1 else empirical


def student(level: float, freedom: int) -> float:
    """Two-sided quantile of Student's t: Cornish and Fisher's expansion about the normal one (1938)."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    first = (z**3 + z) / (4 * freedom)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    return z + first + second + third
