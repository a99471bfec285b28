"""Sessions that somebody traces."""

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

STOPPED = {("CPU", "CPU"): 0.15, ("Other", "ptrace_stop"): 0.05}


def found(**more: object) -> dict[str, Finding]:
    return {one.cause: one for one in diagnose(host(**{"time": STOPPED} | more)).findings}  # type: ignore[arg-type]


def test_the_tracer_is_named() -> None:
    strace = {"command": "strace", "usr_pct": 6.0, "sys_pct": 8.0, "user": "root"}
    finding = found(other_processes=[strace])["processes_traced"]
    assert (finding.severity, finding.confidence) == ("warning", 0.95)
    assert said(finding.title) == "Sessions are traced by strace: 25 % of database time stands still for that"
    assert "strace (pid 5000): 0.14 CPUs" in [said(one.figure) for one in finding.for_]


def test_a_tracer_that_nobody_sees_is_looked_for() -> None:
    finding = found()["processes_traced"]
    assert finding.confidence == 0.85
    assert "TracerPid" in said(finding.not_measured[0].grant)


def test_little_of_it_is_a_note() -> None:
    assert found(time={("CPU", "CPU"): 0.47, ("Other", "ptrace_stop"): 0.03})["processes_traced"].severity == "note"


def test_a_moments_look_is_none() -> None:
    assert "processes_traced" not in found(time={("CPU", "CPU"): 0.5, ("Other", "ptrace_stop"): 0.005})
