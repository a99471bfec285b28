"""Whether more sessions want a CPU than there are."""

from datetime import timedelta

import pytest

from diagnose.hosts import START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.case import Case
from doctord.diagnose.causes.host.pool_size import evidence
from doctord.diagnose.common.starved import is_crowded, is_short, starving_moments, wanting
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said


@pytest.mark.parametrize(
    ("sessions", "idle_pct", "crowded"),
    [(4.0, 49.0, True), (3.0, 20.0, False), (4.0, 51.0, False), (12.0, None, False)],
    ids=["two for each CPU", "fewer", "most of the CPUs idle", "idle time unknown"],
)
def test_a_crowd_wants_twice_as_many_cpus_as_there_are(
    sessions: float, idle_pct: float | None, *, crowded: bool
) -> None:
    idle = {"idle_pct": idle_pct, "wait_io_pct": 0.0}
    busy = {"usr_pct": 30.0, "sys_pct": 10.0, "run_wait_pct": 60.0}
    case = Case(host(time={("CPU", "CPU"): sessions}, cpu=idle, cpus=2, backend=busy, backends=int(sessions)))
    assert wanting(case) == pytest.approx(sessions)
    assert is_crowded(case) is crowded
    assert bool(evidence(case)) is crowded


@pytest.mark.parametrize(
    ("queueing", "idle_pct", "calls_per_s", "short"),
    [(0.9, 12.0, 40.0, True), (0.9, 30.0, 40.0, False), (0.3, 12.0, 40.0, False), (0.9, None, 40.0, False),
     (0.9, 12.0, 40_000.0, False), (0.9, 12.0, 600.0, True)],
    ids=["little is left", "there is room", "hardly anybody queues", "idle time unknown", "for microseconds each",
         "more than a millisecond each"],
)  # fmt: skip
def test_a_queue_is_felt_before_no_cpu_is_idle(
    queueing: float, idle_pct: float | None, calls_per_s: float, *, short: bool
) -> None:
    cpu = {"idle_pct": idle_pct, "wait_io_pct": 0.0}
    working = {"usr_pct": 80.0 - queueing * 50, "sys_pct": 0.0, "run_wait_pct": queueing * 50}
    calls = [{"statement_id": "7", "calls_per_s": calls_per_s, "elapsed_s_per_s": 1.6}]
    seen = host(time={("CPU", "CPU"): 1.6}, cpu=cpu, backend=working, backends=2, statements=calls)
    assert is_short(Case(seen)) is short
    causes = {finding.cause for finding in diagnose(seen).findings if finding.severity != "note"}
    assert ("cpu_saturated" in causes) is short


BUSY = {"usr_pct": 30.0, "sys_pct": 10.0, "run_wait_pct": 2.0}
STARVED = {"usr_pct": 5.0, "sys_pct": 1.0, "run_wait_pct": 94.0}
HOG = {"command": "sha256sum", "usr_pct": 90.0, "run_wait_pct": 10.0}


def now_and_then(backends: int = 4, seconds: int = 4, idle_pct: float = 70.0) -> Dataset:
    """Twenty seconds of a host whose CPUs are all taken in the last few of every ten."""
    time = {("CPU", "CPU"): float(backends)}
    spells = [
        (0, 10 - seconds, {"time": {("CPU", "CPU"): 0.42 * backends}, "backend": BUSY, "cpu": {"idle_pct": idle_pct}}),
        (10 - seconds, seconds, {"time": time, "backend": STARVED, "cpu": {"idle_pct": 0.0, "wait_io_pct": 0.0},
                                 "other_processes": [HOG, HOG]}),
    ]  # fmt: skip
    return Dataset.joined(
        host(start=START + timedelta(seconds=ten + at), seconds=length, backends=backends, **changes)
        for ten in (0, 10)
        for at, length, changes in spells
    )


def test_a_neighbour_that_averages_hide() -> None:
    moments = starving_moments(Case(now_and_then()))
    assert moments
    assert (moments.times, moments.seconds, moments.part) == (2, 8.0, pytest.approx(0.4))
    assert moments.waited is not None
    assert moments.waited > 0.9
    findings = diagnose(now_and_then()).findings
    assert [finding.cause for finding in findings[:2]] == ["cpu_other_processes", "cpu_saturated"]
    assert findings[1].explained_by == "cpu_other_processes"
    assert "all else outside the database take 90 % of the CPUs at times: 2 times in 20 s" in said(findings[0].title)
    assert "for 40 % of the time" in said(findings[1].title)


def test_moments_that_hardly_anybody_feels() -> None:
    assert starving_moments(Case(now_and_then(backends=0))) is None
    assert starving_moments(Case(host())) is None


def test_cpus_that_are_nearly_full_all_the_time_have_no_moments() -> None:
    assert starving_moments(Case(now_and_then(idle_pct=20.0))) is None
