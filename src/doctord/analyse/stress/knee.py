"""The knee: the largest load at which a server still answers within its service level, with an interval.

Between the last step that holds it and the first that does not, the load is taken where the logarithm of the quantile
crosses the level. The interval is that of resampled seconds (B. Efron, "Bootstrap methods: another look at the
jackknife", 1979), in blocks of BLOCK_S since neighbouring seconds are alike (H. R. Künsch, 1989).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from doctord.analyse.capacity.load.estimate import Estimate
from doctord.analyse.stress.latencies import Counts, Latencies, quantile_us

RESAMPLES: Final = 400
BLOCK_S: Final = 5
LEVEL: Final = 0.95
SHARE: Final = 0.99


class Step(NamedTuple):
    """A load, what was seen of it in all its repeats, and whether the server kept up with it each time."""

    offered_per_s: float
    latencies: Latencies
    keeps_up: bool


class Knee(NamedTuple):
    """What a server takes.

    Attributes:
        load: Transactions per second, with its interval; null where even the least load is too much.
        is_reached: Whether a larger load was tried that does not hold the level; else the load is the largest tried.
    """

    load: Estimate | None
    is_reached: bool


def knee(steps: Sequence[Step], limit_us: float, seed: int = 1917) -> Knee:
    """The knee of steps for a service level: so much of the transactions (SHARE) take no longer than the limit."""
    ordered = sorted(steps, key=lambda step: step.offered_per_s)
    best = _crossing(ordered, limit_us, (step.latencies.counts.sum(axis=0) for step in ordered))
    if best is None:
        return Knee(None, is_reached=True)
    generator = np.random.default_rng(seed)
    resampled = [_resampling(step.latencies.counts, generator) for step in ordered]
    found = [_crossing(ordered, limit_us, (one() for one in resampled)) or 0.0 for _ in range(RESAMPLES)]
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    last = ordered[-1]
    is_reached = not _holds(last, limit_us, last.latencies.counts.sum(axis=0))
    return Knee(Estimate(best, min(float(low), best), max(float(high), best) if is_reached else None), is_reached)


def _crossing(steps: Sequence[Step], limit_us: float, sums: Iterable[Counts]) -> float | None:
    before: tuple[float, float] | None = None  # load and quantile of the last step that holds
    for step, counts in zip(steps, sums, strict=True):
        took_us = quantile_us(counts, SHARE) or np.inf
        if _holds(step, limit_us, counts):
            before = step.offered_per_s, took_us
        elif before is None:
            return None
        elif took_us <= limit_us:  # too much for it, though those that were served were served in time
            return before[0]
        else:
            part = np.log(limit_us / before[1]) / np.log(took_us / before[1]) if np.isfinite(took_us) else 0.0
            return float(before[0] + part * (step.offered_per_s - before[0]))
    return before and before[0]


def _holds(step: Step, limit_us: float, counts: Counts) -> bool:
    took_us = quantile_us(counts, SHARE)
    return step.keeps_up and took_us is not None and took_us <= limit_us


def _resampling(counts: Counts, generator: np.random.Generator) -> Callable[[], Counts]:
    """Draws blocks of seconds, with replacement, and sums them by bucket, each time anew."""
    length = min(BLOCK_S, len(counts))
    until = np.concatenate([np.zeros_like(counts[:1]), counts.cumsum(axis=0)])
    blocks = until[length:] - until[:-length]
    number = -(-len(counts) // length)
    return lambda: np.asarray(blocks[generator.integers(0, len(blocks), number)].sum(axis=0), np.int64)


def first_change(verdicts: Mapping[float, str | None]) -> tuple[float, str] | None:
    """The least load at which the first cause is another than at the least load of all, and that cause.

    >>> first_change({10.0: None, 20.0: None, 30.0: "cpu_saturated", 40.0: "cpu_saturated"})
    (30.0, 'cpu_saturated')
    """
    loads = sorted(verdicts)
    for load in loads:
        cause = verdicts[load]
        if cause is not None and cause != verdicts[loads[0]]:
            return load, cause
    return None
