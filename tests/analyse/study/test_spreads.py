from datetime import timedelta

import numpy as np
import pytest

from doctord.analyse.study.figures import requests, translation
from doctord.analyse.study.spent import Spent, spent
from doctord.analyse.study.spreads import histograms, quantiles
from doctord.dataset.dataset import Dataset
from study_series import START, latencies, of_a_server

ROWS = 600


def server(seed: int, slow: float = 1.0, share: float = 0.5) -> Spent:
    """A server whose slow steps take so many times as long."""
    cost = latencies(np.random.default_rng(seed), ROWS, share, 0.02)
    cost[cost > 0.025] *= slow
    found = spent(of_a_server(cost, np.full(ROWS, 100.0)))
    assert found
    return found


def test_a_change_of_the_slow_steps_alone_moves_their_quantiles_alone() -> None:
    found = {one.share: one for one in quantiles(server(1), server(2, slow=2.0), "commit")}
    middle, slow = found[0.5], found[0.95]
    assert middle.low < 1 < middle.high  # type: ignore[operator]
    assert slow.low > 1.3  # type: ignore[operator]
    assert slow.ratio == pytest.approx(2, abs=0.4)


def test_intervals_of_quantiles_hold_the_truth_of_equal_periods() -> None:
    """300 medians and 95th percentiles of equal servers: at 95 % fifteen are expected outside."""
    outside = 0
    for seed in range(150):
        found = {one.share: one for one in quantiles(server(2 * seed), server(2 * seed + 1), "commit")}
        outside += sum(not found[share].low <= 1 <= found[share].high for share in (0.5, 0.95))  # type: ignore[operator]
    assert outside <= 30


def test_steps_that_resemble_each_other_for_long_have_no_interval() -> None:
    assert {one.low for one in quantiles(server(1, share=0.995), server(2, share=0.995), "commit")} == {None}


def of_histograms(*counts: int, times: int = 1) -> Dataset:
    edges = [0.0, 100.0, 1000.0, 10_000.0]
    rows = [
        {
            "ts": START + timedelta(seconds=second), "interval_s": 1.0, "host": "db1", "subject": "vda read",
            "gt_us": low, "le_us": high, "count": count * times,
        }
        for second in range(1, 11)
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]  # fmt: skip
    return Dataset.from_rows(latency=rows)


def test_twice_as_many_of_the_same_shape() -> None:
    (found,) = histograms(of_histograms(50, 30, 20), of_histograms(50, 30, 20, times=2))
    assert (found.subject, found.is_alike, found.times_as_many) == ("vda read", True, 2.0)


def test_another_shape_is_told_by_how_many_lie_elsewhere() -> None:
    (found,) = histograms(of_histograms(50, 30, 20), of_histograms(20, 30, 50))
    assert not found.is_alike
    assert found.difference.moved == pytest.approx(0.3)


def test_few_waits_have_no_shape() -> None:
    assert [*histograms(of_histograms(1, 1, 1), of_histograms(1, 1, 1))] == []


def test_requests_and_misses_of_the_tlb_are_figures() -> None:
    requested = [{"ts": START, "device": "a", "operation": "read", "bytes": size} for size in (16_384, 65_536)]
    found = {one.key.name: one.samples.value for one in requests(Dataset.from_rows(block_io=requested))}
    assert found == {"smallest I/O": 16_384, "largest I/O": 65_536}
    missed = [
        {"ts": START, "cpu": cpu, "mode": mode, "page_bytes": 8192, "dtlb_pct": 4.0, "dtsb_pct": 1.0}
        for cpu in (0, 1)
        for mode in ("user", "kernel")
    ]
    (misses,) = translation(Dataset.from_rows(translation=missed))
    assert (misses.samples.value, misses.better) == (10.0, "low")
