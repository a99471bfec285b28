"""A histogram of latencies: how many waits took how long.

Buckets hold what took longer than their lower edge and at most their upper one, as Oracle's v$event_histogram does.
Merging, subtracting and re-bucketing are exact, and refused where the edges do not allow it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Literal, Self

from doctord.errors import UserError

# Share of a bucket's upper edge that a wait in it is taken to last, when the bucket is wide: the middle of a power of
# two. L. Canali, OraLatencyMap (2013), takes it likewise, for the first bucket too.
WIDE_BUCKET_SHARE = 0.75

Sureness = Literal["exact", "estimated", "at least"]


@dataclass(frozen=True, slots=True)
class Bucket:
    """Waits longer than `gt_us` and at most `le_us` (infinite above the last edge).

    `waited_us` is their time in sum, null where only the count is known; `estimated` when it was worked out from
    narrower buckets.
    """

    gt_us: float
    le_us: float
    count: int
    waited_us: float | None = None
    estimated: bool = False

    @property
    def likely_us(self) -> float:
        """What one of these waits took: known on average, or estimated; the lower edge when there is no upper one."""
        if self.waited_us is not None and self.count:
            return self.waited_us / self.count
        if self.le_us == inf:
            return self.gt_us
        wide = self.gt_us <= self.le_us / 2
        return WIDE_BUCKET_SHARE * self.le_us if wide else (self.gt_us + self.le_us) / 2

    @property
    def time_us(self) -> float:
        """Time that these waits took together."""
        return self.count * self.likely_us


@dataclass(frozen=True, slots=True)
class Time:
    """Time waited, microseconds, and how sure it is: `at least` when waits above the last edge are in it."""

    us: float
    sureness: Sureness


@dataclass(frozen=True, slots=True)
class Quantile:
    """A latency that a share of the waits stays within, microseconds, and the bucket's edges, between which it lies."""

    us: float
    low_us: float
    high_us: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """Buckets in ascending order, none overlapping another; one without a count may be left out."""

    buckets: tuple[Bucket, ...] = ()

    @classmethod
    def of(cls, buckets: Iterable[Bucket]) -> Self:
        """A histogram of buckets in any order; those of the same edges are added up.

        Raises:
            UserError: buckets overlap.
        """
        summed: dict[tuple[float, float], Bucket] = {}
        for bucket in buckets:
            edges = (bucket.gt_us, bucket.le_us)
            summed[edges] = _sum(bucket, summed[edges]) if edges in summed else bucket
        ordered = sorted(summed.values(), key=lambda bucket: (bucket.gt_us, bucket.le_us))
        for lower, upper in pairwise(ordered):
            if upper.gt_us < lower.le_us:
                raise UserError(
                    f"buckets overlap: {_edges(lower)} and {_edges(upper)}",
                    "histograms of different edges are brought to common ones first (rebucket)",
                )
        return cls(tuple(ordered))

    @property
    def total(self) -> int:
        """Number of waits in all buckets."""
        return sum(bucket.count for bucket in self.buckets)

    @property
    def overflow(self) -> int:
        """How many were longer than the last edge."""
        return sum(bucket.count for bucket in self.buckets if bucket.le_us == inf)

    @property
    def time(self) -> Time:
        """Microseconds that all waits took: exact, estimated from the buckets' bounds, or at least so much."""
        filled = [bucket for bucket in self.buckets if bucket.count]
        unsure = [bucket for bucket in filled if bucket.waited_us is None or bucket.estimated]
        sureness: Sureness = "estimated" if unsure else "exact"
        if any(bucket.le_us == inf for bucket in unsure):
            sureness = "at least"
        return Time(sum(bucket.time_us for bucket in filled), sureness)

    def merge(self, other: "Histogram") -> "Histogram":
        """Both together.

        Raises:
            UserError: their edges do not fit.
        """
        return Histogram.of((*self.buckets, *other.buckets))

    def minus(self, earlier: "Histogram") -> "Histogram":
        """What a growing histogram gained since an earlier reading of it.

        Raises:
            UserError: a count fell, as after a restart, or the edges do not fit.
        """
        gained = Histogram.of((*self.buckets, *(_negative(bucket) for bucket in earlier.buckets)))
        if fell := next((bucket for bucket in gained.buckets if bucket.count < 0), None):
            raise UserError(
                f"the count of {_edges(fell)} fell by {-fell.count}",
                "the source was restarted or reset in between; the interval is left out",
            )
        return gained

    def rebucket(self, edges: Sequence[float]) -> "Histogram":
        """The same waits in buckets between the edges given (microseconds, ascending), open below and above.

        Raises:
            UserError: an edge lies inside of a bucket that is not empty.
        """
        bounds = [0.0, *edges, inf]
        placed = []
        for bucket in (bucket for bucket in self.buckets if bucket.count):
            nth = bisect_left(bounds, bucket.le_us, 1)
            low, high = bounds[nth - 1], bounds[nth]
            if bucket.gt_us < low:
                raise UserError(
                    f"{low:g} us lies inside of the bucket {_edges(bucket)}", "use edges that both histograms have"
                )
            estimated = bucket.waited_us is None or bucket.estimated
            placed.append(Bucket(low, high, bucket.count, bucket.time_us, estimated))
        return Histogram.of(placed)

    def quantile(self, share: float) -> Quantile | None:
        """The latency that a share (0 to 1) of the waits stays within, evenly spread in its bucket; null without waits.

        Above the last edge only the lower bound is known: it is given as the value.
        """
        left = share * self.total
        filled = [bucket for bucket in self.buckets if bucket.count]
        for bucket in filled:
            if left <= bucket.count or bucket is filled[-1]:
                inside = min(left / bucket.count, 1.0)
                width_us = bucket.le_us - bucket.gt_us if bucket.le_us < inf else 0.0
                return Quantile(bucket.gt_us + width_us * inside, bucket.gt_us, bucket.le_us)
            left -= bucket.count
        return None


def _sum(a: Bucket, b: Bucket) -> Bucket:
    known = a.waited_us is not None and b.waited_us is not None
    waited_us = (a.waited_us or 0.0) + (b.waited_us or 0.0) if known else None
    return Bucket(a.gt_us, a.le_us, a.count + b.count, waited_us, a.estimated or b.estimated)


def _negative(bucket: Bucket) -> Bucket:
    waited_us = None if bucket.waited_us is None else -bucket.waited_us
    return Bucket(bucket.gt_us, bucket.le_us, -bucket.count, waited_us, bucket.estimated)


def _edges(bucket: Bucket) -> str:
    high = "above" if bucket.le_us == inf else f"{bucket.le_us:g}"
    return f"{bucket.gt_us:g} to {high} us"
