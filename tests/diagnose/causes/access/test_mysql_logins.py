"""Logins that MySQL and MariaDB refuse."""

from datetime import UTC, datetime, timedelta

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DB, RAISED = "mysql:3306", "events_errors_summary_global_by_error.sum_error_raised"


def refused(attempts: float, rates: dict[tuple[str, str | None], float]) -> Finding | None:
    """The finding where so many attempts a second are made to connect, and the server counts these rates."""
    rate = {"ts": NOON + timedelta(seconds=20), "interval_s": 20.0, "host": "h", "db": DB, "component": "mysql"}
    counted = {("global_status.connections", None): attempts, **rates}
    rows = [rate | {"kind": "rate", "name": name, "entity": entity, "value": value}
            for (name, entity), value in counted.items()]  # fmt: skip
    findings = diagnose(Dataset.from_rows(statistic=rows)).findings
    return next((one for one in findings if one.cause == "logins_refused"), None)


def test_mysql_tells_why_by_the_number() -> None:
    finding = refused(
        2.0, {(RAISED, "1045 28000 ER_ACCESS_DENIED_ERROR"): 1.8, (RAISED, "1146 42S02 ER_NO_SUCH_TABLE"): 9.0}
    )
    assert finding is not None
    assert said(finding.title) == f"{DB} refuses logins, 36 times: user, host or password is wrong"
    assert (finding.severity, finding.database) == ("critical", DB)
    assert "ALTER USER" in said(finding.remedy[0])
    assert [said(item.figure) for item in finding.for_] == ["1.8 logins per s refused", "2 attempts per s"]


def test_a_locked_account_among_many_that_get_in() -> None:
    finding = refused(40.0, {(RAISED, "3118 HY000 ER_ACCOUNT_HAS_BEEN_LOCKED"): 1.0})
    assert finding is not None
    assert finding.severity == "warning"
    assert "ACCOUNT UNLOCK" in said(finding.remedy[0])


def test_a_few_seconds_of_it_are_not_taken_for_the_whole_time() -> None:
    """A number is told while it comes: ten seconds of an hour in which statements were counted all along."""
    at = {"ts": NOON, "host": "h", "db": DB, "component": "mysql", "kind": "rate"}
    whole = at | {"interval_s": 3600.0}
    rows = [
        whole | {"name": "global_status.connections", "value": 40.0},
        whole | {"name": "events_statements_summary_global_by_event_name.sum_errors", "value": 0.0},
        at | {"interval_s": 10.0, "name": RAISED, "entity": "1045 28000 ER_ACCESS_DENIED_ERROR", "value": 18.0},
    ]
    [finding] = [one for one in diagnose(Dataset.from_rows(statistic=rows)).findings if one.cause == "logins_refused"]
    assert (finding.severity, said(finding.title)) == (
        "warning", f"{DB} refuses logins, 180 times: user, host or password is wrong",
    )  # fmt: skip


def test_mariadb_counts_what_it_denied() -> None:
    counted = {("global_status.access_denied_errors", None): 1.5, ("global_status.aborted_connects", None): 1.7}
    finding = refused(2.0, counted)
    assert finding is not None
    assert said(finding.title) == f"{DB} refuses logins, 30 times: access is denied: user, host or password"


def test_one_now_and_then_and_health_checks_that_hang_up_are_nothing() -> None:
    counted = {("global_status.access_denied_errors", None): 0.01, ("global_status.aborted_connects", None): 1.0}
    assert refused(2.0, counted) is None


def test_statements_that_mariadb_denies_are_no_logins() -> None:
    counted = {("global_status.access_denied_errors", None): 3.0, ("global_status.aborted_connects", None): 0.0}
    assert refused(2.0, counted) is None
