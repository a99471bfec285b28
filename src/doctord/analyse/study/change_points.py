"""When the cost moved: change points within a period, beside the moment of the change that somebody names.

The candidate is where the sum of departures from the mean is largest, weighed so that each place is as likely by
chance (the likelihood ratio of a step). It counts where both sides, as periods of their own, differ by more than the
largest of all places does by chance: 8.85 is what the supremum of Wald's statistic passes in 5 % of series without a
step, sought in the middle 70 % (D. W. K. Andrews, "Tests for parameter instability and structural change with unknown
change point", 1993). The errors are those of batch means, so that rows that resemble their neighbours make no step.
Both sides are then looked at likewise (binary segmentation: L. Yu. Vostrikova, 1981), and parts where the whole shows
none (after S. Kovács and others, "Seeded binary segmentation", 2020).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from math import erfc, sqrt
from typing import Final

import numpy as np

from doctord.analyse.study.difference import LEVEL, Difference, difference
from doctord.analyse.study.samples import FEWEST, Numbers, Samples
from doctord.analyse.study.spent import Spent

TRIMMED: Final = 0.15  # of a period at either end, where no step is sought
LARGEST_BY_CHANCE: Final = 8.85
RARE: Final = erfc(sqrt(LARGEST_BY_CHANCE / 2))  # how often chance alone passes that at one given place
FEWEST_ROWS: Final = 4 * FEWEST
DEEPEST: Final = 3
IN_PARTS: Final = 10  # so many times rarer a step must be in a part, for there are several parts


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A moment within a period at which its cost changed, and the cost after over that before it."""

    at: datetime
    difference: Difference


@dataclass(frozen=True, slots=True)
class ChangePoints:
    """When the cost of a unit of load moved.

    Attributes:
        before, after: Change points within each period, in order of time.
        ended, began: When the period before ends, and that after begins: what was changed was so between them.
        at_the_change: The last level of the period before against the first one of that after; null where there is no
            moment within either: it is the difference of the periods then.
    """

    before: tuple[ChangePoint, ...]
    after: tuple[ChangePoint, ...]
    ended: datetime
    began: datetime
    at_the_change: Difference | None = None

    @property
    def is_elsewhere(self) -> bool:
        """Whether nothing moved at the change itself, but within one of the periods."""
        return self.at_the_change is not None and (self.at_the_change.p or 0.0) > 1 - LEVEL


def change_points(before: Spent, after: Spent, unit: str) -> ChangePoints:
    """When the cost of a unit moved, within both periods."""
    old, new = _Rows.of(before, unit), _Rows.of(after, unit)
    first, second = (sorted(_steps(rows, 0, rows.samples.rows)) for rows in (old, new))
    ended, began = old.time(old.samples.rows), new.time(0)
    found = [tuple(_point(rows, places, place) for place in places) for rows, places in ((old, first), (new, second))]
    at_the_change = None
    if first or second:
        last = old.samples.part(first[-1] if first else 0, old.samples.rows)
        at_the_change = difference(last, new.samples.part(0, second[0] if second else new.samples.rows))
    return ChangePoints(found[0], found[1], ended, began, at_the_change)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a period, and when each of them began and ended."""

    samples: Samples
    begins_s: Numbers
    ends_s: Numbers

    @classmethod
    def of(cls, spent: Spent, unit: str) -> "_Rows":
        load = spent.loads[unit]
        seen = (spent.seconds > 0) & np.isfinite(load)
        begins = (spent.grid.since_s + spent.grid.step_s * np.arange(spent.grid.count)).astype(np.float64)
        samples = Samples(spent.whole[seen], load[seen], spent.seconds[seen])
        return cls(samples, begins[seen], begins[seen] + spent.grid.step_s)

    def time(self, place: int) -> datetime:
        """When a row began; of the one behind the last, when that ended."""
        at_s = self.begins_s[place] if place < len(self.begins_s) else self.ends_s[-1]
        return datetime.fromtimestamp(float(at_s), UTC)


def _steps(rows: _Rows, begin: int, end: int, depth: int = 0) -> Iterator[int]:
    """Places between two rows at which the cost changed by more than chance.

    Where the whole shows none, its halves and its middle are looked at: a level that came and went hides in the whole.
    """
    place = _step(rows.samples, begin, end, RARE)
    quarter = (end - begin) // 4
    parts = ((begin + quarter * first, begin + quarter * (first + 2)) for first in (0, 1, 2))
    if place is None:
        place = next((at for part in parts if (at := _step(rows.samples, *part, RARE / IN_PARTS)) is not None), None)
    if place is None or depth == DEEPEST:
        return
    yield place
    yield from _steps(rows, begin, place, depth + 1)
    yield from _steps(rows, place, end, depth + 1)


def _step(samples: Samples, begin: int, end: int, rare: float) -> int | None:
    """The likeliest place of a step between two rows, where chance alone makes it so rarely; null: there is none."""
    place = _likeliest(samples.part(begin, end))
    if place is None:
        return None
    found = difference(samples.part(begin, begin + place), samples.part(begin + place, end))
    return begin + place if found.p is not None and found.p <= rare else None


def _likeliest(samples: Samples) -> int | None:
    """The place at which a step is likeliest; null where rows are too few, or nothing was done."""
    whole = float(samples.per.sum())
    if samples.rows < FEWEST_ROWS or not whole or not samples.value:
        return None
    share = np.cumsum(samples.per)[:-1] / whole
    off = np.cumsum(samples.amount - samples.value * samples.per)[:-1]
    least = max(FEWEST, int(TRIMMED * samples.rows))
    places = np.arange(1, samples.rows)
    inside = (places >= least) & (places <= samples.rows - least) & (share > 0) & (share < 1)
    if not inside.any():
        return None
    weighed = np.abs(off[inside]) / np.sqrt(share[inside] * (1 - share[inside]))
    return int(places[inside][np.argmax(weighed)])


def _point(rows: _Rows, places: list[int], place: int) -> ChangePoint:
    """A step, by the levels on both of its sides, up to the next ones."""
    edges = [0, *places, rows.samples.rows]
    number = edges.index(place, 1)
    sides = (rows.samples.part(edges[number - 1], place), rows.samples.part(place, edges[number + 1]))
    return ChangePoint(rows.time(place), difference(*sides))
