"""The cost of a unit of load before and after, at one and the same load.

A server that does more at a time may take longer for each: what is compared is the cost at a load that both periods
had. `cost ~ load + period + load:period` by least squares, its errors robust against rows that resemble their
neighbours (W. K. Newey, K. D. West, "A simple, positive semi-definite, heteroskedasticity and autocorrelation
consistent covariance matrix", 1987). Where loads do not overlap there is no such load, and nothing is compared.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Final

import numpy as np

from doctord.analyse.study.difference import Difference, difference, of_log
from doctord.analyse.study.samples import Mean, Numbers, Samples, batch_count, batch_sums, mean_of

ALIKE: Final = 0.1  # loads that differ by so much of their mean are one load
_PARTS: Final = 4  # of the equation: its constant, load, period, and both together


@dataclass(frozen=True, slots=True)
class Loads:
    """Units of load a second of both periods.

    Attributes:
        before, after: Means.
        before_range, after_range: Least and most of the batches; null where a period has one value alone.
        at: The load at which costs are compared; null: as they are, for loads are alike or of one value each.
        overlap: Whether there is a load that both had; null where their ranges are not known.
    """

    before: float
    after: float
    before_range: tuple[float, float] | None
    after_range: tuple[float, float] | None
    at: float | None
    overlap: bool | None


def cost_difference(before: Samples, after: Samples) -> tuple[Difference, Loads | None]:
    """The cost of a unit of load, and the loads at which that was.

    Args:
        before: Rows of what was spent (`amount`) on units of load (`per`) in some `seconds`.
        after: Likewise.

    Returns:
        The difference, without an interval where loads do not overlap; the loads, null where they are not known.
    """
    plain = difference(before, after)
    loads = loads_of(before, after)
    if loads is None or loads.at is None or plain.before is None or plain.after is None:
        return plain, loads
    if plain.before.error is None or plain.after.error is None:
        return plain, loads
    return _at(loads.at, before, after, plain.before, plain.after) or plain, loads


def loads_of(before: Samples, after: Samples) -> Loads | None:
    """The loads of both periods; null where rows do not tell how long they are, or there are none."""
    if not before.seconds.sum() or not after.seconds.sum():
        return None
    means = [float(one.per.sum() / one.seconds.sum()) for one in (before, after)]
    own, other = _range(before), _range(after)
    if own is None or other is None:
        return Loads(means[0], means[1], own, other, at=None, overlap=None)
    low, high = max(own[0], other[0]), min(own[1], other[1])
    are_alike = max(own[1], other[1]) - min(own[0], other[0]) <= ALIKE * (low + high) / 2
    overlap = are_alike or low - high <= ALIKE * (low + high) / 2
    return Loads(means[0], means[1], own, other, (low + high) / 2 if overlap and not are_alike else None, overlap)


def _range(samples: Samples) -> tuple[float, float] | None:
    mean = mean_of(samples)
    if mean is None or mean.error is None:
        return None
    _, load = _by_batch(samples)
    return float(load.min()), float(load.max())


def _by_batch(samples: Samples) -> tuple[Numbers, Numbers]:
    """Cost of a unit, and units a second, by batch."""
    count = samples.rows if samples.are_runs else batch_count(samples)[0]
    amount, per, seconds = (batch_sums(column, count) for column in (samples.amount, samples.per, samples.seconds))
    with np.errstate(divide="ignore", invalid="ignore"):
        return amount / per, per / seconds


def _at(load: float, before: Samples, after: Samples, old: Mean, new: Mean) -> Difference | None:
    """The difference at a load; null where the equation has no cost above zero there, or a batch no load."""
    costs, loads = (np.concatenate(parts) for parts in zip(*map(_by_batch, (before, after)), strict=True))
    if not np.isfinite(costs).all():
        return None
    is_after = np.repeat([0.0, 1.0], [old.freedom + 1, new.freedom + 1])
    off = loads - load
    design = np.column_stack([np.ones(len(costs)), off, is_after, off * is_after])
    found, covariance = least_squares(design, costs)
    first, added = float(found[0]), float(found[2])
    if first <= 0 or first + added <= 0:
        return None
    gradient = np.array([1 / (first + added) - 1 / first, 0.0, 1 / (first + added), 0.0])
    error = sqrt(float(gradient @ covariance @ gradient))
    if not error:
        return None
    own, other = Mean(first, None, old.freedom, old.rows), Mean(first + added, None, new.freedom, new.rows)
    return of_log(own, other, log((first + added) / first), error, len(costs) - _PARTS)


def least_squares(design: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
    """Coefficients and their covariance: the larger of Newey's and West's, and that of independent errors.

    The first knows that errors follow each other, and is too small where rows are few; the second is not, and does not.

    Args:
        design: Rows x coefficients.
        values: One for each row.
    """
    rows, parts = design.shape
    found: Numbers = np.linalg.lstsq(design, values, rcond=None)[0].astype(np.float64)
    inverse = np.linalg.pinv(design.T @ design)
    left = values - design @ found
    scores = design * left[:, None]
    middle = scores.T @ scores
    lags = int(4 * (rows / 100) ** (2 / 9))
    for lag in range(1, lags + 1):
        crossed = scores[lag:].T @ scores[:-lag]
        middle += (1 - lag / (lags + 1)) * (crossed + crossed.T)
    robust = inverse @ middle @ inverse * rows / (rows - parts)
    plain = inverse * float(left @ left) / (rows - parts)
    wider = np.sqrt(np.maximum(1.0, np.diag(plain) / np.maximum(np.diag(robust), 1e-300)))
    return found, np.asarray(robust * np.outer(wider, wider), dtype=np.float64)
