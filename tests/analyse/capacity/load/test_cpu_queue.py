"""The queue for the CPUs."""

import numpy as np
import pytest

from doctord.analyse.capacity.load.cpu_queue import fitted
from doctord.analyse.capacity.load.queueing import Erlang
from simulated_queues import mmm

pytestmark = pytest.mark.slow


def knee(cpus: int, variability: float) -> float:
    one = np.ones(1)
    return float(Erlang(one, one * cpus, one * cpus, one * variability).load_at(2.0)[0])


def test_simulated_cpus_hold_their_knee_in_nine_of_ten_runs() -> None:
    random = np.random.default_rng(20261121)
    held, told = 0, 0
    for cpus in (1, 2, 4, 8):
        for _ in range(5):
            loads = (0.1 + 0.8 * random.beta(2, 2, 300)) * cpus / 0.02
            rate, _, waits = mmm(random, cpus, 0.02, loads, requests=1500)
            queue = fitted(rate * 0.02, waits, cpus)
            told += not queue.why
            at = queue.knee()
            held += at.low <= knee(cpus, 1) <= (at.high or 0)
    assert told == 20
    assert held >= 18


def test_bursts_make_tasks_wait_longer_and_the_knee_come_sooner() -> None:
    busy = np.linspace(0.5, 7.2, 300)
    one = np.ones(1)
    curve = Erlang(one, one * 8, one * 8, one * 4)
    waits = np.array([float(curve.response(load)[0] - 1) * load for load in busy])
    queue = fitted(busy, waits + np.random.default_rng(1).normal(0, 0.5, 300), 8)
    assert queue.knee().value == pytest.approx(knee(8, 4), rel=0.03)
    assert queue.saturation.value == 8
    assert queue.curves[0].name.startswith("M/M/8, waits times ")


@pytest.mark.parametrize(
    ("busy", "waits", "why"),
    [
        (np.linspace(0.1, 3, 50), np.zeros(50), "tasks hardly wait for a CPU up to 38 % busy"),
        (np.linspace(4, 5, 50), np.ones(50), "mostly 4.05 to 4.99 CPUs were busy"),
        (np.full(50, 8.0), np.full(50, 20.0), "all CPUs were busy in 100 % of the time: they are saturated"),
        (np.zeros(50), np.zeros(50), "0 points with CPUs neither idle nor all busy"),
    ],
)
def test_it_says_what_cannot_be_told(busy: np.ndarray, waits: np.ndarray, why: str) -> None:
    assert why in fitted(busy, waits, 8).why
