"""CPU of Oracle: time model against the host."""

import pytest

from diagnose.oracle_hosts import found
from doctord.report.phrases import said

FULL = {"idle_pct": 3.0, "wait_io_pct": 2.0}
OURS = {"v$osstat.BUSY_TIME": 7.6, "v$osstat.LOAD": 30.0}


@pytest.mark.parametrize(
    ("host", "unaccounted", "cause"),
    [
        (FULL, 1.5, {"host_cpu_short"}),
        ({}, 1.5, {"time_unaccounted"}),
        (FULL, 0.02, set()),
        ({}, 0.1, set()),
    ],
)
def test_unaccounted_time_is_the_run_queue_only_on_a_full_host(
    host: dict[str, float], unaccounted: float, cause: set[str]
) -> None:
    assert set(found(host=host, unaccounted_s_per_s=unaccounted, cpu_s_per_s=4.0)) == cause


def test_a_full_host_with_a_long_run_queue_is_said_without_a_share() -> None:
    findings = found(host=FULL, cpu_s_per_s=7.0, figures=OURS)
    assert findings["host_cpu_short"].impact.share is None


@pytest.mark.parametrize(("cpu", "others"), [(7.0, False), (1.0, True)])
def test_who_used_the_cpus(cpu: float, *, others: bool) -> None:
    finding = found(host=FULL, unaccounted_s_per_s=3.0, cpu_s_per_s=cpu, figures=OURS)["host_cpu_short"]
    assert any("others" in said(item.why) for item in finding.against) is others


def test_the_statement_with_most_cpu_is_named() -> None:
    statement = {"statement_id": "abc", "elapsed_s_per_s": 3.0, "cpu_s_per_s": 2.9, "text": "select 1 from dual"}
    finding = found(host=FULL, unaccounted_s_per_s=3.0, cpu_s_per_s=4.0, statements=[statement])["host_cpu_short"]
    assert any("abc" in said(item.figure) for item in finding.for_)


@pytest.mark.parametrize("full", [False, True])
def test_the_resource_manager_is_the_cause_where_cpus_are_idle(*, full: bool) -> None:
    finding = found(
        waits={"resmgr:cpu quantum": (20.0, 30.0)},
        host=FULL if full else {},
        settings={"cpu_count": "4", "resource_manager_plan": "DEFAULT_PLAN"},
    )["resource_manager_limits"]
    assert bool(finding.against) is full
    assert any("caging" in said(item.why) for item in finding.for_)


def test_a_fault_of_other_things_shows_as_contention_on_a_full_host() -> None:
    findings = found(
        waits={"library cache: mutex X": (100.0, 10.0)}, host=FULL, unaccounted_s_per_s=3.0, cpu_s_per_s=5.0
    )
    assert findings["library_cache_contention"].explained_by == "host_cpu_short"


@pytest.mark.parametrize(
    ("figures", "above"),
    [
        ({"vmstat.cpu ec": 95.0}, False),
        ({"vmstat.cpu ec": 180.0}, True),
        ({"LPAR.PhysicalCPU": 1.5, "LPAR.entitled": 1.0}, True),
        ({"LPAR.PhysicalCPU": 1.5}, False),
    ],
)
def test_a_partition_above_its_entitlement(figures: dict[str, float], *, above: bool) -> None:
    assert ("partition_above_entitlement" in found(figures=figures)) is above
