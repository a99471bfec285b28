"""Processors: threads, cores, and what a partition may use."""

import pytest

from diagnose.oracle_hosts import oracle_host
from doctord.analyse.host.processors import processors
from doctord.dataset.dataset import Dataset
from reading import read_sample


def test_threads_on_cores() -> None:
    cpus = processors(oracle_host(figures={"v$osstat.NUM_CPU_CORES": 4.0, "v$osstat.BUSY_TIME": 3.8}))
    assert (cpus.logical, cpus.cores, cpus.busy, cpus.in_cores) == (8.0, 4.0, 3.8, False)
    assert cpus.share_cores
    assert cpus.all_cores_busy


def test_without_a_number_of_cores_nothing_is_said_of_them() -> None:
    cpus = processors(oracle_host())
    assert (cpus.cores, cpus.share_cores, cpus.all_cores_busy, cpus.used_up) == (None, False, False, False)


@pytest.mark.parametrize(("platform", "in_cores"), [("AIX-Based Systems (64-bit)", True), ("Linux x86 64-bit", False)])
def test_aix_counts_cpu_time_in_cores(platform: str, *, in_cores: bool) -> None:
    assert processors(oracle_host(settings={"report.platform": platform})).in_cores is in_cores


def test_a_partition_by_lparstat() -> None:
    cpus = processors(Dataset.from_batches(read_sample("lparstat.txt").batches))
    assert (cpus.logical, cpus.cores, cpus.limit) == (8.0, 2.0, 2.0)  # smt=4, uncapped
    assert cpus.consumed == pytest.approx(1.205)
    assert cpus.in_cores
    assert not cpus.used_up


def test_a_capped_partition_may_use_its_entitlement() -> None:
    told = {"lparstat.mode": "Capped", "lparstat.ent": "1.00", "lparstat.lcpu": "8", "lparstat.smt": "4"}
    settings = [{"component": "aix", "name": name, "value": value} for name, value in told.items()]
    used = [{"component": "aix", "name": "lparstat.physc", "value": 0.97}]
    cpus = processors(Dataset.from_rows(setting=settings, statistic=used))
    assert cpus.limit == 1.0
    assert cpus.used_up


def test_nobody_asked_for_cpus_that_were_not_told() -> None:
    assert processors(Dataset.from_rows()).waiting is None
