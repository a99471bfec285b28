"""Autovacuum that is cancelled again and again for somebody's lock."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

ENTITY = "bench.public.jobs"
CANCELLED = (ENTITY, "log.autovacuum_cancelled")
VACUUMED = (ENTITY, "pg_stat_user_tables.last_vacuum_age_s")
TABLE = {
    "db": DB, "database": "bench", "kind": "table", "name": "public.jobs", "used_bytes": 200_000_000,
    "live_rows": 500_000, "dead_rows": 300_000,
}  # fmt: skip
WORKER = {
    "kind": "autovacuum worker", "program": "autovacuum: VACUUM public.jobs", "user": None, "sid": 8000,
    "wait_class": "Vacuum", "event": "VacuumDelay",
}  # fmt: skip
JOB = {
    "user": "app", "program": "nightly", "wait_class": "Application", "event": "relation", "blocker_sid": 8000,
    "statement_id": "77", "samples": 2,
}  # fmt: skip
LOCK = {
    "statement_id": "77", "text": "LOCK TABLE jobs IN SHARE ROW EXCLUSIVE MODE", "calls_per_s": 0.3,
    "elapsed_s_per_s": 0.3,
}  # fmt: skip
SETTINGS = {"autovacuum_naptime": "60", "deadlock_timeout": "1000"}
OFTEN = {CANCELLED: 0.2}


def all_of(table: dict[str, Any] = TABLE, **more: Any) -> dict[str, Finding]:
    findings = diagnose(host(**{"extra": {"space": [table]}, "settings": SETTINGS} | more)).findings
    return {finding.cause: finding for finding in findings}


def found(table: dict[str, Any] = TABLE, **more: Any) -> Finding | None:
    return all_of(table, **more).get("autovacuum_behind")


def test_how_often_for_whom_and_with_which_statement() -> None:
    told = all_of(postgres=OFTEN, sessions=[WORKER, JOB], statements=[LOCK])
    finding = told["autovacuum_behind"]
    assert (finding.severity, finding.confidence, finding.database) == ("warning", 0.9, DB)
    assert said(finding.title) == (
        "Autovacuum of public.jobs is cancelled again and again: 4 times, for LOCK TABLE jobs IN SHARE ROW EXCLUSIVE "
        "MODE of app nightly"
    )
    figures = " | ".join(said(item.figure) for item in finding.for_)
    for figure in ("4 times cancelled", "300,000 dead rows in public.jobs beside 500,000", "begins anew after",
                   "app nightly waited for autovacuum of public.jobs 1 time, 2.0 s", "18 calls a minute"):  # fmt: skip
        assert figure in figures
    steps = " | ".join(said(step) for step in finding.remedy)
    assert "weaker lock" in steps
    assert "LOCK TABLE: the weakest mode" in steps
    assert "a manual VACUUM is not cancelled" in steps
    assert told["bloat"].explained_by == "autovacuum_behind"


def test_what_stands_behind_the_worker_is_its_symptom() -> None:
    waiting = [JOB | {"samples": 20, "sid": 7100 + number, "serial": number} for number in range(4)]
    told = all_of(postgres=OFTEN, sessions=[WORKER, *waiting], statements=[LOCK])
    locks = told["table_locks"]
    assert locks.explained_by == "autovacuum_behind"
    assert "autovacuum of public.jobs" in said(locks.title)
    assert any("gives way" in said(item.why) for item in locks.for_)
    assert "unknown user" not in " | ".join(said(item.figure) for item in locks.for_)


def test_who_holds_the_lock_for_long_is_no_symptom_of_autovacuum() -> None:
    holder = JOB | {"blocker_sid": None, "event": "CPU", "wait_class": "CPU", "sid": 7100, "samples": 20}
    waiting = [JOB | {"samples": 20, "blocker_sid": 7100, "sid": 7200 + number} for number in range(4)]
    told = all_of(postgres=OFTEN, sessions=[holder, *waiting], statements=[LOCK])
    assert told["table_locks"].explained_by is None
    assert "autovacuum_behind" in told


@pytest.mark.parametrize(
    ("live", "severity"), [(1_000_000_000, "note"), (500_000, "warning"), (None, "warning")],
    ids=["a ten-thousandth of it is dead", "much of it", "how large it is, is not known"],
)  # fmt: skip
def test_few_dead_rows_of_a_large_table_wake_nobody(live: int | None, severity: str) -> None:
    finding = found(TABLE | {"live_rows": live, "dead_rows": 100_000}, postgres=OFTEN, statements=[LOCK])
    assert finding
    assert finding.severity == severity


def test_without_the_log_who_waited_tells() -> None:
    finding = found(sessions=[WORKER, JOB, JOB], statements=[])
    assert finding
    assert finding.confidence == 0.75
    assert "2 times, for app nightly" in said(finding.title)


def test_one_cancel_of_a_job_that_locks_all_along() -> None:
    assert found(postgres={CANCELLED: 0.05}, statements=[LOCK])


def test_a_log_without_contexts_means_the_only_table_that_dies() -> None:
    assert found(postgres={(None, CANCELLED[1]): 0.2})


@pytest.mark.parametrize(
    "more",
    [
        {"postgres": {CANCELLED: 0.05}},
        {"postgres": {CANCELLED: 0.05}, "statements": [LOCK | {"calls_per_s": 0.05, "text": "ALTER TABLE jobs ADD x"}]},
        {"postgres": {CANCELLED: 0.05}, "statements": [LOCK | {"text": "LOCK TABLE jobs IN ROW EXCLUSIVE MODE"}]},
        {"postgres": {CANCELLED: 0.05}, "statements": [LOCK | {"text": "LOCK TABLE jobs_old"}]},
        {"postgres": OFTEN | {VACUUMED: 3.0}},
        {"postgres": OFTEN, "table": TABLE | {"dead_rows": 9000}},
        {"postgres": {("bench.public.others", CANCELLED[1]): 0.2}},
        {"sessions": [WORKER | {"program": "autovacuum: VACUUM public.jobs (to prevent wraparound)"}, JOB, JOB]},
        {"sessions": [WORKER, JOB | {"samples": 20}]},
        {"sessions": [WORKER, JOB, JOB], "postgres": {VACUUMED: 1.0}},
    ],
    ids=["a migration", "a migration that is seen", "a weaker lock", "another table is locked", "it got through since",
         "few dead rows", "another table", "it does not give way", "one wait", "it got through since they waited"],
)  # fmt: skip
def test_a_vacuum_that_was_cancelled_once_or_gets_through(more: dict[str, Any]) -> None:
    assert found(**more) is None
