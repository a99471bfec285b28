"""InnoDB's own limits."""

from datetime import UTC, datetime
from typing import Any

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from reading import read_sample

COMMON = {"ts": datetime(2026, 11, 20, tzinfo=UTC), "interval_s": 60.0, "db": "mysql:3306"}


def found(sessions: list[dict[str, Any]] | None = None, **figures: float) -> dict[str, Finding]:
    rows = [
        {**COMMON, "component": "mysql", "value": value, "kind": "gauge",
         "name": f"{'innodb_status' if name.startswith('semaphore') else 'global_status'}.{name}"}
        for name, value in figures.items()
    ]  # fmt: skip
    dataset = Dataset.from_rows(statistic=rows, session=[COMMON | session for session in sessions or []])
    return {finding.cause: finding for finding in diagnose(dataset).findings}


@pytest.mark.parametrize(("age", "is_found"), [(0.5, False), (0.87, False), (0.9, True)])
def test_room_in_the_log(age: float, *, is_found: bool) -> None:
    findings = found(innodb_checkpoint_age=age * 1e9, innodb_checkpoint_max_age=1e9)
    assert ("log_room_short" in findings) is is_found


def test_without_the_logs_size_nothing_is_said() -> None:
    assert found(innodb_checkpoint_age=1e12) == {}


@pytest.mark.parametrize(
    ("waiting", "longest", "severity"),
    [(5.0, 3.0, "warning"), (5.0, 300.0, "critical"), (1.0, 3.0, None), (5.0, 0.5, None)],
)
def test_latches(waiting: float, longest: float, severity: str | None) -> None:
    finding = found(semaphore_waiting=waiting, semaphore_longest_wait=longest).get("latches_held_long")
    assert (finding.severity if finding else None) == severity


def test_a_monitor_with_all_of_it() -> None:
    findings = diagnose(Dataset.from_batches(read_sample("innodb_status.vertical.txt", zone="UTC").batches)).findings
    latches = next(one for one in findings if one.cause == "latches_held_long")
    assert said(latches.title) == "2 threads wait for InnoDB's latches, one for 2 s"
    assert {"purge_behind", "log_room_short"}.isdisjoint(one.cause for one in findings), "61,250 is no long history"


def of_log(name: str) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(Dataset.from_batches(read_sample(name).batches)).findings}


def test_latches_in_an_old_error_log_until_the_server_ends_itself() -> None:
    finding = of_log("mysql_error.50.log")["latches_held_long"]
    assert finding.severity == "critical"
    assert said(finding.title) == "Threads wait up to 10 min 1 s for InnoDB's latches, and it ended itself"
    figures = [said(evidence.figure) for evidence in finding.for_]
    assert figures == [
        "2 waits in the error log",
        "10 min 1 s",
        "10 min 1 s at btr0sea.c line 489",
        "4 min 2 s at btr0sea.c line 1127",
    ]


def test_a_log_of_docker_compose_tells_a_late_page_cleaner_and_a_latch() -> None:
    findings = of_log("log_envelopes.compose.log")
    assert said(findings["latches_held_long"].title) == "Threads wait up to 4 min 48 s for InnoDB's latches"
    late = findings["page_cleaner_late"]
    assert late.severity == "warning"
    assert said(late.title) == "InnoDB's page cleaner took up to 33 s for a loop of one second"


@pytest.mark.parametrize(("took_s", "severity"), [(7.4, None), (12.0, "note")])
def test_a_page_cleaner_that_is_late_once(took_s: float, severity: str | None) -> None:
    late = {"component": "mysql", "name": "log.page_cleaner_late", "value": 1 / 60, "kind": "rate"}
    loop = {"component": "mysql", "name": "log.page_cleaner_loop", "value": took_s, "kind": "gauge"}
    findings = diagnose(Dataset.from_rows(statistic=[COMMON | late, COMMON | loop])).findings
    assert next((one.severity for one in findings if one.cause == "page_cleaner_late"), None) == severity
