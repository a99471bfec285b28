"""Statements of MySQL and MariaDB that fail."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from diagnose.mysql_servers import found as by_cause
from diagnose.mysql_servers import mysql
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DB = "mysql:3306"
NO_TABLE, DUPLICATE, TOO_LONG = "1146 42S02 ER_NO_SUCH_TABLE", "1062 23000 ER_DUP_ENTRY", "3024 HY000 ER_QUERY_TIMEOUT"


def found(failed_per_s: float, raised: dict[str, float], text: str = "SELECT `a` FROM `t`") -> dict[str, Finding]:
    """The findings by cause; see `every`."""
    return {finding.cause: finding for finding in every(failed_per_s, raised, text)}


def every(failed_per_s: float, raised: dict[str, float], text: str = "SELECT `a` FROM `t`") -> Sequence[Finding]:
    """The findings where so many of 200 statements a second fail, all of them one statement."""
    rate = {"ts": NOON + timedelta(seconds=20), "interval_s": 20.0, "host": "h", "db": DB, "component": "mysql"}
    rate |= {"kind": "rate", "unit": "per_s"}
    rows = [
        {"name": "global_status.questions", "value": 200.0},
        {"name": "events_statements_summary_global_by_event_name.sum_errors", "value": failed_per_s},
        {"name": "events_statements_summary_by_digest.sum_errors", "value": failed_per_s, "entity": "d1"},
        *({"name": "events_errors_summary_global_by_error.sum_error_raised", "value": value, "entity": entity}
          for entity, value in raised.items()),
    ]  # fmt: skip
    statement = {"ts": rate["ts"], "interval_s": 20.0, "host": "h", "db": DB, "statement_id": "d1", "text": text}
    dataset = Dataset.from_rows(statistic=[rate | row for row in rows], statement=[statement])
    return diagnose(dataset).findings


def test_a_table_that_is_not_there() -> None:
    finding = found(40.0, {NO_TABLE: 40.0})["transactions_fail"]
    assert said(finding.title) == f"20 % of the statements of {DB} fail, most with ER_NO_SUCH_TABLE (1146)"
    assert (finding.severity, finding.impact.share, finding.time_of) == ("warning", 0.2, "statements")
    assert "40 per s of them: SELECT `a` FROM `t`" in [
        f"{said(item.figure)}: {said(item.why)}" for item in finding.for_
    ]
    assert "does not fit the schema" in said(finding.remedy[0])


@pytest.mark.parametrize(
    ("failed", "raised", "severity"),
    [
        (120.0, {NO_TABLE: 120.0}, "critical"),
        (2.0, {NO_TABLE: 2.0}, "warning"),
        (0.6, {NO_TABLE: 0.6}, "note"),
        (40.0, {DUPLICATE: 40.0}, "note"),
        (120.0, {DUPLICATE: 120.0}, "warning"),
    ],
    ids=["most", "one a second", "now and then", "keys that are tried", "hardly anything but keys that are tried"],
)
def test_how_bad_that_is(failed: float, raised: dict[str, float], severity: str) -> None:
    assert found(failed, raised)["transactions_fail"].severity == severity


def test_few_are_nothing() -> None:
    assert "transactions_fail" not in found(0.3, {NO_TABLE: 0.3})
    assert "transactions_fail" not in found(40.0, {"1213 40001 ER_LOCK_DEADLOCK": 40.0})


def test_those_that_ran_into_a_limit_of_time_are_cancelled() -> None:
    findings = found(40.0, {TOO_LONG: 40.0})
    assert "max_execution_time" in said(findings["statements_cancelled"].remedy[0])
    assert "transactions_fail" not in findings


def test_what_may_be_a_warning_is_one_where_other_errors_account_for_all_that_failed() -> None:
    raised = {"1287 HY000 ER_WARN_DEPRECATED_SYNTAX": 30.0, NO_TABLE: 40.0}
    [finding] = [one for one in every(40.0, raised) if one.cause == "transactions_fail"]
    assert "ER_NO_SUCH_TABLE" in said(finding.title)


def test_a_statement_that_can_never_succeed_among_keys_that_are_tried() -> None:
    found = [one for one in every(65.0, {DUPLICATE: 60.0, NO_TABLE: 5.0}) if one.cause == "transactions_fail"]
    assert [(one.severity, said(one.title).split()[-2]) for one in found] == [
        ("warning", "ER_NO_SUCH_TABLE"), ("note", "ER_DUP_ENTRY"),
    ]  # fmt: skip


def test_mariadb_tells_the_statement_alone() -> None:
    finding = found(40.0, {})["transactions_fail"]
    assert said(finding.title) == f"20 % of the statements of {DB} fail: SELECT `a` FROM `t`"
    assert finding.severity == "warning"
    assert found(40.0, {}, "INSERT INTO `t` VALUES (?)")["transactions_fail"].severity == "note"


def test_who_has_no_right_and_that_roles_count_no_more() -> None:
    names = {
        ("1142 42000 ER_TABLEACCESS_DENIED_ERROR", "events_errors_summary_global_by_error.sum_error_raised"): 20.0,
        ("1142 clerk", "events_errors_summary_by_user_by_error.sum_error_raised"): 20.0,
        ("1146 app", "events_errors_summary_by_user_by_error.sum_error_raised"): 2.0,
    }
    rates = {"global_status.questions": 100.0, "events_statements_summary_global_by_event_name.sum_errors": 20.0}
    off = {"activate_all_roles_on_login": "OFF"}
    told = {
        source: [said(item.figure) for item in by_cause(mysql(rates=rates, gauges=names, settings=off, source=source))[
            "transactions_fail"].for_]
        for source in ("dynamic", "default")
    }  # fmt: skip
    assert "20 per s of user clerk" in told["dynamic"]
    assert not any("user app" in figure for figure in told["dynamic"]), "another error"
    assert "activate_all_roles_on_login = OFF, set while the server runs" in told["dynamic"]
    assert not any("activate_all" in figure for figure in told["default"])
