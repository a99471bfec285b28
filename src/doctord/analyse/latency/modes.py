"""Reading a latency map: its modes, outliers, bursts that come again, and lasting shifts.

Only what the waits carry is said. Bands of storage latencies and what they mean: L. Canali on OraLatencyMap (2013);
reading modes off a heat map: B. Gregg, "Visualizing System Latency" (Communications of the ACM, 2010).
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import floor, inf, log2, sqrt
from statistics import fmean, median, pstdev
from typing import Final

from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.map import Column, LatencyMap
from doctord.regex import regex

LEAST_WAITS = 20  # fewer say nothing about how they are spread
LEAST_SHARE = 0.01  # a mode of less is a tail
VALLEY = 0.5  # two peaks are two modes when what is between them falls to this share of the lower one
FINE = 4  # bins per power of two where the buckets are narrower than that
OUTLIER_TIMES = 8.0  # an outlier takes so many times as long as nearly all of the slowest mode
LEAST_OUTLIERS = 3
LEAST_PERIODS = 3  # bursts come again when they have come so often
LEAST_CORRELATION = 0.5
LEAST_SHIFT = 1.5  # a shift multiplies the typical latency by so much, or divides it
LEAST_COLUMNS = 8  # on both sides together
LEAST_SIGMAS = 6.0  # a shift stands out from the noise of the columns by so much
STORAGE = regex(r"read|write|sync|flush|i/o|^(vd|sd|nvme|xvd|dm-|md)", re.IGNORECASE)
NOT_STORAGE = regex(r"queue|(?<!b)lock|buffer read", re.IGNORECASE)
BANDS = (
    (2.5e3, "most likely a cache, or flash"),
    (12e3, "as disks answer at low load"),
    (60e3, "as disks answer under load"),
    (inf, "queued or throttled"),
)


@dataclass(frozen=True, slots=True)
class Mode:
    """Latencies around which waits gather: share of the waits and of the time, where nine of ten lie, the middle."""

    share: float
    time_share: float
    low_us: float
    typical_us: float
    high_us: float
    meaning: str | None


@dataclass(frozen=True, slots=True)
class Outliers:
    """Waits far beyond the modes: from where on, how many, share of the waits and of the time, the longest's edge."""

    over_us: float
    count: int
    share: float
    time_share: float
    longest_us: float


@dataclass(frozen=True, slots=True)
class Bursts:
    """Slow waits that come again and again: seconds between two bursts, and how well that repeats (1: exactly)."""

    over_us: float
    every_s: float
    correlation: float


@dataclass(frozen=True, slots=True)
class Shift:
    """A lasting change: when, and the typical latency before and after."""

    at: datetime
    before_us: float
    after_us: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What a map shows; null is what it does not. Of means, of samples, and of few waits, nothing can be told."""

    modes: tuple[Mode, ...]
    outliers: Outliers | None
    bursts: Bursts | None
    shift: Shift | None
    is_told: bool = True


NOT_TOLD: Final = Reading((), None, None, None, is_told=False)


def reading(drawn: LatencyMap) -> Reading:
    """What a map shows; NOT_TOLD of what is no histogram, or of fewer than LEAST_WAITS."""
    whole = drawn.whole
    if drawn.kind in {"sampled", "mean"} or whole.total < LEAST_WAITS:
        return NOT_TOLD
    found = _modes(whole, drawn.subject)
    outliers = _outliers(whole, found)
    return Reading(found, outliers, _bursts(drawn, found, outliers), _shift(drawn))


def _modes(whole: Histogram, subject: str) -> tuple[Mode, ...]:
    filled = [bucket for bucket in whole.buckets if bucket.count]
    per_octave = FINE if all(bucket.le_us <= 1.5 * bucket.gt_us for bucket in filled if bucket.gt_us) else 1
    groups = _split(_binned(filled, per_octave), smooth=per_octave > 1)
    time_us = whole.time.us
    found = [_mode(group, whole.total, time_us, subject) for group in groups]
    return tuple(mode for mode in found if mode.share >= LEAST_SHARE)


def _binned(filled: Sequence[Bucket], per_octave: int) -> dict[int, list[Bucket]]:
    """Buckets by their place on a logarithmic scale."""
    bins: dict[int, list[Bucket]] = {}
    for bucket in filled:
        bins.setdefault(floor(log2(max(bucket.likely_us, 1e-3)) * per_octave), []).append(bucket)
    return bins


def _split(bins: dict[int, list[Bucket]], *, smooth: bool) -> list[list[Bucket]]:
    """The bins in groups around each peak, cut at the lowest point of each valley that is deep enough."""
    low, high = min(bins), max(bins)
    raw = [float(sum(bucket.count for bucket in bins.get(at, ()))) for at in range(low, high + 1)]
    heights = _smoothed(raw) if smooth else raw
    cuts, peak_at, valley_at = [], 0, 0
    for at, height in enumerate(heights):
        if height < heights[valley_at]:
            valley_at = at
        deep = heights[valley_at] <= VALLEY * min(heights[peak_at], height)
        if deep and height >= _enough(raw) and heights[peak_at] >= _enough(raw):
            cuts.append(valley_at)
            peak_at = valley_at = at
        elif height >= heights[peak_at]:
            peak_at = valley_at = at
    edges = [0, *(cut + 1 for cut in cuts), len(heights)]
    groups = [
        [bucket for at in range(begin, end) for bucket in bins.get(low + at, ())]
        for begin, end in itertools.pairwise(edges)
    ]
    return [group for group in groups if group]


def _enough(raw: Sequence[float]) -> float:
    """How high a peak must be: a tail of single waits has many."""
    return max(LEAST_SHARE * sum(raw) / 2, LEAST_WAITS / 4)


def _smoothed(values: Sequence[float]) -> list[float]:
    padded = [0.0, *values, 0.0]
    return [(padded[at - 1] + 2 * padded[at] + padded[at + 1]) / 4 for at in range(1, len(padded) - 1)]


def _mode(group: Sequence[Bucket], total: int, time_us: float, subject: str) -> Mode:
    held = Histogram.of(group)
    low, typical, high = (held.quantile(share) for share in (0.05, 0.5, 0.95))
    assert low is not None and typical is not None and high is not None  # noqa: S101, PT018 - a group is not empty
    return Mode(
        held.total / total,
        held.time.us / time_us if time_us else 0.0,
        low.us,
        typical.us,
        high.us,
        _meaning(subject, typical.us),
    )


def _meaning(subject: str, typical_us: float) -> str | None:
    if not STORAGE.search(subject) or NOT_STORAGE.search(subject):
        return None
    return next(words for limit_us, words in BANDS if typical_us <= limit_us)


def _outliers(whole: Histogram, modes: Sequence[Mode]) -> Outliers | None:
    if not modes:
        return None
    limit_us = OUTLIER_TIMES * modes[-1].high_us
    beyond = [bucket for bucket in whole.buckets if bucket.gt_us >= limit_us and bucket.count]
    count = sum(bucket.count for bucket in beyond)
    if count < LEAST_OUTLIERS:
        return None
    time_us = sum(bucket.time_us for bucket in beyond)
    longest = beyond[-1]
    return Outliers(
        beyond[0].gt_us,
        count,
        count / whole.total,
        time_us / whole.time.us,
        longest.le_us if longest.le_us < inf else longest.gt_us,
    )


def _bursts(drawn: LatencyMap, modes: Sequence[Mode], outliers: Outliers | None) -> Bursts | None:
    """Whether the slowest waits come in bursts at equal distances, by the autocorrelation of their number."""
    columns = [column for column in drawn.columns if column.histogram is not None]
    if outliers:
        over_us = outliers.over_us
    elif len(modes) > 1 and modes[-1].share < 1 / 3:
        over_us = (modes[-2].high_us + modes[-1].low_us) / 2
    else:
        return None
    if len(columns) < len(drawn.columns) * 0.9 or not columns:
        return None
    slow = [float(_over(column, over_us)) for column in columns]
    mean = fmean(slow)
    varied = [value - mean for value in slow]
    power = sum(value * value for value in varied)
    if not power:
        return None
    lags = range(2, len(slow) // LEAST_PERIODS + 1)
    correlation = {lag: _correlation(varied, lag, power) for lag in lags}
    peaks = [
        lag
        for lag in lags
        if correlation[lag] >= LEAST_CORRELATION
        and correlation[lag] > correlation.get(lag - 1, 0.0)
        and correlation[lag] >= correlation.get(lag + 1, 0.0)
    ]
    if not peaks:
        return None
    best = max(correlation[lag] for lag in peaks)
    lag = next(lag for lag in peaks if correlation[lag] >= 0.8 * best)
    return Bursts(over_us, lag * median(column.interval_s for column in columns), correlation[lag])


def _correlation(varied: Sequence[float], lag: int, power: float) -> float:
    both = zip(varied, varied[lag:], strict=False)
    return sum(a * b for a, b in both) / power * len(varied) / (len(varied) - lag)


def _over(column: Column, over_us: float) -> int:
    buckets = column.histogram.buckets if column.histogram else ()
    return sum(bucket.count for bucket in buckets if bucket.gt_us >= over_us)


def _shift(drawn: LatencyMap) -> Shift | None:
    """The best place to cut the columns in two, when the typical latency differs between the parts, and stays so."""
    columns = [column for column in drawn.columns if column.histogram is not None and column.histogram.total]
    if len(columns) < LEAST_COLUMNS:
        return None
    typical = [log2(max(_typical_us(column), 1e-3)) for column in columns]
    edge = len(columns) // 8 + 2
    cut = max(range(edge, len(columns) - edge + 1), key=lambda at: _contrast(typical, at), default=None)
    if cut is None:
        return None
    before, after = typical[:cut], typical[cut:]
    change = median(after) - median(before)
    last = median(after[len(after) // 2 :]) - median(before)
    noise = max(pstdev(before), pstdev(after)) / sqrt(min(len(before), len(after)))
    if abs(change) < log2(LEAST_SHIFT) or abs(last) < abs(change) / 2 or abs(change) < LEAST_SIGMAS * noise:
        return None
    begin = columns[cut - 1].end
    return Shift(begin, 2 ** median(before), 2 ** median(after))


def _typical_us(column: Column) -> float:
    """The geometric mean: it moves with each mode's share, and one outlier hardly moves it."""
    buckets = [bucket for bucket in (column.histogram or Histogram()).buckets if bucket.count]
    total = sum(bucket.count for bucket in buckets)
    return float(2 ** (sum(log2(max(bucket.likely_us, 1e-3)) * bucket.count for bucket in buckets) / total))


def _contrast(values: Sequence[float], cut: int) -> float:
    """How far the means of both parts lie apart, for the number of values in them (CUSUM)."""
    before, after = values[:cut], values[cut:]
    return abs(fmean(before) - fmean(after)) * sqrt(len(before) * len(after) / len(values))
