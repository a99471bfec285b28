"""The queue for the CPUs: how long work takes against how busy they are, by M/M/c with the CPUs that there are.

Load is the number of busy CPUs, response the seconds that a second of work takes: tasks running or waiting, divided by
those running (J. D. C. Little, 1961). Saturation is known, all CPUs; what is fitted is by how much longer tasks wait
than Poisson arrivals would let them, for work comes in bursts.
"""

from typing import Final

import numpy as np

from doctord.analyse.capacity.load.queue_fit import FEWEST, SPREAD, Queue, in_bins, resampled, thinned
from doctord.analyse.capacity.load.queueing import RHO, Erlang, waiting
from doctord.analyse.capacity.series import Numbers

FULL: Final = 0.97  # busier CPUs are saturated: how long the queue is then says nothing about the load
# What is left is divided by the stretch to this power: relative to it first. Where the curve is not quite that of
# M/M/c, another factor comes out where the busiest bins count most, and the interval holds both.
WEIGHTS: Final = (2, -1)
MOSTLY: Final = 0.5
ROUNDS: Final = 8  # of weighting; three would do
FELT: Final = 0.1  # what tasks wait at the highest load, in times of their work: less tells nothing


def fitted(busy: Numbers, waits: Numbers, cpus: int, seed: int = 1917) -> Queue:
    """The curve of stretch against busy CPUs, through points in the order of time.

    Args:
        busy: Busy CPUs, of each point.
        waits: Tasks that wait for a CPU, of each, on average; samples may be below nothing by chance.
        cpus: How many CPUs there are.
        seed: Of the resampling.
    """
    known = np.isfinite(busy) & np.isfinite(waits) & (busy > 0) & (busy < FULL * cpus)
    count = int(known.sum())
    full = float(np.mean(busy[np.isfinite(busy)] >= FULL * cpus)) if np.isfinite(busy).any() else 0.0
    if full > MOSTLY:
        return Queue(points=count, why=f"all CPUs were busy in {100 * full:.0f} % of the time: they are saturated")
    if count < FEWEST:
        return Queue(points=count, why=f"{count} points with CPUs neither idle nor all busy, and it takes {FEWEST}")
    busy, waits = thinned(busy[known]), thinned(waits[known])
    load, queue = (part.mean(axis=2) for part in in_bins(*resampled(busy, waits, seed)))
    lowest, highest = float(busy.min()), float(busy.max())

    def untold(why: str) -> Queue:
        return Queue((), lowest, highest, count, why)

    if load[0, -1] < SPREAD * load[0, 0]:
        return untold(f"mostly {load[0, 0]:.3g} to {load[0, -1]:.3g} CPUs were busy: the load must double")
    expected = np.interp(load / cpus, RHO, waiting(cpus))
    factors = [_variability(expected, queue / load, power) for power in WEIGHTS]
    if factors[0][0] * expected[0, -1] < FELT or min(np.quantile(factor, 0.025) for factor in factors) <= 0:
        return untold(f"tasks hardly wait for a CPU up to {100 * highest / cpus:.0f} % busy")
    ones = np.ones(len(load))
    curves = [Erlang(ones, ones * cpus, ones * cpus, np.maximum(factor, 1e-3)) for factor in factors]
    return Queue(curves, lowest, highest, count)


def _variability(expected: Numbers, waited: Numbers, power: float) -> Numbers:
    """The factor between waits, per second of work, in each row, by weighted least squares."""
    factor = np.ones(len(expected))
    for _ in range(ROUNDS):
        weight = 1 / (1 + np.maximum(factor, 0)[:, None] * expected) ** power
        factor = (weight * expected * waited).sum(axis=1) / (weight * expected**2).sum(axis=1)
    return np.asarray(factor)
