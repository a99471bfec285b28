"""Limits of the system: descriptors and processes."""

from collections.abc import Mapping
from datetime import timedelta

import pytest

from diagnose.causes.service.test_failing import failing, figure, found
from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

OWN = 'ERROR 53000 could not open file "base/?": Too many open files'
OF_HOST = 'ERROR 53000 could not open file "base/?": Too many open files in system'
LIMITS = {
    (None, "limits.open_files"): 64.0, (None, "limits.open_files_used"): 63.0, (None, "limits.host_files"): 9000.0,
    (None, "limits.host_files_used"): 8990.0, (None, "limits.processes"): 4000.0,
}  # fmt: skip


@pytest.mark.parametrize("error", [OWN, OWN.replace(" 53000", "")])
def test_a_process_may_open_no_more_files(error: str) -> None:
    finding = found(failing({error: 5.0}, postgres=LIMITS, settings={"max_files_per_process": "1000"}))[
        "descriptors_used_up"
    ]
    title = f"Statements of {DB} fail, for its processes have too many open files: 100 times"
    assert said(finding.title) == title
    told = [f"{said(item.figure)}: {said(item.why)}" for item in finding.for_]
    assert "64 files for each process: one had 63 as they were looked at; max_files_per_process = 1000" in told


def test_the_host_may_open_no_more_files() -> None:
    finding = found(failing({OF_HOST: 5.0}, postgres=LIMITS))["descriptors_used_up"]
    assert "for the host has too many open files" in said(finding.title)
    assert "8990 files open on the host" in [said(item.figure) for item in finding.for_]


def test_a_server_with_as_many_files_open_as_it_may_is_healthy() -> None:
    """It closes others before it opens one more."""
    assert diagnose(host(postgres=LIMITS)).healthy


def tasks(used: float, limit: float = 100.0) -> Mapping[tuple[str | None, str], float]:
    return {(None, "limits.tasks"): limit, (None, "limits.tasks_used"): used, (None, "limits.processes"): 4000.0}


@pytest.mark.parametrize(("used", "severity"), [(89.0, None), (91.0, "warning"), (100.0, "warning")])
def test_tasks_of_the_group_near_their_limit(used: float, severity: str | None) -> None:
    finding = {one.cause: one for one in diagnose(host(postgres=tasks(used))).findings}.get("processes_used_up")
    assert (finding and finding.severity) == severity
    if finding:
        assert said(finding.title) == (
            f"{DB} may soon start no process: {used:.0f} of 100 tasks of its control group are there"
        )


def test_tasks_that_were_near_their_limit_are_told_as_they_were() -> None:
    """A job came and went: by the last look there is room again."""
    late = figure("limits.tasks_used", 20.0, None) | {"unit": "tasks", "kind": "gauge"}
    (finding,) = diagnose(host(postgres=tasks(95.0), extra={"statistic": [late]})).findings
    assert "95 of 100 tasks of its control group" in said(finding.title)


def test_forks_that_failed_hours_ago_wake_nobody() -> None:
    rows = [figure("log.forks_failed", 2.0, "Resource temporarily unavailable")]
    begun = diagnose(host(postgres=tasks(20.0), extra={"statistic": rows})).findings[0]
    whole = host(postgres=tasks(20.0), extra={"statistic": rows})
    tables = {name: whole.frame(name).to_dicts() for name in whole.tables}
    tables["cpu"] += [row | {"ts": row["ts"] + timedelta(hours=3)} for row in tables["cpu"]]
    (over,) = [one for one in diagnose(Dataset.from_rows(**tables)).findings if one.cause == "processes_used_up"]
    assert (begun.severity, over.severity) == ("critical", "warning")
    assert "it is over" in [said(item.why) for item in over.against]


@pytest.mark.parametrize(("used", "confidence"), [(100.0, 0.95), (20.0, 0.7)])
def test_forks_that_failed(used: float, confidence: float) -> None:
    why = "Resource temporarily unavailable"
    rows = [figure("log.forks_failed", 2.0, why)]
    finding = diagnose(host(postgres=tasks(used), extra={"statistic": rows})).findings[0]
    assert (finding.cause, finding.severity, finding.confidence) == ("processes_used_up", "critical", confidence)
    assert said(finding.title) == f"{DB} could not start a process: 40 times"
    assert why in [said(item.why) for item in finding.for_]
    assert "4000 processes for its user" in [said(item.figure) for item in finding.for_]


TOO_LARGE = 'ERROR XX000 could not extend file "base/?": File too large'


@pytest.mark.parametrize(
    ("limit_bytes", "told"),
    [(32 * 2.0**20, "the limit is 32.0 MiB"), (2.0**33, "meet a limit"), (None, "meet a limit")],
    ids=["low", "high", "none"],
)
@pytest.mark.parametrize("error", [TOO_LARGE, TOO_LARGE.replace(" XX000", "")])
def test_a_file_may_grow_no_larger(limit_bytes: float | None, told: str, error: str) -> None:
    limits = {} if limit_bytes is None else {(None, "limits.file_size_bytes"): limit_bytes}
    finding = found(failing({error: 5.0}, postgres=limits))["file_size_limited"]
    assert told in said(finding.title)
    assert finding.confidence == (0.95 if "32" in told else 0.7)
    assert len(finding.against) == (1 if limit_bytes == 2.0**33 else 0)


def test_a_low_limit_that_nobody_met_is_silent() -> None:
    assert diagnose(host(postgres={(None, "limits.file_size_bytes"): 2.0**20})).healthy
