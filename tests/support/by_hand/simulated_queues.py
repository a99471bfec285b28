"""Queues of known truth: M/M/m simulated request by request, many loads side by side."""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]


def mmm(
    random: np.random.Generator, servers: int, work_s: float, loads: Numbers, requests: int = 700
) -> tuple[Numbers, Numbers, Numbers]:
    """Requests per second, mean response in seconds, and mean number that wait, of each load: as a monitor sees them.

    First come, first served (J. Kiefer, J. Wolfowitz, 1955): what each server still has to do, sorted, tells how long
    the next request waits. The first requests, which find the queue empty, are not counted.
    """
    left = np.zeros((len(loads), servers))
    seconds, responded, waited = np.zeros(len(loads)), np.zeros(len(loads)), np.zeros(len(loads))
    for number in range(requests + 300):
        gap = random.exponential(1 / loads)
        left = np.maximum(left - gap[:, None], 0)
        work = random.exponential(work_s, len(loads))
        if number >= 300:
            seconds += gap
            waited += left[:, 0]
            responded += left[:, 0] + work
        left[:, 0] += work
        left.sort(axis=1)
    return requests / seconds, responded / requests, waited / seconds
