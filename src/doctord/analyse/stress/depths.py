"""Queue depth: how many requests outstanding fill a device, and from where on more of them only wait.

With one request at a time a device does X(1) a second; with any number no more than its ceiling X. The line X(1) N
meets the ceiling at N = X / X(1), which is Little's law for the ceiling and the time of a lone request: below that
depth the device idles, above it each further request waits. P. J. Denning, J. P. Buzen, "The operational analysis of
queueing network models" (1978), asymptotic bounds; J. D. C. Little, "A proof for the queuing formula L = lambda W"
(1961).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from doctord.analyse.capacity.forecast.intervals import student
from doctord.analyse.capacity.load.estimate import Estimate
from doctord.analyse.capacity.series import Numbers
from doctord.analyse.stress.knee import BLOCK_S, LEVEL, RESAMPLES
from doctord.analyse.stress.latencies import Latencies

NEAR: Final = 0.95  # of the most: more depth gains next to nothing
BLOCKS: Final = 10  # of a step: seconds that follow each other are alike
MANY: Final = 10**6
GAINS: Final = 0.1  # by which the last increase of depth raises the rate where the ceiling was not reached


class Depth(NamedTuple):
    """Requests outstanding, and the latencies of all repeats of that step."""

    outstanding: int
    latencies: Latencies

    @property
    def per_s(self) -> float:
        """Requests done in a second."""
        return self.latencies.number / max(len(self.latencies.counts), 1)


class DepthKnee(NamedTuple):
    """What depths told.

    Attributes:
        per_s: The ceiling: requests a second at all depths that come near (NEAR) the most.
        depth: Where one request at a time, multiplied, meets the ceiling.
        enough: The least of these depths.
        is_reached: Whether more depth was tried that gained next to nothing; else the ceiling lies higher.
    """

    per_s: Estimate
    depth: Estimate
    enough: int
    is_reached: bool


def depth_knee(steps: Sequence[Depth], seed: int = 1917) -> DepthKnee | None:
    """The knee of a sweep over depths, with intervals of resampled seconds; null where nothing was done in a step."""
    ordered = sorted(steps, key=lambda step: step.outstanding)
    rates = np.array([step.per_s for step in ordered])
    if len(rates) < 2 or not rates.all():
        return None
    generator = np.random.default_rng(seed)
    drawn = np.array([_drawn(step, generator) for step in ordered])
    near = rates >= NEAR * rates.max()
    least, ceiling, ceilings = ordered[0].outstanding, float(rates[near].mean()), drawn[near].mean(axis=0)
    last = rates[-1] / rates[:-1].max() - 1
    wider = _wider(min(len(step.latencies.counts) for step in ordered))
    return DepthKnee(
        _estimate(ceiling, ceilings, wider),
        _estimate(float(ceiling / rates[0] * least), ceilings / np.maximum(drawn[0], 1e-9) * least, wider),
        ordered[int(np.argmax(near))].outstanding,
        bool(last < GAINS),
    )


def _drawn(step: Depth, generator: np.random.Generator) -> Numbers:
    """The rate of a step over blocks of its seconds, drawn with replacement, RESAMPLES times."""
    by_second = step.latencies.counts.sum(axis=1)
    seconds = len(by_second)
    length = min(max(seconds // BLOCKS, 1), BLOCK_S)
    blocks = np.lib.stride_tricks.sliding_window_view(by_second, length).mean(axis=1)
    return np.asarray(generator.choice(blocks, (RESAMPLES, -(-seconds // length))).mean(axis=1))


def _estimate(value: float, drawn: Numbers, wider: float) -> Estimate:
    low, high = value + (np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) - value) * wider
    return Estimate(value, min(float(low), value), max(float(high), value))


def _wider(seconds: int) -> float:
    """What an interval of resampled seconds lacks where they are few.

    T. C. Hesterberg, "What teachers should know about the bootstrap" (2015): the expanded percentile interval.
    """
    freedom = max(seconds - 1, 1)
    return student(LEVEL, freedom) / student(LEVEL, MANY) * float(np.sqrt(1 + 1 / freedom))
