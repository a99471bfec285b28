"""prstat in all its layouts."""

from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from latency_files import read_text
from read.texts import SAMPLES, dataset_of, dataset_of_sample, values
from shared import CASEBOOK, sample


def test_microstates() -> None:
    found = dataset_of(sample(CASEBOOK / "cpu/prstat-m.txt"))
    columns = ("pid", "command", "user", "usr_pct", "sys_pct", "sleep_pct", "run_wait_pct", "threads")
    assert found.frame("process").select(columns).rows() == [
        (5221, "oracle", "oraodsup", 100.0, 0.0, 0.0, None, 1),
        (5400, "oracle", "oraodsup", 29.0, 2.4, 69.0, None, 1),
    ]
    assert values(found, "prstat.ICX", "5221 oracle") == [11.0]
    assert values(found, "prstat.SCL", "5400 oracle") == [1000.0]


def test_counts_become_rates_where_the_interval_is_told() -> None:
    process = dataset_of_sample("prstat.m.txt", every_s=10.0).frame("process").filter(pid=1201)
    assert process["icsw_per_s"].to_list() == [900.0, 800.0]
    assert process["run_wait_pct"].to_list() == [30.0, 30.0]
    assert dataset_of_sample("prstat.m.txt").frame("process")["icsw_per_s"].null_count() == 3


def test_sizes_and_sums_by_user() -> None:
    found = dataset_of(sample(CASEBOOK / "cpu/prstat-a.txt"))
    assert found.frame("process")["rss_bytes"].to_list() == [11 * 1024**3]
    assert values(found, "prstat.TIME", "29192 oracle") == [12 * 60 + 59.0]
    assert values(found, "prstat.user.RSS", "oraodsup") == [1969 * 1024.0**3]
    assert values(found, "prstat.user.MEMORY", "oraodsup") == [77.0]
    assert values(found, "prstat.user.NPROC", "oraodsup") == [185.0]


def test_zones_and_the_last_line() -> None:
    found = dataset_of_sample("prstat.Z.txt")
    assert values(found, "prstat.zone.TIME", "dbzone") == [2 * 86400 + 3600.0]
    assert values(found, "prstat.zone.CPU", "global") == [0.4]
    assert values(found, "prstat.load_5m") == [1.1]
    assert values(found, "prstat.lwps") == [812.0]


def test_a_process_is_the_sum_of_its_threads() -> None:
    found = dataset_of_sample("prstat.mL.txt")
    (process,) = found.frame("process").to_dicts()
    assert (process["usr_pct"], process["sys_pct"], process["lock_pct"]) == (50.0, 6.0, 80.0)
    assert process["sleep_pct"] == pytest.approx(59.0)
    assert values(found, "prstat.lwp.LCK", "1300/12 java") == [80.0]
    (rates,) = dataset_of_sample("prstat.mL.txt", every_s=5.0).frame("process").to_dicts()
    assert rates["vcsw_per_s"] == 30.0


@pytest.mark.parametrize(("printed", "count"), [("999", 999.0), ("15K", 15000.0), (".3M", 3e5), (".12M", 1.2e6)])
def test_large_counts(tmp_path: Path, printed: str, count: float) -> None:
    """As prstat's Format_num prints them: hundred thousands behind a point."""
    text = (SAMPLES / "prstat.m.txt").read_text().replace(" 2K ", f" {printed} ")
    found = Dataset.from_batches(read_text(tmp_path, text).batches)
    assert values(found, "prstat.SCL", "1201 oracle") == [count, count]


def test_threads_by_user(tmp_path: Path) -> None:
    text = """Please wait...
   PID USERNAME  SIZE   RSS STATE  PRI NICE      TIME  CPU LGRP PROCESS/LWPID
  1201 oracle     20G   11G cpu3    10    0   0:12:59 3.1%    1 oracle/1
  NLWP USERNAME  SWAP   RSS MEMORY      TIME  CPU
   812 oracle     30G   22G    68%   1:10:00  26%
Total: 118 processes, 812 lwps, load averages: 1.20, 1.10, 1.05
"""
    reading = read_text(tmp_path, text)
    found = Dataset.from_batches(reading.batches)
    assert reading.skipped_lines == 0
    assert values(found, "prstat.user.NLWP", "oracle") == [812.0]
    assert values(found, "prstat.lwp.CPU", "1201/1 oracle") == [3.1]
