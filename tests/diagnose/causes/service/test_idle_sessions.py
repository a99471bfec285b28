"""Idle sessions that the server ends, and time-outs that are named with who set them."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

IDLE = "FATAL 57P05 terminating connection due to idle-session timeout"


def seen(message: str, server: str, of_role: str | None = None, who: str = "user app", **more: Any) -> Dataset:
    """A log that tells a message twice a second, and by whom; a time-out of the server, and one of that role, in ms."""
    common = {"component": "postgresql", "db": DB, "interval_s": 1.0, "kind": "rate", "unit": "per_s"}
    name = "idle_session_timeout" if message == IDLE else "statement_timeout"
    rows = [
        {**common, "name": "log.errors", "entity": message, "value": 2.0},
        {**common, "name": "log.errors_from", "entity": f"{message} | {who}", "value": 2.0},
        {**common, "name": "log.messages", "entity": "ERROR", "value": 0.0 if message == IDLE else 2.0},
    ]
    own = {"component": "pg_db_role_setting", "db": DB, "name": f"app * {name}", "value": of_role}
    settings = [own] if of_role else []
    return host(extra={"statistic": rows, "setting": settings}, settings={name: server}, **more)


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


@pytest.mark.parametrize(("timeout", "severity"), [("200", "warning"), ("59000", "warning"), ("600000", "note")])
def test_idle_sessions_that_are_ended(timeout: str, severity: str) -> None:
    told = found(seen(IDLE, timeout))
    finding = told.pop("idle_sessions_ended")
    assert not [one for one in told.values() if one.explained_by is None]
    assert finding.severity == severity
    assert bool(finding.against) is (severity == "note")
    assert "idle_session_timeout = " in said(finding.title)


def test_what_is_set_for_the_role_comes_before_the_server() -> None:
    finding = found(seen(IDLE, "0", of_role="300"))["idle_sessions_ended"]
    assert said(finding.title).endswith("idle_session_timeout = 300.0 ms, set for role app")
    assert "ALTER ROLE app SET" in said(finding.for_[1].why)


@pytest.mark.parametrize("who", ["user app, database shop", "client 10.0.0.7"])
@pytest.mark.parametrize(
    ("server", "of_role", "expected"),
    [
        ("20", None, "statement_timeout = 20.0 ms"),
        ("0", "20", "statement_timeout = 20.0 ms, set for role app"),
        ("0", None, "statement_timeout, which the session itself has set"),
    ],
)
def test_cancelled_statements_name_the_limit(server: str, of_role: str | None, expected: str, who: str) -> None:
    counted = {("shop", "pg_stat_database.xact_commit"): 2.0, ("shop", "pg_stat_database.xact_rollback"): 2.0}
    message = "ERROR 57014 canceling statement due to statement timeout"
    finding = found(seen(message, server, of_role, who, postgres=counted))["statements_cancelled"]
    assert said(finding.title).endswith(f"are cancelled: {expected}")


@pytest.mark.parametrize(
    ("server", "of_role", "severity"), [("0", "20", "warning"), ("20", None, "warning"), ("0", None, "note")]
)
def test_all_statements_of_some_are_few_of_all(server: str, of_role: str | None, severity: str) -> None:
    counted = {("shop", "pg_stat_database.xact_commit"): 200.0, ("shop", "pg_stat_database.xact_rollback"): 2.0}
    message = "ERROR 57014 canceling statement due to statement timeout"
    told = found(seen(message, server, of_role, postgres=counted))
    assert told["statements_cancelled"].severity == severity
