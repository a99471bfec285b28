"""Sessions that end badly, and queries that a standby cancels."""

from datetime import timedelta

import pytest

from diagnose.hosts import DB, HOST, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

ABANDONED = "pg_stat_database.sessions_abandoned"
SESSIONS = "pg_stat_database.sessions"


def test_sessions_that_clients_leave_again_and_again() -> None:
    [finding] = diagnose(host(postgres={("shop", ABANDONED): 2.0, ("shop", SESSIONS): 3.0})).findings
    assert (finding.cause, finding.severity) == ("sessions_end_badly", "warning")
    assert said(finding.title) == f"40 sessions of {DB} did not end by their clients' will"


@pytest.mark.parametrize("rate", [0.4, 1.5])
def test_few_of_them_or_few_of_many_are_nothing(rate: float) -> None:
    found = diagnose(host(postgres={("shop", ABANDONED): rate, ("shop", SESSIONS): rate * 11})).findings
    assert "sessions_end_badly" not in {finding.cause for finding in found}


def test_a_client_that_was_stopped_ends_all_its_sessions_at_once() -> None:
    row = {"host": HOST, "db": DB, "component": "postgresql", "entity": "shop", "kind": "rate", "interval_s": 5.0}
    looks = [
        row | {"ts": START + timedelta(seconds=5 * n), "name": name, "value": value}
        for n in range(4)
        for name, value in ((ABANDONED, 8.0 if n == 2 else 0.0), (SESSIONS, 1.0))
    ]
    [finding] = diagnose(Dataset.from_rows(statistic=looks)).findings
    assert (finding.cause, finding.severity) == ("sessions_end_badly", "note")
    assert "was stopped" in said(finding.against[0].why)


@pytest.mark.parametrize(("per_s", "severity"), [(0.05, "note"), (1.0, "warning")])
def test_a_standby_that_cancels_queries(per_s: float, severity: str) -> None:
    conflicts = {
        ("shop", "pg_stat_database.conflicts"): per_s,
        ("shop", "pg_stat_database_conflicts.confl_snapshot"): per_s,
    }
    [finding] = diagnose(host(postgres=conflicts)).findings
    assert (finding.cause, finding.severity) == ("standby_conflicts", severity)
    assert "snapshot" in [said(item.why) for item in finding.for_]


def test_no_conflict_is_none() -> None:
    assert diagnose(host(postgres={("shop", "pg_stat_database.conflicts"): 0.0})).healthy


EXITS = {"db": DB, "component": "postgresql", "name": "exit_on_error", "value": "on"}
FATAL = "pg_stat_database.sessions_fatal"
CHURN = {("shop", SESSIONS): 32.0}


def test_errors_that_end_sessions_are_why_clients_connect_again() -> None:
    ended = diagnose(host(postgres={**CHURN, ("shop", FATAL): 31.0}, extra={"setting": [EXITS]})).findings
    assert (ended[0].cause, ended[0].severity) == ("errors_end_sessions", "warning")
    assert {one.cause: one.explained_by for one in ended}["sessions_end_badly"] == "errors_end_sessions"
    unused = diagnose(host(extra={"setting": [EXITS]})).findings
    assert [(one.cause, one.severity) for one in unused] == [("errors_end_sessions", "note")]
    off = diagnose(host(postgres={("shop", FATAL): 31.0, **CHURN}, extra={"setting": [EXITS | {"value": "off"}]}))
    assert "errors_end_sessions" not in {one.cause for one in off.findings}


@pytest.mark.parametrize(("fatal", "by"), [(31.0, "sessions_end_badly"), (8.0, None)])
def test_who_is_put_out_connects_again(fatal: float, by: str | None) -> None:
    findings = diagnose(
        host(postgres={**CHURN, ("shop", FATAL): fatal, ("shop", "pg_stat_database.xact_commit"): 40.0})
    ).findings
    above = {one.cause: one.explained_by for one in findings}
    assert "connection_churn" in above
    assert above["connection_churn"] == by
