"""A twin: a server that was not changed, whose own difference is taken off (difference in differences).

What moved both servers alike (the load of that day, a shared array, a release of the application) is in both, and not
of the change. That needs both to move in parallel without the change: whether they did in the period before, is seen
(method: O. Ashenfelter, D. Card, "Using the longitudinal structure of earnings to estimate the effect of training
programs", 1985). The error is that of the ratio of both
servers' costs, moment by moment: what moves both is no noise of it.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from doctord.analyse.study.compare import Row, judged
from doctord.analyse.study.difference import LEVEL, Difference, difference, noise_of_means, of_means
from doctord.analyse.study.measure import Key
from doctord.analyse.study.samples import FEWEST, Mean, Samples, mean_of
from doctord.analyse.study.spent import Spent

NET: Final = Key("time", "database time, less its twin's")
APART: Final = 0.1  # loads whose changes differ by more have not moved alike


@dataclass(frozen=True, slots=True)
class Twin:
    """What a twin says of a change.

    Attributes:
        name: Which server it is.
        own: Its own cost of a unit of load, before and after.
        net: The change of the changed server less that of the twin, judged: the ratio of their ratios. Its `noise` says
            whether both moved in parallel before.
        loads: How many times as many units of load a second after as before: of the changed server, of the twin.
    """

    name: str
    own: Difference
    net: Row
    loads: tuple[float, float]

    @property
    def has_moved(self) -> bool:
        """Whether the twin differs by more than chance, though nothing was changed there."""
        return self.own.p is not None and self.own.p <= 1 - LEVEL

    @property
    def is_parallel(self) -> bool:
        """Whether both moved alike in the period before, as far as can be told."""
        return self.net.noise is None or self.net.noise.is_steady

    @property
    def refusal(self) -> str:
        """Why it says nothing of the change; empty where it does."""
        if abs(np.log(self.loads[0] / self.loads[1])) > APART:
            told = " and ".join(f"{100 * (ratio - 1):+.0f} %" for ratio in self.loads)
            return f"the load of server and twin did not change alike: {told}"
        if not self.is_parallel:
            halves = self.net.noise.halves if self.net.noise else None
            told = f" by {100 * abs(halves - 1):.1f} %" if halves else ""
            return f"server and twin did not move in parallel before the change: they came apart{told}"
        return "" if self.net.difference.p is not None else f"server less twin: {self.net.difference.why}"


@dataclass(frozen=True, slots=True)
class Beside:
    """Two servers over one period: rows of the same moments."""

    own: Samples
    twin: Samples

    def part(self, begin: int, end: int) -> "Beside":
        """Rows from one to before another."""
        return Beside(self.own.part(begin, end), self.twin.part(begin, end))

    def ratio(self) -> Mean | None:
        """The cost of a unit at the one over that at the other, with the error of its logarithm (delta method)."""
        own, other = self.own.value, self.twin.value
        if not own or not other:
            return None
        both = (self.own, own), (self.twin, other)
        off = [(it.amount - value * it.per) / (value * it.per.mean()) for it, value in both]
        found = mean_of(Samples.of(1 + off[0] - off[1], 1.0, self.own.seconds))
        return replace(found, value=own / other) if found else None


def twin_of(name: str, own: tuple[Spent, Spent], twin: tuple[Spent, Spent], unit: str) -> Twin | None:
    """What a twin says; null where both have no moment in common, or one of them no load.

    Args:
        name: Of the twin.
        own: The changed server before and after.
        twin: The other, likewise.
        unit: Unit of load that both count.
    """
    before, after = (beside(*pair, unit) for pair in zip(own, twin, strict=True))
    loads = [_load_ratio(old, new) for old, new in ((before.own, after.own), (before.twin, after.twin))]
    if loads[0] is None or loads[1] is None:
        return None
    net = of_means(before.ratio(), after.ratio())
    middle = before.own.rows // 2
    halves = of_means(before.part(0, middle).ratio(), before.part(middle, before.own.rows).ratio())
    noise = noise_of_means(before.ratio(), halves if middle >= FEWEST else None)
    (row,) = judged([Row(NET, "", "low", net, noise=noise)])
    return Twin(name, difference(before.twin, after.twin), row, (loads[0], loads[1]))


def beside(own: Spent, twin: Spent, unit: str) -> Beside:
    """Database time and load of two servers on one grid, as coarse as the coarser one, where both were looked at."""
    step_s = max(own.grid.step_s, twin.grid.step_s)
    placed = [_places(one, step_s) for one in (own, twin)]
    first, last = (edge(int(edge(places)) for places in placed) for edge in (min, max))
    sums = [
        _summed(one, places - first, last - first + 1, unit) for one, places in zip((own, twin), placed, strict=True)
    ]
    seen = (sums[0].seconds > 0) & (sums[1].seconds > 0)
    return Beside(*(Samples(it.amount[seen], it.per[seen], it.seconds[seen]) for it in sums))


def _summed(one: Spent, places: "np.typing.NDArray[np.int64]", count: int, unit: str) -> Samples:
    """Time, load and length by step; nothing where the load was not counted."""
    load = one.loads[unit]
    seen = np.isfinite(load) & (one.seconds > 0)
    columns = (np.where(seen, column, 0.0) for column in (one.whole, np.nan_to_num(load), one.seconds))
    amount, per, seconds = (np.bincount(places, column, count).astype(np.float64) for column in columns)
    return Samples(amount, per, seconds)


def _places(one: Spent, step_s: float) -> "np.typing.NDArray[np.int64]":
    middles = one.grid.since_s + one.grid.step_s * (np.arange(one.grid.count) + 0.5)
    return np.asarray(middles // step_s, dtype=np.int64)


def _load_ratio(before: Samples, after: Samples) -> float | None:
    old, new = (float(one.per.sum() / one.seconds.sum()) if one.rows else 0.0 for one in (before, after))
    return new / old if old and new else None
