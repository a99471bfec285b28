"""Processes that hop, that call all the time, and CPUs that switch too often; and what only looks like it."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

FULL = {"idle_pct": 0.4, "wait_io_pct": 0.0, "usr_pct": 90.0, "sys_pct": 9.0, "pressure_some_pct": 92.0}
REPORT = {
    "command": "postgres: client backend", "usr_pct": 95.0, "sys_pct": 3.0, "vcsw_per_s": 2.0, "icsw_per_s": 320.0,
    "migrations_per_s": 310.0,
}  # fmt: skip
STORM = {"command": "dd", "usr_pct": 25.0, "sys_pct": 70.0, "syscalls_per_s": 1_900_000.0}


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def test_a_process_that_hops() -> None:
    finding = found(host(other_processes=[REPORT]))["process_hops"]
    assert said(finding.title) == "postgres: client backend (pid 5000) is moved from CPU to CPU: 310 a second"
    assert "308 moves per s at least" in figures(finding.for_)
    assert "16 % of its CPU time at most" in figures(finding.for_)
    assert "taskset -cp 5000" in said(finding.remedy[0])
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    "change",
    [
        {"migrations_per_s": 9.0},
        {"migrations_per_s": None},
        {"vcsw_per_s": 2000.0},
        {"vcsw_per_s": None},
    ],
    ids=["left alone", "not looked at", "woken up elsewhere", "sleep unknown"],
)
def test_a_process_that_does_not_hop(change: dict[str, Any]) -> None:
    assert "process_hops" not in found(host(other_processes=[REPORT | change]))


def test_where_no_cpu_is_idle_moves_are_a_note() -> None:
    finding = found(host(cpu=FULL, other_processes=[REPORT]))["process_hops"]
    assert (finding.severity, finding.confidence) == ("note", 0.6)
    assert "0 % of the host's CPU time is idle" in figures(finding.against)


def test_a_storm_of_system_calls() -> None:
    finding = found(host(other_processes=[STORM]))["system_call_storm"]
    assert said(finding.title) == "dd (pid 5000) makes 1,900,000 system calls a second"
    assert "2000000 calls per s on a CPU" in figures(finding.for_)
    assert said(finding.for_[0].why) == "0.37 us in the kernel each"
    assert "doctord trace --pid 5000" in said(finding.remedy[0])


def test_the_part_of_the_host_that_a_storm_is() -> None:
    finding = found(host(other_processes=[STORM], cpu={"syscalls_per_s": 2_000_000.0}))["system_call_storm"]
    assert "95 % of the host's system calls" in figures(finding.for_)
    unlike = found(host(other_processes=[STORM], cpu={"syscalls_per_s": 1000.0}))["system_call_storm"]
    assert "of the host's" not in figures(unlike.for_), "counted at another time"


def test_a_small_storm_on_a_large_host_is_a_note() -> None:
    small = STORM | {"usr_pct": 5.0, "sys_pct": 15.0, "syscalls_per_s": 400_000.0}
    assert found(host(other_processes=[small]))["system_call_storm"].severity == "warning"
    assert found(host(cpus=32, other_processes=[small]))["system_call_storm"].severity == "note"


def test_a_clock_that_is_read_by_a_call_is_named() -> None:
    clock = [{"component": "kernel", "name": "cpu.clocksource", "value": "hpet"}]
    finding = found(host(other_processes=[STORM], extra={"setting": clock}))["system_call_storm"]
    assert "hpet" in figures(finding.for_)


@pytest.mark.parametrize(
    "change",
    [
        {"syscalls_per_s": 9_000.0},
        {"syscalls_per_s": None},
        {"usr_pct": 75.0, "sys_pct": 20.5},
        {"usr_pct": 2.0, "sys_pct": 5.0, "syscalls_per_s": 60_000.0},
    ],
    ids=["long calls", "not counted", "it computes", "for a moment"],
)
def test_much_time_in_the_kernel_is_no_storm(change: dict[str, Any]) -> None:
    assert "system_call_storm" not in found(host(other_processes=[STORM | change]))


def test_a_storm_explains_the_full_cpus() -> None:
    queueing = {"usr_pct": 6.0, "sys_pct": 2.0, "run_wait_pct": 24.0}
    findings = found(
        host(cpu=FULL | {"run_queue": 9.0}, time={("CPU", "CPU"): 1.2}, backend=queueing, other_processes=[STORM])
    )
    assert next(iter(findings)) == "system_call_storm"
    assert findings["cpu_other_processes"].explained_by == "system_call_storm"


def test_switching_between_too_many_tasks() -> None:
    busy = FULL | {"run_queue": 24.0, "csw_per_s": 110_000.0, "icsw_per_s": 50_000.0}
    findings = found(host(cpu=busy, time={("CPU", "CPU"): 6.0}, backend={"usr_pct": 48.0, "run_wait_pct": 50.0}))
    finding = findings["switching_too_often"]
    assert said(finding.title) == "12 % of the CPU time goes into switching between tasks that are all ready"
    assert finding.explained_by == "cpu_saturated"
    assert finding.impact.known == "at_most"
    assert "12.0 tasks running or ready per CPU" in figures(finding.for_)


@pytest.mark.parametrize(
    "change",
    [{"icsw_per_s": 900.0}, {"run_queue": 2.0}, {"icsw_per_s": None}, {"csw_per_s": 60_000.0}],
    ids=["few", "nobody waits", "unknown", "tasks that yield"],
)
def test_many_switches_that_cost_little_are_no_finding(change: dict[str, Any]) -> None:
    busy = FULL | {"run_queue": 24.0, "csw_per_s": 110_000.0, "icsw_per_s": 50_000.0} | change
    assert "switching_too_often" not in found(host(cpu=busy, time={("CPU", "CPU"): 6.0}))
