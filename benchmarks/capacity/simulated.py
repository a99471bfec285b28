"""Histories whose truth is known, beyond their end too: what forecasts of time to a threshold are measured on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from doctord.analyse.capacity.series import Numbers

START = datetime(2025, 1, 1, tzinfo=UTC)
AHEAD_DAYS = 90
LEADS = (15, 75)  # days from the end of the history until the limit is passed


@dataclass(frozen=True, eq=False)
class Simulated:
    """A history by day.

    Attributes:
        kind: What is in it.
        values: As measured: noise, gaps and outliers included.
        limit: What it is held against.
        true: Day on which the truth passes the limit, counted from the first; null where it stands still.
    """

    kind: str
    values: Numbers
    limit: float
    true: int | None


def line(random: np.random.Generator, at: Numbers) -> Numbers:
    """Growth by 30 to 200 % a year."""
    return 1 + random.uniform(0.3, 2.0) / 365 * at


def rest(random: np.random.Generator, at: Numbers) -> Numbers:
    """No growth."""
    return np.ones(len(at)) * random.uniform(0.8, 1.2)


def week(random: np.random.Generator, at: Numbers) -> Numbers:
    """Weekdays that depart by 5 to 20 %."""
    return np.asarray(random.uniform(0.05, 0.2) * np.resize(random.standard_normal(7), len(at)))


def month_end(random: np.random.Generator, at: Numbers) -> Numbers:
    """A peak of 20 to 60 % on the last days of each month."""
    days = np.datetime64(START.date()) + np.arange(len(at))
    left = ((days.astype("datetime64[M]") + 1).astype("datetime64[D]") - days).astype(int)
    return np.where(left <= random.integers(1, 4), random.uniform(0.2, 0.6), 0.0)


def shift(random: np.random.Generator, at: Numbers) -> Numbers:
    """A level that jumps once, by up to 30 %, in the first 90 days."""
    return random.uniform(-0.3, 0.3) * (at >= random.integers(30, 90))


def steps(random: np.random.Generator, at: Numbers) -> Numbers:
    """Steps of 5 to 15 %, give or take a tenth of that, each 15 to 30 days, give or take two."""
    size, gap = random.uniform(0.05, 0.15), random.uniform(15, 30)
    places = np.cumsum(np.rint(random.normal(gap, 2, len(at) // 10)))
    sizes = size * random.normal(1, 0.1, len(places))
    return np.asarray(sizes @ (at[None, :] >= places[:, None]))


def purges(random: np.random.Generator, at: Numbers) -> Numbers:
    """Growth that is taken back each 20 to 40 days."""
    return np.asarray(random.uniform(0.2, 0.6) * (at / random.integers(20, 40) % 1))


def saturation(random: np.random.Generator, at: Numbers) -> Numbers:
    """Growth that comes to rest: two thirds of it in 80 to 200 days."""
    return random.uniform(0.5, 2.0) * (1 - np.exp(-at / random.uniform(80, 200)))


Part = Callable[[np.random.Generator, Numbers], Numbers]
GROWING: Mapping[str, tuple[Part, ...]] = {
    "trend": (line,),
    "trend and week": (line, week),
    "trend and month end": (line, month_end),
    "trend after a shift": (line, shift),
    "trend, much noise": (line,),
    "trend, gaps, outliers": (line,),
    "growth by steps": (rest, steps),
    "growth that comes to rest": (rest, saturation),
}
STILL: Mapping[str, tuple[Part, ...]] = {
    "noise": (rest,),
    "week": (rest, week),
    "month end": (rest, month_end),
    "shift": (rest, shift),
    "gaps, outliers": (rest,),
    "filled and purged": (rest, purges),
}


KINDS: Mapping[str, tuple[Part, ...]] = {**GROWING, **STILL}


def shape_of(random: np.random.Generator, at: Numbers, kind: str) -> Numbers:
    """What is in a history of that kind, for a level of about 1."""
    return np.asarray(sum(part(random, at) for part in KINDS[kind]))


def simulated(random: np.random.Generator, kind: str) -> Simulated:
    """A history of that kind."""
    while True:
        days = int(random.integers(150, 400))
        at = np.arange(days + AHEAD_DAYS, dtype=np.float64)
        level = random.uniform(50, 500)
        truth = level * shape_of(random, at, kind)
        noise = level * random.uniform(*((0.03, 0.08) if "noise" in kind else (0.002, 0.03)))
        values = measured(random, truth[:days] + noise * random.standard_normal(days), kind)
        if kind in STILL:
            return Simulated(kind, values, float(max(np.nanmax(values), truth.max()) + 3 * noise), None)
        least = float(truth[:days].max()) + 3 * noise
        limit = random.uniform(least, max(least, truth[days : days + LEADS[1]].max()))
        passed = np.flatnonzero(truth[days:] >= limit)
        if len(passed) and passed[0] >= LEADS[0]:
            return Simulated(kind, values, limit, days + int(passed[0]))


def measured(random: np.random.Generator, values: Numbers, kind: str) -> Numbers:
    """With the gaps and the outlier that its kind has."""
    if "gaps" in kind:
        values[random.integers(0, len(values) - 2)] *= 3
        begin = int(random.integers(10, len(values) - 30))
        values[begin : begin + int(random.integers(5, 25))] = np.nan
    return values
