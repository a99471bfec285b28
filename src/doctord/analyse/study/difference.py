"""The difference of two periods as a ratio with its interval, and what the period before says of chance."""

from dataclasses import dataclass, replace
from math import exp, inf, isfinite, lgamma, log, pi, sqrt
from typing import Final

import numpy as np

from doctord.analyse.capacity.forecast.intervals import student
from doctord.analyse.study.samples import FEWEST, Mean, Samples, mean_of

LEVEL: Final = 0.95
LARGEST: Final = 700.0  # a power of e that a float can hold
_FAR: Final = 15.0  # standard errors: beyond there is nothing to add
_POINTS: Final = 2001


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure before and after.

    Attributes:
        before, after: Its means; null where it was not measured.
        ratio: After over before; null where one of them is missing or zero.
        low, high: Ends of the ratio's interval; null where chance cannot be told.
        p: How often chance alone makes such a difference; null likewise.
        why: Why there is no interval; empty where there is one.
    """

    before: Mean | None
    after: Mean | None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Noise:
    """What the period before says of chance, from its own two halves (an A/A check).

    Attributes:
        least: Ratio (above 1) that a difference must pass to be told from chance; null where that is not known.
        halves: The second half over the first; null likewise.
        is_steady: Whether the halves are alike as far as can be told.
    """

    least: float | None
    halves: float | None
    is_steady: bool


def difference(before: Samples | None, after: Samples | None) -> Difference:
    """The ratio of two periods, with an interval of Student's t on its logarithm.

    Degrees of freedom: B. L. Welch, "The generalization of 'Student's' problem when several different population
    variances are involved" (1947).
    """
    old, new = (mean_of(one) if one else None for one in (before, after))
    are_paired = before and after and before.are_pairs and after.are_pairs
    if before and after and are_paired and old and new and (before.amount > 0).all() and (after.amount > 0).all():
        return _paired(before, after, old, new)
    return of_means(old, new)


def of_means(old: Mean | None, new: Mean | None) -> Difference:
    """The ratio of two means, whatever these are of."""
    if old is None or new is None or old.value <= 0 or new.value <= 0:
        return Difference(old, new, why=_why(old, new))
    ratio = new.value / old.value
    if old.error is None or new.error is None:
        return Difference(old, new, ratio, why=_why(old, new))
    error = sqrt(old.error**2 + new.error**2)
    if error == 0:  # every row is the same: chance had no part in either
        return Difference(old, new, ratio, ratio, ratio, 1.0 if ratio == 1 else 0.0)
    freedom = error**4 / (old.error**4 / old.freedom + new.error**4 / new.freedom)
    return of_log(old, new, log(ratio), error, freedom)


def _paired(before: Samples, after: Samples, old: Mean, new: Mean) -> Difference:
    """The ratio of the geometric means of runs beside each other: what drifts over all of them is in both of a pair."""
    logs = [np.log(one.amount / one.per) for one in (before, after)]
    apart = logs[1] - logs[0]
    error = float(apart.std(ddof=1)) / sqrt(len(apart))
    if not np.isfinite(error) or error == 0:
        return Difference(old, new, new.value / old.value, why="a run took no time at all, or all took the same")
    old, new = (replace(mean, value=exp(float(log.mean()))) for mean, log in zip((old, new), logs, strict=True))
    return of_log(old, new, float(apart.mean()), error, len(apart) - 1)


def of_log(old: Mean, new: Mean, ratio_log: float, error: float, freedom: float) -> Difference:
    """A difference by the logarithm of its ratio, the standard error of that, and its degrees of freedom."""
    half = student(LEVEL, max(1, int(freedom))) * error
    ends = [exp(it) if it < LARGEST else inf for it in (ratio_log - half, ratio_log + half)]
    low, high = (end if isfinite(end) else None for end in ends)
    return Difference(old, new, exp(ratio_log), low, high, student_p(ratio_log / error, max(1, int(freedom))))


def _why(old: Mean | None, new: Mean | None) -> str:
    if old is None or new is None:
        return "not measured before" if old is None else "not measured after"
    if "one value" in {old.why, new.why} and old.why == new.why:
        return "one value each"
    told = {name: one.why for name, one in (("before", old), ("after", new)) if one.why}
    return "; ".join(f"{name}: {why}" for name, why in told.items())


def noise_of(before: Samples) -> Noise:
    """How large a difference of such a period from another of its kind must be to be told from chance.

    That is half the width of the interval between two such periods; or what its halves differ by, where they differ
    by more than chance: something moves the server that has nothing to do with the change.
    """
    middle = before.rows // 2
    if middle < FEWEST:
        return noise_of_means(mean_of(before), None)
    return noise_of_means(mean_of(before), difference(before.part(0, middle), before.part(middle, before.rows)))


def noise_of_means(whole: Mean | None, halves: Difference | None) -> Noise:
    """The same of the mean of a period, and of the difference of its halves; null where these are too short."""
    if whole is None or whole.error is None:
        return Noise(None, None, is_steady=True)
    least = exp(student(LEVEL, 2 * whole.freedom) * sqrt(2) * whole.error)
    if halves is None or halves.ratio is None or halves.p is None:
        return Noise(least, halves.ratio if halves else None, is_steady=True)
    is_steady = halves.p > 1 - LEVEL
    drift = exp(abs(log(halves.ratio)))
    return Noise(least if is_steady else max(least, drift), halves.ratio, is_steady)


def student_p(t: float, freedom: int) -> float:
    """Two-sided probability of Student's t beyond a value, by integration over the angle of t / sqrt(freedom).

    >>> round(student_p(2.262, 9), 3), round(student_p(-12.706, 1), 3)
    (0.05, 0.05)
    """
    begin = float(np.arctan(abs(t) / sqrt(freedom)))
    angles = np.linspace(begin, min(pi / 2, begin + _FAR / sqrt(freedom)), _POINTS)
    density = np.cos(angles) ** (freedom - 1) if freedom > 1 else np.ones(_POINTS)
    scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(pi)
    return min(1.0, 2 * scale * float(np.trapezoid(density, angles)))


def adjusted(chances: list[float]) -> list[float]:
    """P values for a family of differences: Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate" (1995).

    >>> adjusted([0.01, 0.04, 0.03, 0.5])
    [0.04, 0.05333333333333334, 0.05333333333333334, 0.5]
    """
    order = sorted(range(len(chances)), key=lambda place: -chances[place])
    found, least = [0.0] * len(chances), 1.0
    for behind, place in enumerate(order):
        least = min(least, chances[place] * len(chances) / (len(chances) - behind))
        found[place] = least
    return found
