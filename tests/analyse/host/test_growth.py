"""Memory that grows: told from a cache that fills, a start, and noise."""

from collections.abc import Callable
from datetime import timedelta
from math import exp
from typing import Any

import numpy as np
import pytest

from diagnose.hosts import START
from doctord.analyse.host.growth import growths, trend
from doctord.dataset.dataset import Dataset

MIB = 2.0**20


def watched(size: Callable[[float], float], *, minutes: int = 60, **process: Any) -> Dataset:
    times = [START + timedelta(seconds=10 * n) for n in range(minutes * 6 + 1)]
    statistic = [
        {"ts": ts, "host": "h", "component": "kernel", "entity": "tnslsnr (pid 7)", "name": "process.anon_bytes",
         "value": size((ts - START).total_seconds()), "kind": "gauge"}
        for ts in times
    ]  # fmt: skip
    about = {"host": "h", "pid": 7, "interval_s": 10.0, "command": "tnslsnr", "started": START - timedelta(hours=5)}
    rows = [about | {"ts": times[0], "threads": 1}, about | {"ts": times[-1], "threads": 1} | process]
    return Dataset.from_rows(statistic=statistic, process=rows)


def test_a_leak_is_told_with_its_interval() -> None:
    noise = np.random.default_rng(1).normal(0, MIB, 10_000)
    (found,) = growths(watched(lambda s: 50 * MIB + 0.02 * MIB * s + noise[int(s)]))
    assert found.bytes_per_s == pytest.approx(0.02 * MIB, rel=0.05)
    assert 0 < found.low < 0.02 * MIB < found.high
    assert (found.command, found.pid, found.threads) == ("tnslsnr", 7, 1.0)
    assert found.age_s == pytest.approx(6 * 3600)


@pytest.mark.parametrize(
    "size",
    [
        lambda _: 400 * MIB,
        lambda s: 400 * MIB * (1 - exp(-s / 600)),
        lambda s: min(100 + s / 10, 200) * MIB,
        lambda s: (100 + 60 * (s % 600 > 300)) * MIB,
        lambda s: (400 + s / 3600) * MIB,
        lambda s: (400 - s / 36) * MIB,
    ],
    ids=["steady", "a cache that fills", "came to rest", "breathes", "too little to tell", "shrinks"],
)
def test_what_is_no_leak(size: Callable[[float], float]) -> None:
    assert growths(watched(size)) == []


def test_a_few_minutes_tell_nothing() -> None:
    assert growths(watched(lambda s: (50 + s) * MIB, minutes=9)) == []


def test_threads_that_became_more_are_told() -> None:
    assert growths(watched(lambda s: (50 + s / 10) * MIB, threads=4))[0].threads == 4.0


def test_a_far_value_does_not_move_the_trend() -> None:
    values = np.arange(30.0)
    values[20] = 1e9
    slope, low, high = trend(np.arange(30.0), values)
    assert (slope, low) == (1.0, 1.0)
    assert high < 2
    assert trend(np.arange(2.0), np.arange(2.0)) == (0.0, 0.0, 0.0)
