"""Thresholds proposed from a time that the user declares good.

A limit lies three robust standard deviations from the median, to the bad side: W. A. Shewhart's limits of control
(1931), with the deviation taken from the quantile of 90 % on that side, which fewer outliers than a tenth cannot carry
away. It is then moved out until the good time itself violates it nowhere for as long as the holding time. With three
weeks and more, each hour of the week has its own, where that tells more than one limit for all.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from glob import escape
from math import floor, log10
from typing import Literal

import numpy as np

from doctord.analyse.capacity.series import DAY_S, HOUR_S, Numbers, Series
from doctord.analyse.capacity.thresholds.check import breaches_of, hours_of_week
from doctord.analyse.capacity.thresholds.threshold import HOURS_OF_WEEK, Threshold

LEAST_VALUES = 24  # fewer tell neither a day's course nor a quantile of 90 %
LEAST_WEEKS = 3  # with two, the median of the others is the other one
DEVIATIONS = 3.0
TAIL, TAIL_DEVIATIONS = 0.9, 1.2816  # the quantile of a normal distribution that lies so many deviations out
SEASON_EXPLAINS = 0.3  # share of the variance; noise alone explains less than nothing when its own week is left out
FOLDS = 8  # parts of the weeks that are left out in turn
GROWS = 0.9  # rank correlation with time from which on a time was not steady
DIGITS = 3


@dataclass(frozen=True, eq=False)
class Proposal:
    """What was made of one series.

    Attributes:
        series: The good time.
        threshold: The proposal; null where none follows from it, and `why` then says why.
        why: What it rests on.
    """

    series: Series
    threshold: Threshold | None
    why: str


def propose(histories: Sequence[Series], hold_s: float = HOUR_S) -> Iterator[Proposal]:
    """A threshold for each series of a good time, or why there is none.

    The holding time is at least two steps, so that no single spike, good time or later, decides anything.
    """
    for series in histories:
        refused = _unfit(series)
        if refused:
            yield Proposal(series, None, refused)
        else:
            yield _proposed(series, max(hold_s, 2.0 * series.step_s))


def _unfit(series: Series) -> str:
    """Why no limit follows from a series; empty when one may."""
    values = series.values[~np.isnan(series.values)]
    if values.size < LEAST_VALUES:
        return f"only {values.size} values of {_length(series.step_s)} were measured, {LEAST_VALUES} are needed"
    if values.min() == values.max():
        return f"it was {values[0]:.6g} all the time, which does not tell how far it may move"
    if abs(correlation(np.arange(values.size, dtype=float), values)) >= GROWS:
        return f"it went from {values[0]:.4g} to {values[-1]:.4g} all the time and was not steady: forecast it"
    return ""


def _proposed(series: Series, hold_s: float) -> Proposal:
    is_high = series.figure.worse == "high"
    turned = series if is_high else replace(series, values=-series.values)
    season = hourly(turned)
    center = np.nanmedian(turned.values, keepdims=True) if season is None else season
    beyond = turned.values - (center[0] if season is None else center[hours_of_week(turned)])
    middle, tail = np.nanquantile(beyond, (0.5, TAIL)).tolist()
    start = middle + DEVIATIONS * (tail - middle) / TAIL_DEVIATIONS
    margins = np.unique(beyond[~np.isnan(beyond) & (beyond > start)])
    margin = _least_kept(turned, center, hold_s, [start, *margins.tolist()])
    if margin == middle:
        return Proposal(series, None, f"it was {np.nanmedian(series.values):.6g} nearly all the time: no limit follows")
    limits = _rounded_up(center + margin)
    threshold = _threshold(series, limits if is_high else -limits, hold_s, "above" if is_high else "below")
    if impossible := _impossible(threshold, series):
        return Proposal(series, None, impossible)
    why = _why(series, threshold, raised=margin > start)
    return Proposal(series, replace(threshold, reason=why), why)


def _least_kept(turned: Series, center: Numbers, hold_s: float, margins: Sequence[float]) -> float:
    """The first of rising margins that the good time does not violate for as long as the holding time."""

    def is_kept(margin: float) -> int:
        tried = _threshold(turned, _rounded_up(center + margin), hold_s, "above")
        return next(breaches_of(tried, turned), None) is None

    return margins[bisect_left(margins, 1, hi=len(margins) - 1, key=is_kept)]


def _threshold(series: Series, limits: Numbers, hold_s: float, worse: Literal["above", "below"]) -> Threshold:
    """A threshold with one limit, or with one for each hour of the week."""
    labels = series.labels
    return Threshold(
        name=series.name,
        figure=series.figure.name,
        limit=float(limits.max() if worse == "above" else limits.min()),
        worse=worse,
        hold_s=hold_s,
        host=escape(labels.host or ""),
        db=escape(labels.db or ""),
        entity=escape(labels.entity or ""),
        by_hour=tuple(limits.tolist()) if limits.size > 1 else (),
        source="this history",
    )


def hourly(series: Series) -> Numbers | None:
    """The usual value of each hour of the week; null where it is not known, or tells no more than one value for all.

    An hour's value is the median over the weeks of that hour and its two neighbours. Whether it tells more is asked of
    weeks that were left out: what the others predict of them must leave less than one median for all leaves.
    """
    if series.step_s != HOUR_S or np.count_nonzero(~np.isnan(series.values)) < LEAST_WEEKS * HOURS_OF_WEEK:
        return None
    first = int(hours_of_week(series)[0])
    weeks = -(-(first + series.values.size) // HOURS_OF_WEEK)
    table = np.full((weeks, HOURS_OF_WEEK), np.nan)
    table.flat[first : first + series.values.size] = series.values
    fold = np.arange(weeks) % FOLDS
    left = np.concatenate([table[fold == out] - _usual(table[fold != out]) for out in range(min(FOLDS, weeks))])
    plain = np.concatenate([table[fold == out] for out in range(min(FOLDS, weeks))])
    known = ~np.isnan(left)
    if not known.any() or not _explains(plain[known], left[known]):
        return None
    usual = _usual(table)
    return np.where(np.isnan(usual), np.nanmax(usual), usual)


def _usual(table: Numbers) -> Numbers:
    """Medians of the columns with their neighbours, round the week; NaN where there is no value."""
    near = np.sort(np.concatenate([np.roll(table, shift, axis=1) for shift in (-1, 0, 1)]), axis=0)  # NaN come last
    counts = np.count_nonzero(~np.isnan(near), axis=0)
    columns = np.arange(HOURS_OF_WEEK)
    medians: Numbers = (near[np.maximum(counts - 1, 0) // 2, columns] + near[counts // 2 % len(near), columns]) / 2
    return medians


def _explains(plain: Numbers, left: Numbers) -> bool:
    """Whether what is left is less than it was, by as much of the variance as makes it worth while."""
    return _spread(plain) > 0 and 1 - (_spread(left) / _spread(plain)) ** 2 >= SEASON_EXPLAINS


def _spread(values: Numbers) -> float:
    """The median distance from the median."""
    return float(np.median(np.abs(values - np.median(values))))


def correlation(times: Numbers, values: Numbers) -> float:
    """C. Spearman's rank correlation (1904)."""
    ranks = [np.unique(one, return_inverse=True)[1].astype(float) for one in (times, values)]
    return float(np.corrcoef(np.stack(ranks))[0, 1])


def _rounded_up(limits: Numbers) -> Numbers:
    """Limits with few digits, never below what they were."""
    digits = DIGITS - 1 - floor(log10(max(float(np.abs(limits).max()), 1e-300)))
    return np.maximum(np.round(np.ceil(limits * 10.0**digits) / 10.0**digits, digits), limits)


def _impossible(threshold: Threshold, series: Series) -> str:
    """Why a limit could never be violated; empty when it can."""
    if threshold.worse == "above" and series.figure.unit == "%" and threshold.limit >= 100:
        return f"the limit would be {threshold.limit:.4g} %, which nothing can exceed"
    if threshold.worse == "below" and threshold.limit <= 0 <= np.nanmin(series.values):
        return f"the limit would be {threshold.limit:.4g} {series.figure.unit}, below which nothing can be"
    return ""


def _why(series: Series, threshold: Threshold, *, raised: bool) -> str:
    """What a proposal rests on, in words."""
    values = series.values[~np.isnan(series.values)]
    middle, worst = float(np.median(values)), float(values.max() if threshold.worse == "above" else values.min())
    span = f"{series.at(-1):%Y-%m-%d} to {series.end:%Y-%m-%d}"
    parts = [
        f"From {values.size} steps of {_length(series.step_s)}, {span}: median {middle:.4g}, worst {worst:.4g}",
        f"{_length(_longest_gap(series))} without a value at a time" if _longest_gap(series) > DAY_S else "",
        "moved out to what the good time itself kept" if raised else "",
        _season(series, threshold),
        "a worse value that lasted less than the holding time does not count" if _is_beyond(threshold, worst) else "",
    ]
    return "; ".join(part for part in parts if part) + "."


def _season(series: Series, threshold: Threshold) -> str:
    if threshold.by_hour:
        return "hours of the week differ, so each has its own limit"
    if np.count_nonzero(~np.isnan(series.values)) * series.step_s < LEAST_WEEKS * 7 * DAY_S:
        return "less than three weeks, so that hours of the week were not told apart"
    return "one limit for all hours: telling them apart would explain no more" if series.step_s <= HOUR_S else ""


def _is_beyond(threshold: Threshold, worst: float) -> bool:
    return worst > threshold.limit if threshold.worse == "above" else worst < threshold.limit


def _longest_gap(series: Series) -> float:
    measured = np.flatnonzero(~np.isnan(series.values))
    return float((np.diff(measured).max() - 1) * series.step_s)


def _length(seconds: float) -> str:
    size, unit = next((size, unit) for size, unit in ((DAY_S, "d"), (HOUR_S, "h"), (60, "min")) if seconds >= size)
    return f"{seconds / size:.4g} {unit}"
