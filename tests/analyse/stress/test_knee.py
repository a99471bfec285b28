"""The knee of simulated queues, whose true one is known."""

import numpy as np
import pytest

from doctord.analyse.stress.knee import Knee, Step, knee
from doctord.analyse.stress.latencies import Latencies, counted

SERVICE_S, SECONDS = 0.01, 600
CEILING = 1 / SERVICE_S


def queue(load_per_s: float, seed: int) -> Latencies:
    """One server, arrivals and service times exponential (M/M/1), from empty."""
    generator = np.random.default_rng(seed)
    arrivals = np.cumsum(generator.exponential(1 / load_per_s, int(load_per_s * SECONDS)))
    ended, ends = 0.0, list[float]()
    for arrival, service in zip(arrivals, generator.exponential(SERVICE_S, len(arrivals)), strict=True):
        ended = max(arrival, ended) + service
        ends.append(ended)
    return counted(np.array(ends), (np.array(ends) - arrivals) * 1e6, SECONDS)


def steps(seed: int = 1) -> list[Step]:
    return [Step(part * CEILING, queue(part * CEILING, seed), keeps_up=True) for part in (0.1, 0.3, 0.5, 0.7, 0.85)]


def true_knee(limit_s: float) -> float:
    """The response of M/M/1 is exponential, of the mean 1 / (ceiling - load)."""
    return CEILING - np.log(100) / limit_s


def test_the_knee_of_a_queue_is_found() -> None:
    tried = [steps(seed) for seed in range(6)]
    for limit_ms in (100, 150, 200):
        found = [knee(one, limit_ms * 1000).load for one in tried]
        near = [one for one in found if one and one.value == pytest.approx(true_knee(limit_ms / 1000), rel=0.1)]
        assert len(near) >= 5
        assert sum(one.low <= true_knee(limit_ms / 1000) * 1.05 <= (one.high or 0) * 1.1 for one in found if one) >= 4


def test_a_level_that_no_load_holds() -> None:
    assert knee(steps(), 100) == Knee(None, is_reached=True)


def test_more_was_not_tried() -> None:
    found = knee(steps(), 1e9)
    assert found.load is not None
    assert (found.load.value, found.load.high, found.is_reached) == (0.85 * CEILING, None, False)


def test_a_load_that_it_does_not_keep_up_with_is_beyond_the_knee_though_what_was_served_was_quick() -> None:
    three = steps()[:3]
    found = knee([*three, Step(70.0, three[0].latencies, keeps_up=False)], 1e6)
    assert found.is_reached
    assert found.load is not None
    assert found.load.value == 50.0
