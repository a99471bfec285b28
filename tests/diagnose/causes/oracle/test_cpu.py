"""CPU of Oracle: time model against the host."""

import re
from pathlib import Path

import pytest

from diagnose.oracle_hosts import found
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.formats import read_file
from doctord.report.phrases import said
from reading import SAMPLES

FULL = {"idle_pct": 3.0, "wait_io_pct": 2.0}
OURS = {"v$osstat.BUSY_TIME": 7.6, "v$osstat.LOAD": 30.0}
# A shared partition of AIX: 64 threads on 16 virtual CPUs, three quarters of them idle, and a queue all the same.
PARTITION = {
    "v$osstat.NUM_CPUS": 64.0, "v$osstat.NUM_LCPUS": 64.0, "v$osstat.NUM_VCPUS": 16.0, "v$osstat.NUM_CPU_CORES": 16.0,
    "v$osstat.BUSY_TIME": 17.0, "v$osstat.IDLE_TIME": 47.0, "v$osstat.LOAD": 50.0, "v$osstat.OS_CPU_WAIT_TIME": 30.0,
}  # fmt: skip
MOSTLY_IDLE = {"idle_pct": 73.0, "wait_io_pct": 0.0}


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


def test_processes_beside_the_report_name_who_used_the_cpus() -> None:
    """As a pidstat of a part of the report's time."""
    hog = {"pid": 7, "command": "gzip", "user": "backup", "usr_pct": 150.0, "sys_pct": 10.0}
    finding = found(host=FULL, unaccounted_s_per_s=3.0, cpu_s_per_s=4.0, extra={"process": [hog]})["host_cpu_short"]
    (told,) = (item for item in finding.for_ if item.table == "process")
    assert said(told.figure) == "gzip (pid 7, user backup): 20 % of the host's CPU time"


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


def test_tasks_that_waited_for_a_cpu_speak_louder_than_idle_threads() -> None:
    findings = found(figures=PARTITION, host=MOSTLY_IDLE, unaccounted_s_per_s=12.0, cpu_s_per_s=3.0)
    assert "time_unaccounted" not in findings
    finding = findings["host_cpu_short"]
    assert finding.impact.share == pytest.approx(12 / 15.25, abs=0.02)
    told = {said(item.figure): said(item.why) for item in finding.for_}
    assert "30.0 tasks waited for a CPU on average" in told
    assert told["17.0 threads at work on average"] == "on 16 cores: no idle logical CPU (64 in all) is an idle core"
    assert not finding.against  # neither idle threads, nor CPU time in parts of cores held against busy threads


def test_busy_cores_are_no_queue_without_missing_time() -> None:
    assert not found(figures=PARTITION, host=MOSTLY_IDLE, unaccounted_s_per_s=0.02, cpu_s_per_s=3.0)


@pytest.mark.parametrize(
    ("waiting", "cause"),
    [(0.2, "time_unaccounted"), (None, "time_unaccounted"), (5.0, "host_cpu_short")],
)
def test_so_many_tasks_wait_as_sessions_are_missing(waiting: float | None, cause: str) -> None:
    figures = {"v$osstat.OS_CPU_WAIT_TIME": waiting}
    findings = found(figures=figures, unaccounted_s_per_s=3.0)
    assert {"time_unaccounted", "host_cpu_short"} & findings.keys() == {cause}
    unseen = [said(item.what) for item in findings[cause].not_measured]
    assert bool(unseen) is (waiting is None)


def test_idle_threads_of_shared_cores_are_no_argument() -> None:
    figures = {"v$osstat.NUM_CPUS": 16.0, "v$osstat.NUM_CPU_CORES": 8.0, "v$osstat.BUSY_TIME": 5.0}
    finding = found(figures=figures, unaccounted_s_per_s=3.0)["time_unaccounted"]
    assert not any("run queue is not full" in said(item.why) for item in finding.for_)
    assert any("8 cores of 16 logical CPUs" in said(item.figure) for item in finding.for_)


def test_a_partition_that_used_all_it_may() -> None:
    used = {"LPAR.PhysicalCPU": 3.9, "LPAR.virtualCPUs": 4.0, "LPAR.logicalCPUs": 16.0, "LPAR.entitled": 4.0}
    finding = found(figures=used, unaccounted_s_per_s=3.0, host=MOSTLY_IDLE)["host_cpu_short"]
    assert any("all that the partition may use" in said(item.why) for item in finding.for_)


def test_what_the_resource_manager_held_back_is_counted() -> None:
    finding = found(waits={"resmgr:cpu quantum": (20.0, 30.0)}, figures={"v$osstat.RSRC_MGR_CPU_WAIT_TIME": 0.6})[
        "resource_manager_limits"
    ]
    assert any("held back" in said(item.figure) for item in finding.for_)


def _os_rows(**values: int) -> str:
    return "".join(f"<tr><td>{name}</td><td>{value:,}</td><td>&#160;</td></tr>\n" for name, value in values.items())


def test_a_report_of_a_partition_with_more_than_half_of_its_time_unaccounted_for(tmp_path: Path) -> None:
    whole = (SAMPLES / "awr.html").read_text(encoding="utf-8")
    row = re.search(r"<tr><td[^>]*>NUM_CPUS.*?</tr>\n", whole)
    assert row is not None
    rows = _os_rows(
        NUM_CPUS=64, NUM_LCPUS=64, NUM_VCPUS=16, NUM_CPU_CORES=16, OS_CPU_WAIT_TIME=900_000, RSRC_MGR_CPU_WAIT_TIME=0
    )
    report = tmp_path / "awr.html"
    report.write_text(whole.replace(row[0], rows).replace(">7,200.00<", ">18,000.00<"), encoding="utf-8")
    findings = {
        one.cause: one for one in diagnose(Dataset.from_batches(read_file(report, zone="UTC").batches)).findings
    }
    assert "time_unaccounted" not in findings
    finding = findings["host_cpu_short"]
    assert any(said(item.figure) == "2.5 tasks waited for a CPU on average" for item in finding.for_)
    assert finding.impact.share is not None
    assert finding.impact.share > 0.5


@pytest.mark.parametrize("figures", [PARTITION | {"v$osstat.OS_CPU_WAIT_TIME": 0.0}, {}])
def test_idle_threads_are_no_sign_that_holders_of_mutexes_ran(figures: dict[str, float]) -> None:
    waits = {"library cache: mutex X": (100.0, 10.0)}
    finding = found(figures=figures, host=MOSTLY_IDLE, waits=waits)["library_cache_contention"]
    assert any("the holders were running" in said(item.why) for item in finding.for_) is not bool(figures)
