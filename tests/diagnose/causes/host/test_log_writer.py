"""A log writer that loses its CPU or does not get one, and one that is well."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

PID = 900
STARVED = {"icsw_per_s": 5.0, "vcsw_per_s": 290.0, "run_wait_pct": 53.0, "usr_pct": 0.0, "sys_pct": 1.2}


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def test_log_writer_that_loses_the_cpu() -> None:
    writer = {"icsw_per_s": 40.0, "vcsw_per_s": 60.0, "run_wait_pct": 20.0}
    finding = found(host(time={("Commit", "WALSync"): 3.0}, log_writer=writer))["log_writer_preempted"]
    assert "postgres: walwriter: 40% of its switches involuntary, 200 ms of every second" in figures(finding.for_)
    assert finding.impact.share == pytest.approx(0.2)


@pytest.mark.parametrize(
    "writer",
    [
        {"icsw_per_s": 1.0, "run_wait_pct": 5.0},
        {"icsw_per_s": 1.0, "run_wait_pct": 20.0, "usr_pct": 60.0},
        {"command": "postgres: checkpointer", "icsw_per_s": 1.0, "run_wait_pct": 20.0},
        {"icsw_per_s": 40.0, "run_wait_pct": 0.2},
        {"icsw_per_s": None, "vcsw_per_s": None, "run_wait_pct": 20.0},
        {"icsw_per_s": 40.0, "run_wait_pct": None},
        {"command": "postgres: bench app", "icsw_per_s": 40.0, "run_wait_pct": 20.0},
    ],
    ids=[
        "gives up the CPU itself",
        "runs longer than it waits",
        "nobody waits for it at each wake-up",
        "hardly waits",
        "switches unknown",
        "waiting unknown",
        "an ordinary session",
    ],
)
def test_log_writer_that_is_well(writer: dict[str, Any]) -> None:
    assert "log_writer_preempted" not in found(host(log_writer=writer))


def placed(told: dict[str, str], *idle_pct: float) -> Dataset:
    """A starved log writer with these settings, on a host whose CPUs are idle for so much of the time."""
    rows = [{"component": "process", "name": f"{PID} postgres: walwriter.{name}", "value": told[name]} for name in told]
    cpus = [{"cpu": number, "idle_pct": idle} for number, idle in enumerate(idle_pct)]
    return host(log_writer=STARVED, cpus=0, extra={"setting": rows, "cpu": cpus})


def preempted(dataset: Dataset) -> Finding:
    return found(dataset)["log_writer_preempted"]


def test_a_log_writer_that_waits_whenever_it_is_woken() -> None:
    finding = preempted(host(log_writer=STARVED))
    assert said(finding.title).endswith("waits for a CPU whenever it is woken")
    assert "530 ms of every second in the run queue" in figures(finding.for_)
    assert said(finding.for_[0].why) == "it had work to do and no CPU; it ran 12 ms of every second"
    assert "renice -n -5" in said(finding.remedy[0])


def test_its_cpu_and_its_priority_are_named() -> None:
    finding = preempted(placed({"policy": "SCHED_OTHER", "nice": "10", "cpus": "0"}, 0.0, 60.0))
    assert "SCHED_OTHER, nice 10, CPUs 0" in figures(finding.for_)
    assert "postgres: walwriter 0 % idle time of the CPUs it is bound to" in figures(finding.for_)
    steps = [said(step) for step in finding.remedy]
    assert "taskset -acp 0-1" in steps[0]
    assert "renice -n 0" in steps[1]
    assert not finding.against


def test_room_on_its_own_cpus_speaks_against_it() -> None:
    finding = preempted(placed({"policy": "SCHED_OTHER", "nice": "0", "cpus": "0"}, 50.0, 60.0))
    assert "50 % idle time of the CPUs it is bound to" in figures(finding.against)


def test_one_that_is_real_time_already_is_not_told_to_be_niced() -> None:
    finding = preempted(placed({"policy": "SCHED_FIFO", "rt_priority": "10", "cpus": "0-1"}, 50.0, 60.0))
    assert "SCHED_FIFO, priority 10, CPUs 0, 1" in figures(finding.for_)
    assert not any("renice -n -5 -p" in said(step) for step in finding.remedy)


def test_where_sessions_are_grouped_their_priority_is_what_counts() -> None:
    rows = [
        {"component": "process", "name": f"{PID} postgres: walwriter.autogroup_nice", "value": "0"},
        {"component": "kernel", "name": "kernel.sched_autogroup_enabled", "value": "1"},
    ]
    finding = preempted(host(log_writer=STARVED, extra={"setting": rows}))
    assert any(f"echo -5 > /proc/{PID}/autogroup" in said(step) for step in finding.remedy)
    alone = preempted(host(log_writer=STARVED, extra={"setting": rows[:1]}))
    assert not any("/autogroup" in said(step) for step in alone.remedy)


def test_while_it_waits_the_commits_wait_for_it() -> None:
    """Sessions wait for commits for half of the time, and for two fifths of that the log writer waits for its CPU."""
    writer = STARVED | {"run_wait_pct": 20.0}
    finding = preempted(host(time={("Commit", "WALSync"): 0.5, ("CPU", "CPU"): 0.1}, log_writer=writer))
    assert finding.impact.share == pytest.approx(0.5 / 0.6 * 0.4, abs=0.03)
