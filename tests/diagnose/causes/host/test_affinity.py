"""A server that may run on some CPUs only."""

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

WAITING = {("CPU", "CPU"): 1.0, ("Scheduler", "run queue"): 4.0}
BOUND = {"900 postgres: postmaster": "0", "901 postgres: checkpointer": "0"}


def found(allowed: dict[str, str], own: float = 0.0, others: float = 90.0) -> dict[str, Finding]:
    """The findings on a host of two CPUs, the first of which has so much idle time, and the second so much."""
    settings = [{"component": "process", "name": f"{name}.cpus", "value": value} for name, value in allowed.items()]
    first = {"idle_pct": own, "usr_pct": 100.0 - own, "sys_pct": 0.0}
    second = {"cpu": 1, "idle_pct": others, "usr_pct": 100.0 - others, "sys_pct": 0.0}
    queueing = {"run_wait_pct": 95.0, "usr_pct": 4.0}
    seen = host(
        time=WAITING, cpus=1, cpu=first, backend=queueing, extra={"setting": settings, "cpu": [second]}
    )  # fmt: skip
    return {finding.cause: finding for finding in diagnose(seen).findings}


def test_its_cpu_is_full_while_the_other_one_is_idle() -> None:
    findings = found(BOUND)
    assert next(iter(findings)) == "server_bound_to_cpus"
    finding = findings["server_bound_to_cpus"]
    assert said(finding.title) == "The server may run on 1 of 2 CPUs (0), which are full while others are idle"
    assert (finding.severity, finding.against) == ("critical", ())
    assert findings["cpu_saturated"].explained_by == "server_bound_to_cpus"


@pytest.mark.parametrize(
    ("allowed", "own", "others"),
    [(BOUND, 0.0, 5.0), (BOUND, 40.0, 90.0), (dict.fromkeys(BOUND, "0-1"), 0.0, 90.0), ({}, 0.0, 90.0)],
    ids=["both are full", "its own is not", "it may run on both", "not told"],
)
def test_else_it_is_not_why(allowed: dict[str, str], own: float, others: float) -> None:
    assert "server_bound_to_cpus" not in found(allowed, own, others)
