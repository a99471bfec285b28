"""Options for developers that are left on."""

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said


def test_system_indexes_that_are_ignored_are_why_new_sessions_cost_much() -> None:
    rates = {(None, "pg_stat_database.sessions"): 40.0, (None, "pg_stat_database.xact_commit"): 100.0}
    busy = {"idle_pct": 20.0, "wait_io_pct": 0.0, "usr_pct": 40.0, "sys_pct": 40.0}
    findings = diagnose(host(cpu=busy, postgres=rates, settings={"ignore_system_indexes": "on"})).findings
    assert findings[0].cause == "developer_option_on"
    assert said(findings[0].title).startswith("ignore_system_indexes = on: each new session")
    assert {one.cause: one.explained_by for one in findings}["connection_churn"] == "developer_option_on"


@pytest.mark.parametrize(
    ("setting", "value", "severity"),
    [
        ("force_parallel_mode", "on", "warning"),
        ("debug_discard_caches", "1", "warning"),
        ("wal_consistency_checking", "all", "warning"),
        ("zero_damaged_pages", "on", "warning"),
        ("log_statement_stats", "on", "note"),
    ],
)
def test_others_of_their_like(setting: str, value: str, severity: str) -> None:
    [finding] = diagnose(host(settings={setting: value})).findings
    assert (finding.cause, finding.severity) == ("developer_option_on", severity)


def test_as_they_come_nothing_is_said() -> None:
    usual = {"ignore_system_indexes": "off", "force_parallel_mode": "off", "debug_discard_caches": "0"}
    assert diagnose(host(settings=usual | {"wal_consistency_checking": ""})).healthy
