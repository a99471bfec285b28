"""How the latencies of one interval differ from those of another: in rate, and in how they are spread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from doctord.analyse.latency.histogram import Histogram
from doctord.analyse.latency.map import LatencyMap


@dataclass(frozen=True, slots=True)
class Part:
    """The waits of an interval: how many seconds of it were measured, their number, their time, how they are spread.

    Where the source knows means only the histogram is empty, whatever the number.
    """

    seconds: float
    count: float
    waited_us: float
    histogram: Histogram

    @classmethod
    def of(cls, histogram: Histogram, seconds: float) -> Self:
        """The waits of a histogram that was measured for so many seconds."""
        return cls(seconds, histogram.total, histogram.time.us, histogram)

    @property
    def per_second(self) -> float | None:
        """Waits a second; null when nothing was measured."""
        return self.count / self.seconds if self.seconds else None

    @property
    def mean_us(self) -> float | None:
        """Mean latency; null without waits."""
        return self.waited_us / self.count if self.count else None

    @property
    def is_of_means(self) -> bool:
        """Whether it is not known how the waits are spread."""
        return bool(self.count) and not self.histogram.total


@dataclass(frozen=True, slots=True)
class Shift:
    """Of neighbouring buckets together: which share (0 to 1) of the waits they hold in A, and in B."""

    gt_us: float
    le_us: float
    share_a: float
    share_b: float

    @property
    def gained(self) -> float:
        """What B has more than A, as a share of the waits; below zero what it has less."""
        return self.share_b - self.share_a


@dataclass(frozen=True, slots=True)
class Difference:
    """B against A, bucket by bucket; an empty part has no shares, and so there are no shifts."""

    a: Part
    b: Part
    shifts: tuple[Shift, ...]

    @property
    def moved(self) -> float:
        """Share of the waits that lie in other buckets in B than in A: half of all differences.

        This is the total variation distance of the two distributions.
        """
        return sum(abs(shift.gained) for shift in self.shifts) / 2

    @property
    def grown(self) -> Shift | None:
        """The neighbouring buckets that together gained most; null when none did."""
        return max(self._runs(lambda shift: shift.gained > 0), key=lambda run: run.gained, default=None)

    @property
    def shrunk(self) -> Shift | None:
        """The neighbouring buckets that together lost most; null when none did."""
        return min(self._runs(lambda shift: shift.gained < 0), key=lambda run: run.gained, default=None)

    def _runs(self, chosen: Callable[[Shift], bool]) -> list[Shift]:
        runs: list[list[Shift]] = []
        for shift in filter(chosen, self.shifts):
            if runs and runs[-1][-1].le_us == shift.gt_us:
                runs[-1].append(shift)
            else:
                runs.append([shift])
        return [_together(run) for run in runs]


def part(drawn: LatencyMap, since: datetime | None = None, until: datetime | None = None) -> Part:
    """The waits of the columns that end after `since` and no later than `until`; gaps are not measured."""
    inside = drawn.between(since, until)
    measured = [column for column in inside.columns if not column.is_gap]
    seconds, count = sum(column.interval_s for column in measured), sum(column.count or 0 for column in measured)
    return Part(seconds, count, sum(column.waited_us or 0 for column in measured), inside.whole)


def difference(a: Part, b: Part) -> Difference:
    """B against A.

    Raises:
        UserError: the edges of their buckets do not fit.
    """
    total_a, total_b = a.histogram.total, b.histogram.total
    both = a.histogram.merge(b.histogram)
    if not total_a or not total_b:
        return Difference(a, b, ())
    in_a, in_b = ({(bucket.gt_us, bucket.le_us): bucket.count for bucket in side.histogram.buckets} for side in (a, b))
    edges = [(bucket.gt_us, bucket.le_us) for bucket in both.buckets if bucket.count]
    return Difference(
        a, b, tuple(Shift(*edge, in_a.get(edge, 0) / total_a, in_b.get(edge, 0) / total_b) for edge in edges)
    )


def _together(run: Sequence[Shift]) -> Shift:
    return Shift(run[0].gt_us, run[-1].le_us, sum(each.share_a for each in run), sum(each.share_b for each in run))
