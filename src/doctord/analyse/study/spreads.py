"""How figures are spread, before and after: quantiles of the cost of a unit, and histograms of latencies.

Quantiles step by step and their shift: K. Doksum, "Empirical probability plots and statistical inference for nonlinear
models in the two-sample case" (1974). Their intervals are those of a bootstrap of blocks that are longer than rows
resemble each other (H. R. Künsch, "The jackknife and the bootstrap for general stationary observations", 1989).
Histograms are held against each other by the share of waits that lie elsewhere (total variation distance): how many
there were is another matter, and twice as many of the same shape is no slower device.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from doctord.analyse.latency.difference import Difference, difference, part
from doctord.analyse.latency.map import Kind, histograms_of, subjects
from doctord.analyse.study.difference import LEVEL
from doctord.analyse.study.samples import FEWEST, Numbers, Samples, correlation_time
from doctord.analyse.study.spent import Spent
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError

SHARES: Final = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
RESAMPLES: Final = 400
FEWEST_STEPS: Final = 3 * FEWEST  # of each period, for quantiles
LONG: Final = 4  # correlation times that a block is long
FEWEST_BLOCKS: Final = 2 * FEWEST  # of each period; with fewer no quantile has an interval
ALIKE: Final = 0.05  # share of waits that may lie elsewhere in histograms of one shape
FEWEST_WAITS: Final = 100
HISTOGRAM: Final[Kind] = "histogram"


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile of the cost of a unit of load by step: seconds, the ratio, and its interval (null: not told)."""

    share: float
    before: float
    after: float
    low: float | None
    high: float | None

    @property
    def ratio(self) -> float:
        """After over before."""
        return self.after / self.before


@dataclass(frozen=True, slots=True)
class Spread:
    """A histogram of latencies of both periods: whose, how many there were a second, and how many lie elsewhere."""

    subject: str
    difference: Difference

    @property
    def is_alike(self) -> bool:
        """Whether both are of one shape."""
        return self.difference.moved <= ALIKE

    @property
    def times_as_many(self) -> float | None:
        """Waits a second after over those before; null where one of both is not known."""
        old, new = self.difference.a.per_second, self.difference.b.per_second
        return new / old if old and new else None


def quantiles(before: Spent, after: Spent, unit: str) -> list[Quantile]:
    """Quantiles of the cost of a unit, step by step; none where one of both periods has too few steps."""
    rows = [_costs(one.samples(one.whole, unit)) for one in (before, after)]
    if any(len(costs) < FEWEST_STEPS for costs in rows):
        return []
    found = [np.quantile(costs, SHARES) for costs in rows]
    if (found[0] <= 0).any():
        return []
    resampled = [_resampled(costs, seed) for seed, costs in enumerate(rows)]
    ends: tuple[Numbers | None, Numbers | None] = (None, None)
    if resampled[0] is not None and resampled[1] is not None and (resampled[0] > 0).all():
        low, high = np.quantile(resampled[1] / resampled[0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
        ends = low, high
    return [
        Quantile(share, float(old), float(new), *(None if end is None else float(end[place]) for end in ends))
        for place, (share, old, new) in enumerate(zip(SHARES, *found, strict=True))
    ]


def _costs(samples: Samples) -> Numbers:
    done = samples.per > 0
    return np.asarray(samples.amount[done] / samples.per[done], dtype=np.float64)


def _resampled(costs: Numbers, seed: int) -> Numbers | None:
    """Quantiles of blocks drawn again, resamples x shares; null where the blocks are too few."""
    length = int(np.ceil(LONG * correlation_time(costs)))
    if len(costs) < FEWEST_BLOCKS * length:
        return None
    count = -(-len(costs) // length)
    begins = np.random.default_rng(seed).integers(0, len(costs) - length + 1, (RESAMPLES, count))
    drawn = costs[(begins[:, :, None] + np.arange(length)).reshape(RESAMPLES, -1)]
    return np.asarray(np.quantile(drawn, SHARES, axis=1).T, dtype=np.float64)


def histograms(before: Dataset, after: Dataset) -> Iterator[Spread]:
    """The histograms of latencies that both periods have, with waits enough."""
    old, new = ({one.name: one for one in subjects(dataset, HISTOGRAM)} for dataset in (before, after))
    for name in old:
        if name not in new:
            continue
        maps = histograms_of(before, old[name]), histograms_of(after, new[name])
        if not all(len(one) == 1 for one in maps):
            continue
        try:
            found = difference(part(maps[0][0]), part(maps[1][0]))
        except UserError:  # buckets of another tool, or of another version: their edges do not fit
            continue
        if min(found.a.count, found.b.count) >= FEWEST_WAITS:
            yield Spread(name, found)
