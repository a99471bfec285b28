import numpy as np
import pytest

from doctord.analyse.stress.latencies import counted, together


def test_quantiles_are_those_of_the_latencies() -> None:
    latency_us = np.random.default_rng(1).lognormal(8, 1, 50_000)
    found = counted(np.linspace(0, 9.99, len(latency_us)), latency_us, 10)
    assert found.number == len(latency_us)
    for share in (0.5, 0.95, 0.99):
        assert found.quantile_us(share) == pytest.approx(np.quantile(latency_us, share), rel=0.025)
    assert latency_us.max() <= (found.largest_us() or 0) <= 1.03 * latency_us.max()


def test_what_ends_late_counts_to_the_last_second_and_nothing_is_lost() -> None:
    found = counted(np.array([0.5, 3.0]), np.array([100.0, 1e12]), 2)
    assert found.counts.sum(axis=1).tolist() == [1, 1]
    assert together([found, found]).number == 4


def test_of_no_latency_there_is_no_quantile() -> None:
    empty = counted(np.zeros(0), np.zeros(0), 3)
    assert (empty.quantile_us(0.5), empty.largest_us()) == (None, None)
