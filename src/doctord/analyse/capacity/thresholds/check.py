"""Thresholds held against what was measured: who violates them now, who did, and for how long."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from doctord.analyse.capacity.series import HOUR_S, Labels, Numbers, Series
from doctord.analyse.capacity.thresholds.threshold import HOURS_OF_WEEK, Threshold
from doctord.dataset.buckets import GROWTH

_MONDAY = datetime(1970, 1, 5, tzinfo=UTC)
# What is closer to its limit than it is exact is at it: sums are kept with seven digits, percentiles to 1 %.
_EXACT, _PERCENTILE_EXACT = 1e-7, (GROWTH - 1) / 2
_NEARLY = 1.1  # an hour's report may be of 55 minutes
_STEPS_LATE = 2  # a series whose last value is older than so many steps does not tell how things are now


@dataclass(frozen=True, eq=False)
class Breach:
    """A time in which a figure was beyond its limit for as long as the threshold asks, or longer.

    Attributes:
        threshold, series: What was violated, by whom.
        since, until: Start of its first step and end of its last.
        duration_s: Seconds measured beyond the limit: gaps do not count.
        gap_s: Seconds between `since` and `until` in which nothing was measured.
        worst: The worst value, and `limit` what was the limit then.
        is_now: It lasts to the moment that was asked for.
        lost: Nothing was measured after it, so when it ended is not known.
        is_older: It begins with the first value there is, so it may have begun before.
    """

    threshold: Threshold
    series: Series
    since: datetime
    until: datetime
    duration_s: float
    gap_s: float
    worst: float
    limit: float
    is_now: bool
    lost: bool
    is_older: bool

    @property
    def whose(self) -> tuple[str, str, str, Labels]:
        """Name of the threshold, and figure, percentile and labels of the series."""
        return self.threshold.name, self.series.figure.name, self.series.of, self.series.labels


@dataclass(frozen=True, eq=False)
class Checked:
    """What came of it.

    Attributes:
        now: The moment that `is_now` speaks of: when the newest value was measured.
        violations: Those that last first, then the newest.
        held: Pairs of a threshold and a series that were held against each other.
        short: Pairs of which it cannot be told: less was measured than a violation must last.
        unmeasured: Thresholds that concern nothing that was measured.
        measured_s: How long a time all of it is of, seconds; null: not known.
    """

    now: datetime | None
    violations: tuple[Breach, ...]
    held: tuple[tuple[Threshold, Series], ...]
    short: tuple[tuple[Threshold, Series], ...]
    unmeasured: tuple[Threshold, ...]
    measured_s: float | None = None

    def now_of(self, threshold: Threshold, series: Series) -> Breach | None:
        """The violation that lasts of that threshold, by whom that series is about; null where there is none."""
        wanted = (threshold.name, series.figure.name, series.of, series.labels)
        return next((one for one in self.violations if one.is_now and one.whose == wanted), None)


def check(
    thresholds: Iterable[Threshold], histories: Sequence[Series], span: tuple[datetime, datetime] | None = None
) -> Checked:
    """Hold thresholds against histories of any step.

    A step is beyond the limit when its value is. Steps that follow each other are one violation when together they last
    as long as the threshold asks; those that last less are left out. A step that was not measured neither counts nor
    ends one, unless the gap is longer than the holding time: how it went on is then not known, and `lost` says so.

    Args:
        thresholds: What is held.
        histories: Against what; their first and last steps may have been measured in part only.
        span: From when to when was measured; null: as long as the steps.
    """
    measured_s = (span[1] - span[0]).total_seconds() if span else None
    now = max((end for series in histories if (end := last_measured(series))), default=None)
    now = min(now, span[1]) if now and span else now  # the last step of a day or an hour may not have ended
    by_figure = dict[str, list[Series]]()
    for series in histories:
        by_figure.setdefault(series.figure.name, []).append(series)
    pairs, violations, unmeasured = list[tuple[Threshold, Series]](), list[Breach](), list[Threshold]()
    for threshold in thresholds:
        own = [one for one in by_figure.get(threshold.figure, ()) if threshold.concerns(one) and last_measured(one)]
        pairs += [(threshold, series) for series in own]
        unmeasured += [] if own else [threshold]
    short = [(threshold, series) for threshold, series in pairs if _is_short(threshold, series, measured_s)]
    held = [pair for pair in pairs if pair not in short]
    violations += [found for threshold, series in held for found in breaches_of(threshold, series, now)]
    violations.sort(key=lambda found: (found.is_now, found.until, found.duration_s), reverse=True)
    return Checked(now, tuple(violations), tuple(held), tuple(short), tuple(unmeasured), measured_s)


def _is_short(threshold: Threshold, series: Series, measured_s: float | None) -> bool:
    steps = int(np.isfinite(series.values).sum())
    return is_too_short(measured_s, threshold) or steps < steps_held(threshold, series.step_s)


def is_too_short(measured_s: float | None, threshold: Threshold) -> bool:
    """Whether so long a time cannot tell of a violation that must last; null: that is not known, and is no reason."""
    return measured_s is not None and measured_s * _NEARLY < threshold.hold_s


def breaches_of(threshold: Threshold, series: Series, now: datetime | None = None) -> Iterator[Breach]:
    """The violations of one series, oldest first; `now`: the moment asked for, else the end of its last value."""
    over, limits = beyond(threshold, series)
    measured = np.flatnonzero(~np.isnan(series.values))
    if not measured.size:
        return
    fresh = now is None or (now - series.at(int(measured[-1]))).total_seconds() <= _STEPS_LATE * series.step_s
    for first, last in runs(over, measured, longest_gap(threshold, series.step_s)):
        steps = first + np.flatnonzero(over[first : last + 1])
        if steps.size < steps_held(threshold, series.step_s):
            continue
        worst = int(steps[np.argmax(np.abs(series.values[steps] - limits[steps]))])
        is_last = last == int(measured[-1])
        yield Breach(
            threshold,
            series,
            since=series.at(first - 1),
            until=series.at(last),
            duration_s=float(steps.size * series.step_s),
            gap_s=float((last - first + 1 - steps.size) * series.step_s),
            worst=float(series.values[worst]),
            limit=float(limits[worst]),
            is_now=is_last and fresh,
            is_older=first == int(measured[0]),
            lost=not (is_last and fresh) and (is_last or bool(np.isnan(series.values[last + 1]))),
        )


def beyond(threshold: Threshold, series: Series) -> tuple[npt.NDArray[np.bool_], Numbers]:
    """Whether each step is beyond its limit, and that limit; what was not measured is not."""
    limits = limits_of(threshold, series)
    margin = (_PERCENTILE_EXACT if threshold.of else _EXACT) * np.abs(limits)
    return (series.values > limits + margin if threshold.worse == "above" else series.values < limits - margin), limits


def limits_of(threshold: Threshold, series: Series) -> Numbers:
    """The limit of each step: that of the hour in which it begins, where the threshold has hours and a step no more."""
    if not threshold.by_hour or series.step_s > HOUR_S:
        return np.full(len(series.values), threshold.limit)
    return np.asarray(threshold.by_hour)[hours_of_week(series)]


def hours_of_week(series: Series) -> npt.NDArray[np.int64]:
    """The hour of the week in which each step begins, Monday 00:00 UTC being 0."""
    first_s = round((series.start - timedelta(seconds=series.step_s) - _MONDAY).total_seconds())
    begins_s = first_s + series.step_s * np.arange(len(series.values), dtype=np.int64)
    return begins_s // HOUR_S % HOURS_OF_WEEK


def steps_held(threshold: Threshold, step_s: int) -> int:
    """Steps that a violation lasts at least."""
    return max(1, math.ceil(threshold.hold_s / step_s))


def longest_gap(threshold: Threshold, step_s: int) -> int:
    """Steps without a value that do not part one violation from the next."""
    return steps_held(threshold, step_s)


def last_measured(series: Series) -> datetime | None:
    """End of the last step that was measured."""
    measured = np.flatnonzero(~np.isnan(series.values))
    return series.at(int(measured[-1])) if measured.size else None


def runs(over: npt.NDArray[np.bool_], measured: npt.NDArray[np.int64], longest_gap: int) -> Iterator[tuple[int, int]]:
    """First and last step of each run of measured steps that are over, gaps up to `longest_gap` steps within."""
    flags = over[measured]
    parted = np.diff(measured) > longest_gap + 1
    starts = flags & np.concatenate(([True], ~flags[:-1] | parted))
    ends = flags & np.concatenate((~flags[1:] | parted, [True]))
    yield from zip(measured[starts].tolist(), measured[ends].tolist(), strict=True)
