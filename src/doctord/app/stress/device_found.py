"""What came of a load test of storage: the knee, the largest rate, the limit, and whether memory was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from doctord.analyse.capacity.load.scaling import Scaling
from doctord.analyse.capacity.load.scaling import fitted as scaling_fitted
from doctord.analyse.stress.depths import Depth, DepthKnee, depth_knee
from doctord.analyse.stress.knee import Knee, Step, first_change, knee
from doctord.analyse.stress.latencies import together
from doctord.analyse.stress.page_cache import Moved
from doctord.analyse.study.difference import Difference, difference
from doctord.analyse.study.samples import Samples
from doctord.app.diagnose import Examination
from doctord.app.lab import first_cause
from doctord.app.stress.database import LOOSE
from doctord.app.stress.device_asked import Asked, Series
from doctord.diagnose.finding import Diagnosis
from doctord.stress.fio import Done
from doctord.stress.target import Target


class Ran(NamedTuple):
    """A step that was given, what the check-up saw meanwhile, and what the device did; null where that is not known.

    `queue` is the number of requests that the device had, waiting or at work, on average.
    """

    series: Series
    done: Done
    examination: Examination | None
    moved: Moved
    queue: float | None

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What the check-up says."""
        return None if self.examination is None else self.examination.diagnosis

    @property
    def cause(self) -> str | None:
        """The first cause above a note."""
        return first_cause(self.diagnosis) if self.diagnosis else None


@dataclass(frozen=True)
class DeviceStress:
    """What a load test of storage found.

    Attributes:
        asked: What was asked.
        target: Where requests went.
        version: Of fio.
        steps: In the order in which they were given.
        stopped: Why not all steps were given; empty: all were.
    """

    asked: Asked
    target: Target
    version: str
    steps: Sequence[Ran]
    stopped: str = ""

    def of(self, series: Series) -> list[Ran]:
        """The steps in which that was varied."""
        return [ran for ran in self.steps if ran.series == series]

    @property
    def by_depth(self) -> list[Depth]:
        """Each depth with all its repeats, the least first."""
        return by_depth(self.of("depth"))

    @property
    def depth_knee(self) -> DepthKnee | None:
        """From what depth on more only waits; null where too little was measured."""
        return depth_knee(self.by_depth, self.asked.seed)

    @property
    def scaling(self) -> Scaling:
        """How requests done in a second grow with depth."""
        told = [(step.outstanding, step.per_s) for step in self.by_depth]
        return scaling_fitted(*np.array(told, float).reshape(-1, 2).T)

    @property
    def by_rate(self) -> list[Step]:
        """Each rate with all its repeats, the least first."""
        ran = self.of("rate")
        given = {rate: [one.done for one in ran if rate_of(one) == rate] for rate in sorted({*map(rate_of, ran)})}
        return [
            Step(rate, together([one.latencies for one in all_]), all(one.keeps_up for one in all_))
            for rate, all_ in given.items()
        ]

    @property
    def cost_of_file_system(self) -> Difference | None:
        """Requests done through the file system over those of the device beneath; null where it was not looked at."""
        ran = [one.done for one in self.of("beneath")]
        through = [one for one in ran if one.job.path == self.target.path]
        raw = [one for one in ran if one.job.path != self.target.path]
        return difference(_by_second(raw), _by_second(through)) if through and raw else None

    @property
    def limit_ms(self) -> float:
        """The service level that counts."""
        if self.asked.limit_ms is not None:
            return self.asked.limit_ms
        least = self.by_rate[0].latencies if self.by_rate else None
        return LOOSE * ((least and least.quantile_us(0.99)) or 0.0) / 1000

    @property
    def rate_knee(self) -> Knee | None:
        """The largest rate within the service level; null where rates were not varied."""
        return knee(self.by_rate, self.limit_ms * 1000, self.asked.seed) if self.by_rate else None

    @property
    def limit(self) -> tuple[Ran, Diagnosis] | None:
        """The step of the least depth, or rate, at which the first cause is another than at the least of these."""
        for series in ("depth", "rate"):
            looked = {_load(ran): ran for ran in self.of(series) if ran.diagnosis}
            change = first_change({load: ran.cause for load, ran in looked.items()}) if looked else None
            ran = looked[change[0]] if change else None
            if ran and ran.diagnosis:
                return ran, ran.diagnosis
        return None

    @property
    def pitfall(self) -> Moved | None:
        """What was moved in the step that tells most of the page cache; null: the device was tested."""
        found = [ran.moved for ran in self.steps if ran.moved.is_pitfall]
        return max(found, key=lambda moved: (moved.cached_share or 0.0, moved.per_s), default=None)

    @property
    def healthy(self) -> bool | None:
        """False where memory was measured, or no rate holds the level; null where nothing was measured."""
        if self.depth_knee is None:
            return None
        return self.pitfall is None and (self.rate_knee is None or self.rate_knee.load is not None)


def by_depth(steps: Sequence[Ran]) -> list[Depth]:
    """Each depth with all its repeats, the least first."""
    depths = sorted({ran.done.job.depth for ran in steps})
    return [
        Depth(depth, together([ran.done.latencies for ran in steps if ran.done.job.depth == depth])) for depth in depths
    ]


def rate_of(ran: Ran) -> float:
    """Requests due in a second; 0 where the next begins when one ends."""
    return ran.done.job.rate_per_s or 0.0


def _load(ran: Ran) -> float:
    return rate_of(ran) or float(ran.done.job.depth)


def _by_second(several: Sequence[Done]) -> Samples:
    """Requests done in each second of several steps."""
    return Samples.of(together([one.latencies for one in several]).counts.sum(axis=1), 1.0, 1.0)
