"""The knee in depth of simulated devices, whose true one is known."""

import numpy as np
import pytest

from doctord.analyse.stress.depths import Depth, depth_knee
from doctord.analyse.stress.latencies import Latencies, counted

SERVERS, SERVICE_S, SECONDS = 4, 0.01, 10
CEILING = SERVERS / SERVICE_S


def device(depth: int, seed: int, noise: float = 0.02) -> Latencies:
    """So many requests outstanding at a device of SERVERS servers, by the second."""
    generator = np.random.default_rng(seed + depth)
    per_s = min(depth, SERVERS) / SERVICE_S
    by_second = np.maximum(generator.normal(per_s, noise * per_s, SECONDS), 1).astype(int)
    ended_s = np.repeat(np.arange(SECONDS) + 0.5, by_second)
    return counted(ended_s, np.full(len(ended_s), depth / per_s * 1e6), SECONDS)


def sweep(seed: int = 1, depths: tuple[int, ...] = (1, 2, 4, 8, 16, 32)) -> list[Depth]:
    return [Depth(depth, device(depth, seed)) for depth in depths]


def test_the_knee_of_a_device_is_found() -> None:
    found = [depth_knee(sweep(seed)) for seed in range(20)]
    known = [one for one in found if one is not None]
    assert len(known) == 20
    assert all(one.depth.value == pytest.approx(SERVERS, rel=0.1) for one in known)
    assert all(one.per_s.value == pytest.approx(CEILING, rel=0.05) for one in known)
    assert sum(one.depth.low <= SERVERS <= (one.depth.high or 0) for one in known) >= 15
    assert {one.enough for one in known} == {4}
    assert all(one.is_reached for one in known)


def test_a_ceiling_that_was_not_reached() -> None:
    found = depth_knee(sweep(depths=(1, 2, 4)))
    assert found is not None
    assert not found.is_reached


def test_the_order_in_which_depths_were_given_is_of_no_matter() -> None:
    assert depth_knee(sweep()[::-1]) == depth_knee(sweep())


def test_nothing_is_told_of_one_depth_or_of_a_step_that_did_nothing() -> None:
    assert depth_knee(sweep(depths=(4,))) is None
    assert depth_knee([*sweep(depths=(1, 2)), Depth(4, Latencies.zeros(SECONDS))]) is None
    assert depth_knee([]) is None
