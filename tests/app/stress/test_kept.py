"""Load tests as rows of a lake."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from doctord.analyse.stress.latencies import Latencies, counted
from doctord.app.stress.database import Asked, Ran, Stress
from doctord.app.stress.kept import FIO, Kept, batches, keep_database
from doctord.app.study.study import Question, Study, of_paths
from doctord.dataset.dataset import Dataset
from doctord.lake.query import Lake
from doctord.read.source import ReadOptions
from doctord.stress.kits import select
from doctord.stress.pgbench import Given

SECONDS = 10
ENDED_US = 1_795_000_000_000_000


def latencies(per_s: int, ms: float, seed: int = 1) -> Latencies:
    ended_s = np.concatenate([np.full(per_s + at % 3, at + 0.5) for at in range(SECONDS)])
    spread = np.random.default_rng(seed).lognormal(0.0, 0.1, len(ended_s))
    return counted(ended_s, ms * 1000 * spread, SECONDS)


def test_figures_of_a_step_and_latencies_of_its_seconds() -> None:
    kept = Kept(FIO, "depth 4, 8 KiB read", "fio read", ENDED_US, latencies(100, 2.0), 8192)
    dataset = Dataset.from_batches(list(batches(kept)))
    rows = dataset.frame("statistic")
    told = dict(rows.select("name", "value").iter_rows())
    assert set(told) == {"fio.iops", "fio.bw", "fio.lat_mean", "fio.lat_p50", "fio.lat_p95", "fio.lat_p99"}
    assert (told["fio.iops"], told["fio.bw"]) == (100.9, 100.9 * 8192)
    assert told["fio.lat_p50"] == pytest.approx(2000, rel=0.05)
    assert set(rows["interval_s"]) == {10.0}
    by_second = dataset.frame("latency").group_by("ts").agg(pl.col("count").sum()).sort("ts")
    assert by_second["count"].to_list()[:4] == [100, 101, 102, 100]
    assert by_second["ts"].dt.epoch("us").to_list()[-2:] == [ENDED_US - 1_000_000, ENDED_US]


def test_a_step_that_did_nothing_has_no_rows() -> None:
    assert list(batches(Kept(FIO, "depth 4", "fio read", ENDED_US, Latencies.zeros(SECONDS)))) == []


def kept_in(lake: Path, ms: float, ended_us: int) -> Path:
    """A lake of a database whose transactions take so long, loaded at some time."""
    probe = Given(None, 4, SECONDS, latencies(round(4000 / ms), ms), 0, None, 1.0, "", ended_us)
    steps = [
        Given(50.0, 32, SECONDS, latencies(50, ms, seed), 0, 0.0, 1.0, "", ended_us + seed * 20_000_000)
        for seed in (1, 2, 3)
    ]
    given = [Ran(step, None, None) for step in steps]
    keep_database(Stress(Asked("host=db", select(1 << 20)), "15", [probe], given, 20.0), lake)
    return lake


def test_two_configurations_of_a_database_are_compared(tmp_path: Path) -> None:
    slow, fast = kept_in(tmp_path / "slow", 4.0, ENDED_US), kept_in(tmp_path / "fast", 2.0, ENDED_US + 10**9)
    span = Lake(slow).span() or pytest.fail("nothing was kept")
    assert (span[1] - span[0]).total_seconds() == pytest.approx(69)
    study: Study = of_paths([slow, fast], ReadOptions(), Question())
    rows = {(row.key.name, row.key.of): row for row in study.parts[0].last.all_rows}
    assert rows["pgbench.run_tps", "4 clients"].difference.ratio == pytest.approx(2.0, rel=0.02)
    apart = rows["pgbench.run_latency_avg_ms", "50/s"].difference
    assert apart.ratio == pytest.approx(0.5, rel=0.02)
    assert (apart.low or 0) < 0.5 < (apart.high or 0)  # three repeats tell an interval
    assert study.verdict == "better"
