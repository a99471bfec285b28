"""When it was bad: the interval that tells a recording's figures apart best, on the side on which clients suffer.

Figures are ranked over time, so that one spike counts no more than one step, and no unit matters. Of all intervals that
one is taken of which the ranks inside differ most from those outside: the share of all variance that lies between the
two (one-way analysis of variance on ranks: W. H. Kruskal, W. A. Wallis, "Use of ranks in one-criterion variance
analysis", 1952; sought over all places as A. J. Scott and M. Knott cut groups, "A cluster analysis method for grouping
means in the analysis of variance", 1974). Figures that go together share their say. What is found is taken out, and the
rest is looked at again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
import numpy.typing
import polars as pl

from doctord.analyse.incidents.figures import Figures
from doctord.analyse.study.samples import Numbers
from doctord.analyse.vitals import FEWEST_WINDOWS, SCALE_OF_MAD, SELDOM

Steps = np.typing.NDArray[np.int64]

FEWEST_STEPS: Final = 60  # a minute: of less nobody knows what is usual
SHORTEST: Final = 8  # steps of an interval
LONGEST: Final = 0.5  # of all steps: what takes longer is the usual
MOST: Final = 5
# So many times as long do clients wait at least: less is no incident, however sure it is.
TIMES: Final = 1.5
GROWTH: Final = 1.15  # of lengths that are tried first
# How far inside ranks lie above those outside, in standard deviations, for clients to suffer at all.
ABOVE: Final = 0.25


@dataclass(frozen=True, slots=True)
class BadInterval:
    """An interval in which clients suffered.

    Attributes:
        begin, end: Its first step, and the one behind its last.
        since, until: The same as moments, UTC.
        explained: Share (0 to 1) of the variance of all ranks that is between it and the rest, by figures' weights.
        times: How many times as long clients waited as usual; null where nothing was done in it, or nothing tells.
    """

    begin: int
    end: int
    since: datetime
    until: datetime
    explained: float
    times: float | None


def bad_intervals(figures: Figures) -> list[BadInterval]:
    """The intervals of a recording in which clients waited longer than in the rest, the one told apart best first.

    None where they never did: it is as good, or as bad, throughout. At most five.

    Args:
        figures: of a minute and more; of which one tells how long clients wait.
    """
    return list(_intervals(figures)) if figures.steps >= FEWEST_STEPS and figures.suffers is not None else []


def _intervals(figures: Figures) -> Iterator[BadInterval]:
    left = np.arange(figures.steps)
    for _ in range(MOST):
        if len(left) < FEWEST_STEPS:
            return
        found = likeliest(figures, left)
        if found is None:
            return
        begin, end, explained = found
        inside, outside = left[begin:end], np.concatenate([left[:begin], left[end:]])
        times, is_sure = _suffers(figures, inside, outside)
        if is_sure:  # else something else was different then, which is no reason to look no further
            first, last = int(inside[0]), int(inside[-1]) + 1
            yield BadInterval(first, last, _moment(figures, first), _moment(figures, last), explained, times)
        left = np.concatenate([left[: max(0, begin - SHORTEST)], left[end + SHORTEST :]])  # its edges are no incidents


def likeliest(figures: Figures, steps: Steps | None = None) -> tuple[int, int, float] | None:
    """The interval of some steps that is told apart best, whether by chance or not: begin, end, share of variance.

    No interval is taken that reaches over a step that is left out; null where clients suffer in none.
    """
    chosen = np.arange(figures.steps) if steps is None else steps
    ranks = _ranks(figures.values[chosen][:, figures.is_cost])
    weights = _weights(ranks)
    is_seam = np.diff(chosen) > 1
    seams = np.concatenate([[0.0], np.cumsum(np.concatenate([[0], is_seam]))])
    suffering = np.ones(len(chosen))
    if figures.suffers is not None:
        suffering = _ranks(figures.values[chosen][:, [figures.suffers]])[:, 0]
    sums = np.vstack([np.zeros(ranks.shape[1]), np.cumsum(ranks * np.sqrt(weights), axis=0)])
    search = _Search(sums, np.concatenate([[0.0], np.cumsum(suffering)]), seams)
    return search.best()


@dataclass(frozen=True, eq=False)
class _Search:
    """Sums of ranks up to each step, of all figures and of the one by which clients suffer, and of seams."""

    sums: Numbers
    suffering: Numbers
    seams: Numbers

    def best(self) -> tuple[int, int, float] | None:
        """Lengths that grow by a seventh first, and then all that are near the best of them."""
        count = len(self.sums) - 1
        longest = int(LONGEST * count)
        lengths, length = set[int](), float(SHORTEST)
        while length <= longest:
            lengths.add(int(length))
            length *= GROWTH
        first = max((self._best_of(one) for one in lengths | {longest}), default=None)
        if first is None or first[0] <= 0:
            return None
        near = range(max(SHORTEST, int(first[2] / GROWTH)), min(longest, int(first[2] * GROWTH) + 1) + 1)
        explained, begin, length = max(self._best_of(one) for one in near)
        return begin, begin + int(length), explained

    def _best_of(self, length: int) -> tuple[float, int, int]:
        """The best interval of a length: share of variance, begin, length."""
        count = len(self.sums) - 1
        inside = self.sums[length:] - self.sums[:-length]
        between = np.einsum("ij,ij->i", inside, inside) / (length * (count - length))
        suffers = (self.suffering[length:] - self.suffering[:-length]) / length >= ABOVE
        is_whole = self.seams[length:] - self.seams[1 : len(self.seams) - length + 1] == 0
        between[~(suffers & is_whole)] = 0.0
        place = int(between.argmax())
        return float(between[place]), place, length


def _ranks(values: Numbers) -> Numbers:
    """Each figure's ranks over time, of mean 0 and standard deviation 1; 0 where it was not measured."""
    ranks = np.zeros(values.shape)
    for number, column in enumerate(values.T):
        known = ~np.isnan(column)
        own = pl.Series(column[known]).rank().to_numpy() if known.any() else np.zeros(0)
        if len(own) > 1 and own.std() > 0:
            ranks[known, number] = (own - own.mean()) / own.std()
    return ranks


def _weights(ranks: Numbers) -> Numbers:
    """What each figure counts, 1 in all: of those that go together each the less, the more of them there are."""
    count = len(ranks)
    correlated = (ranks.T @ ranks / count) ** 2
    alive = np.diag(correlated) > 0
    weights = np.where(alive, 1 / np.maximum(correlated.sum(axis=0), 1e-9), 0.0)
    whole = float(weights.sum())
    return np.asarray(weights / whole if whole else weights, dtype=np.float64)


def _suffers(figures: Figures, inside: Steps, outside: Steps) -> tuple[float | None, bool]:
    """How many times as long clients wait inside as usual, and whether that is seldom so; null: for ever.

    Usual is the median of parts of the rest, and seldom passed what lies four robust standard deviations above it
    (F. R. Hampel, "The influence curve and its role in robust estimation", 1974).
    """
    length = min(len(inside), len(outside) // FEWEST_WINDOWS)
    parts = np.array([_wait(figures, part) for part in np.array_split(outside, len(outside) // length)])
    known = parts[~np.isnan(parts)]
    ill = _wait(figures, inside)
    if len(known) < FEWEST_WINDOWS // 2 or np.isnan(ill):
        return None, False
    usual = float(np.median(known))
    if not np.isfinite(usual) or usual <= 0:
        return None, False
    high = usual + SELDOM * SCALE_OF_MAD * float(np.median(np.abs(known - usual)))
    times = None if np.isinf(ill) else ill / usual
    return times, times is None or (times >= TIMES and ill > high)


def _wait(figures: Figures, steps: Steps) -> float:
    """How long clients wait in some steps: database time for each commit, or the mean of what else tells it.

    Infinite where sessions were at work and nothing was committed; NaN where nothing was measured.
    """
    if np.isfinite(figures.done).any():
        known = ~(np.isnan(figures.spent_s[steps]) | np.isnan(figures.done[steps]))
        spent, done = (column[steps][known].sum() for column in (figures.spent_s, figures.done))
        return float(spent / done) if done else np.inf if spent else np.nan
    values = figures.values[steps, figures.suffers or 0]
    told = values[~np.isnan(values)]
    return float(told.mean()) if len(told) else np.nan


def _moment(figures: Figures, step: int) -> datetime:
    return datetime.fromtimestamp(figures.since_s + step * figures.step_s, UTC)
