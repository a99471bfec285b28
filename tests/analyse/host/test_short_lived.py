"""Processes that no sample saw, by name."""

from typing import Any

import polars as pl
import pytest

from diagnose.hosts import host
from doctord.analyse.host.processes import processes
from doctord.analyse.host.short_lived import as_processes, short_lived
from doctord.dataset.dataset import Dataset

GZIP = {
    ("gzip", "short_lived.ends_per_s"): 100.0,
    ("gzip", "short_lived.cpu_s_per_s"): 0.2,
    ("gzip", "short_lived.elapsed_s"): 0.004,
}
POSTGRES = {("postgres", "short_lived.ends_per_s"): 30.0, ("postgres", "short_lived.cpu_s_per_s"): 0.3}


def test_they_are_summed_up_by_name_and_those_of_the_server_are_known() -> None:
    own, other = short_lived(host(seconds=20, kernel=GZIP | POSTGRES))
    assert (own.command, own.database, own.count, own.elapsed_s) == ("postgres", True, 600.0, None)
    assert (own.cpu_s, other.cpu_s) == (pytest.approx(6.0), pytest.approx(4.0))
    assert (other.command, other.database, other.count) == ("gzip", False, 2000.0)
    assert other.elapsed_s == pytest.approx(0.004)


def test_a_life_is_the_mean_over_all_who_ended() -> None:
    first, last = host().frame("cpu")["ts"][0], host().frame("cpu")["ts"][-1]
    base = {"component": "kernel", "entity": "gzip", "host": "h"}
    ends = base | {"name": "short_lived.ends_per_s", "interval_s": 1.0}
    elapsed = base | {"name": "short_lived.elapsed_s"}
    statistic: list[dict[str, Any]] = [
        ends | {"ts": first, "value": 30.0},
        ends | {"ts": last, "value": 10.0},
        elapsed | {"ts": first, "value": 0.1},
        elapsed | {"ts": last, "value": 0.5},
    ]
    (found,) = short_lived(Dataset.from_rows(statistic=statistic))
    assert (found.count, found.elapsed_s) == (40.0, pytest.approx(0.2))


def test_they_stand_among_the_processes_without_a_number() -> None:
    dataset = host(kernel=GZIP)
    rows = as_processes(short_lived(dataset), processes(dataset))
    assert rows.filter(pl.col("pid").is_null()).select("command", "database", "cpu_s").rows() == [
        ("gzip", False, pytest.approx(4.0))
    ]
    assert rows.height == processes(dataset).height + 1


def test_of_those_who_were_not_told_there_is_nothing() -> None:
    assert short_lived(host()) == []
