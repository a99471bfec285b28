"""Parallel plans that go without their workers, and those that get them."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

PLANNED, GIVEN = "pg_stat_database.parallel_workers_to_launch", "pg_stat_database.parallel_workers_launched"
OF_STATEMENT = ("7", "pg_stat_statements.parallel_workers_to_launch")
REPORT = {
    "statement_id": "7", "text": "SELECT sum(amount) FROM lines", "calls_per_s": 5.0, "elapsed_s_per_s": 0.9,
    "rows_per_s": 5.0, "hit_blocks_per_s": 5000.0, "read_blocks_per_s": 0.0,
}  # fmt: skip
READING = {("User I/O", "DataFileRead"): 0.9, ("CPU", "CPU"): 0.2}
COUNTED = {("bench", PLANNED): 10.0, ("bench", GIVEN): 2.0, OF_STATEMENT: 10.0,
           ("7", "pg_stat_statements.parallel_workers_launched"): 2.0}  # fmt: skip
LIMITS = {"max_parallel_workers": "2", "max_parallel_workers_per_gather": "2", "max_worker_processes": "8"}


def found(figures: dict[tuple[str | None, str], float] | None = None, **more: Any) -> Finding | None:
    asked = {"postgres": figures or {}, "statements": [REPORT], "time": READING, "settings": LIMITS} | more
    return next((one for one in diagnose(host(**asked)).findings if one.cause == "parallel_workers_starved"), None)


def test_workers_that_the_server_counts_as_missing() -> None:
    finding = found(COUNTED)
    assert finding
    assert (finding.severity, finding.database, finding.impact.known) == ("critical", DB, "at_most")
    assert said(finding.title) == "Parallel plans go without 80 % of their workers"
    told = " | ".join(said(item.figure) for item in finding.for_)
    assert "80 % of the workers that plans ask for are missing" in told
    assert "max_parallel_workers = 2, max_worker_processes = 8" in told


def test_without_a_cpu_for_them_it_is_a_note() -> None:
    finding = found(COUNTED, cpu={"idle_pct": 5.0, "usr_pct": 85.0})
    assert finding
    assert finding.severity == "note"
    assert "5 % of the CPU time idle" in said(finding.against[0].figure)


def test_plans_that_get_their_workers_and_those_of_a_report_now_and_then() -> None:
    assert found(COUNTED | {("bench", GIVEN): 9.0}) is None
    assert found({("bench", PLANNED): 0.05, ("bench", GIVEN): 0.0}) is None
    assert found() is None


def sampled(leaders: int, workers: int) -> list[dict[str, Any]]:
    reads = {"wait_class": "User I/O", "event": "DataFileRead", "statement_id": "7"}
    return [*({**reads} for _ in range(leaders)), *({**reads, "kind": "parallel worker"} for _ in range(workers))]


def test_before_version_18_samples_tell_of_leaders_without_workers() -> None:
    finding = found(sessions=sampled(4, 2))
    assert finding
    assert finding.confidence == 0.6
    told = " | ".join(said(item.figure) for item in finding.for_)
    assert "all 2 parallel workers at work at 100 % of the looks" in told
    assert "8.0 workers wanted on average, at the most" in told


@pytest.mark.parametrize(
    ("settings", "workers", "is_found"),
    [
        ({}, 7, True),
        ({}, 6, False),
        ({"max_logical_replication_workers": "0"}, 7, False),
        ({"max_logical_replication_workers": "0"}, 8, True),
        ({"max_worker_processes": "4"}, 3, True),
    ],
    ids=["default", "one is free", "no launcher, one is free", "no launcher", "fewer processes"],
)
def test_the_launcher_of_logical_replication_takes_one(
    settings: dict[str, str], workers: int, *, is_found: bool
) -> None:
    """With the settings that a server comes with, eight of each, seven parallel workers are all that there can be."""
    limits = LIMITS | {"max_parallel_workers": "8", "max_worker_processes": "8"} | settings
    assert (found(sessions=sampled(8, workers), settings=limits) is not None) is is_found


def test_another_server_that_counts_them_does_not_hide_one_that_does_not() -> None:
    counted = {"component": "postgresql", "db": "postgresql:5433", "name": PLANNED, "value": 0.0, "kind": "rate"}
    assert found(sessions=sampled(4, 2), extra={"statistic": [counted]})


def test_workers_enough_for_all_leaders() -> None:
    assert found(sessions=sampled(1, 2)) is None
    assert found(sessions=sampled(4, 1)) is None, "one is free all along: nobody asks for it"
    assert found(sessions=sampled(4, 2), settings={}) is None
