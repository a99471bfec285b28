"""Queues of known truth, what the casebook tells of disks and caches, and what cannot be told."""

import numpy as np
import pytest

from doctord.analyse.capacity.load.queue_fit import Queue, fitted
from doctord.analyse.capacity.load.queueing import Erlang
from simulated_queues import Numbers, mmm

pytestmark = pytest.mark.slow

RANDOM_READS = np.array([1, 2, 4, 8, 16, 32, 64, 128.0])
"""Sessions of a load test in steps, each of which asks for a block as soon as it has the last."""


def holds(estimate: object, truth: float) -> bool:
    low, high = estimate.low, estimate.high  # type: ignore[attr-defined]
    return bool(low <= truth <= (np.inf if high is None else high))


def disks(count: int, per_s: float, sessions: Numbers) -> tuple[Numbers, Numbers]:
    """Requests per second and response of equal disks, each with a queue of its own (P. Denning, J. Buzen, 1978)."""
    rate = count * per_s * sessions / (sessions + count - 1)
    return rate, sessions / rate


def test_simulated_queues_hold_their_saturation_in_nine_of_ten_runs() -> None:
    random = np.random.default_rng(20261121)
    held = knees = told = runs = 0
    for most in (0.7, 0.85, 0.95):
        for servers in (1, 2, 4, 8, 16):
            runs += 1
            work_s = 10 ** random.uniform(-4, -2)
            loads = (0.1 + (most - 0.1) * random.beta(2, 2, 400)) * servers / work_s
            queue = fitted(*mmm(random, servers, work_s, loads)[:2])
            if queue.why:
                continue
            true = Erlang(np.array([work_s]), np.array([servers / work_s]), np.array([servers]), np.ones(1))
            told += 1
            held += holds(queue.saturation, servers / work_s)
            knees += holds(queue.knee(), float(true.load_at(2.0)[0]))
    assert told >= 0.7 * runs
    assert held >= 0.9 * told
    assert knees >= 0.9 * told


def test_load_steps_reveal_the_saturation_of_23_disks_near_4600() -> None:
    random = np.random.default_rng(7)
    rate, response = disks(23, 200, np.repeat(RANDOM_READS, 10))
    queue = fitted(rate * random.normal(1, 0.02, len(rate)), response * random.normal(1, 0.03, len(rate)))
    assert queue.saturation.value == pytest.approx(4600, rel=0.03)
    assert holds(queue.saturation, 4600)
    assert queue.service.value == pytest.approx(0.0048, rel=0.05)
    assert queue.is_far(9500)
    assert not queue.is_far(8000)


def test_few_steps_far_from_saturation_say_how_little_they_tell() -> None:
    random = np.random.default_rng(7)
    rate, response = disks(23, 200, np.repeat(RANDOM_READS[:4], 10))
    queue = fitted(rate * random.normal(1, 0.02, len(rate)), response * random.normal(1, 0.03, len(rate)))
    assert queue.saturation.high is None or queue.saturation.high > 1.3 * queue.saturation.low


@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_a_cache_answers_as_fast_at_any_load(noise: float) -> None:
    random = np.random.default_rng(3)
    rate = random.uniform(500, 25_000, 500)
    queue = fitted(rate, 0.0006 * np.exp(random.normal(0, noise, 500)))
    assert queue.why.startswith("the response does not depend on the load up to 2.")
    assert not queue.curves


def test_a_throttle_is_flat_until_its_limit() -> None:
    random = np.random.default_rng(3)
    sessions = np.exp(random.uniform(np.log(0.05), np.log(30), 600))
    rate = np.minimum(sessions / 0.0005, 1000) * random.normal(1, 0.02, 600)
    queue = fitted(rate, sessions / rate)
    assert queue.saturation.value == pytest.approx(1000, rel=0.01)
    assert queue.service.value == pytest.approx(0.0005, rel=0.02)
    assert queue.knee().value > 950


def test_an_hour_of_nonsense_changes_little() -> None:
    random = np.random.default_rng(5)
    rate, response = disks(23, 200, np.repeat(RANDOM_READS, 30))
    response = response * random.normal(1, 0.03, len(rate))
    response[::40] *= 30
    assert fitted(rate, response).saturation.value == pytest.approx(4600, rel=0.05)


def test_the_response_at_a_load_is_told_and_the_load_of_a_response() -> None:
    queue = fitted(*disks(23, 200, RANDOM_READS))
    assert queue.response(2300).value == pytest.approx(2 * 22 / 4600, rel=0.01)
    assert queue.response(5000).high is None
    at = queue.load_at(0.02)
    assert at is not None
    assert queue.response(at.value).value == pytest.approx(0.02, rel=0.01)
    assert queue.load_at(0.001) is None


@pytest.mark.parametrize(
    ("loads", "responses", "why"),
    [
        ([1, 2, 3], [1, 1, 1], "3 points with requests, and it takes 8"),
        ([100, 0, np.nan, -1, np.inf] * 3, [0.01] * 15, "3 points with requests"),
        (np.linspace(100, 120, 20), np.linspace(0.01, 0.02, 20), "the load was mostly 100 to 120: it must double"),
        (np.linspace(100, 1000, 20), np.linspace(0.02, 0.01, 20), "does not depend on the load"),
    ],
)
def test_it_says_what_cannot_be_told(loads: list[float], responses: list[float], why: str) -> None:
    queue: Queue = fitted(np.array(loads, float), np.array(responses, float))
    assert why in queue.why
    assert not queue.curves
