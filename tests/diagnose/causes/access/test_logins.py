"""Logins that are refused, and limits of roles and databases that are near."""

from typing import Any

import pytest

from diagnose.hosts import DB, Rows, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

DAY = 86400.0
WRONG = 'FATAL 28P01 password authentication failed for user "?"'
VALID = {("app", "pg_roles.password_valid_s"): -3600.0}
BEGAN = {("shop", "pg_stat_database.sessions"): 1.0}


def seen(
    message: str, per_s: float = 1.0, who: str = "user app, database shop", settings_of_roles: Rows = (), **more: Any
) -> Dataset:
    """A server whose log tells a message so many times a second, and by whom."""
    common = {"component": "postgresql", "db": DB, "interval_s": 1.0, "kind": "rate", "unit": "per_s"}
    rows = [
        {**common, "name": "log.errors", "entity": message, "value": per_s},
        {**common, "name": "log.errors_from", "entity": f"{message} | {who}", "value": per_s},
        {**common, "name": "log.messages", "entity": "ERROR", "value": 0.0},
    ]
    return host(extra={"statistic": rows, "setting": settings_of_roles}, **more)


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_a_password_that_is_over_is_named_with_its_role() -> None:
    told = found(seen(WRONG, postgres=VALID))
    finding = told.pop("logins_refused")
    assert not told
    assert "of role app, 20 times: its password is over (VALID UNTIL)" in said(finding.title)
    assert (finding.severity, finding.confidence, finding.against) == ("critical", 0.95, ())


def test_a_password_that_is_not_over_speaks_against_that() -> None:
    finding = found(seen(WRONG, postgres={("app", "pg_roles.password_valid_s"): 90 * DAY}))["logins_refused"]
    assert "VALID UNTIL is not over" in said(finding.against[0].why)
    assert finding.confidence == 0.85


def test_most_who_get_in_make_it_a_warning() -> None:
    many = BEGAN | {("shop", "pg_stat_database.sessions"): 3.0}
    assert found(seen(WRONG, postgres=VALID | many))["logins_refused"].severity == "warning"


@pytest.mark.parametrize(
    ("message", "figures", "expected"),
    [
        ('role "?" is not permitted to log in', {("app", "pg_roles.no_login"): 1.0},
         "role app, 20 times: the role may not log in"),
        ('database "?" is not currently accepting connections', {("shop", "pg_database.no_connections"): 1.0},
         "to database shop, 20 times: the database takes no connections"),
        ('too many connections for role "?"',
         {("app", "pg_roles.connection_limit"): 5.0, ("app", "pg_roles.connections"): 5.0},
         "role app has a CONNECTION LIMIT of 5"),
        ('too many connections for database "?"',
         {("shop", "pg_database.connection_limit"): 9.0, ("shop", "pg_database.connections"): 9.0},
         "database shop has a CONNECTION LIMIT of 9"),
        ('no pg_hba.conf entry for host "?", user "?", database "?", no encryption',
         {("pg_hba.conf line 7: md6: invalid authentication method", "pg_hba_file_rules.errors"): 1.0},
         "pg_hba.conf line 7: md6"),
        ('role "?" does not exist', {}, "the role is not there"),
        ('permission denied for database "?"', {}, "no right to connect"),
        ("number of requested standby connections exceeds max_wal_senders (currently 3)", {}, "max_wal_senders"),
    ],
)  # fmt: skip
def test_each_refusal_has_its_reason(message: str, figures: dict[tuple[str, str], float], expected: str) -> None:
    told = found(seen(f"FATAL 28000 {message}", postgres=figures))
    assert expected in said(told["logins_refused"].title)
    assert "errors_logged" not in told


def test_a_library_that_is_not_there_is_named_with_who_set_it() -> None:
    preload = {"component": "pg_db_role_setting", "db": DB, "name": "app * session_preload_libraries",
               "value": "auditlib"}  # fmt: skip
    told = found(seen('FATAL 58P01 could not access file "?": No such file or directory', settings_of_roles=[preload]))
    assert "session_preload_libraries = auditlib, set for role app" in said(told["logins_refused"].title)


def test_a_library_is_looked_for_where_nobody_says_whose_login_it_was() -> None:
    preload = {"component": "pg_db_role_setting", "db": DB, "name": "app * session_preload_libraries",
               "value": "pg_hint_plan"}  # fmt: skip
    other = preload | {"name": "batch * session_preload_libraries", "value": "auditlib"}
    message = 'FATAL 58P01 could not access file "pg_hint_plan": No such file or directory'
    told = found(seen(message, who="", settings_of_roles=[preload, other]))
    title = said(told["logins_refused"].title)
    assert "session_preload_libraries = pg_hint_plan, set for role app" in title
    assert "auditlib" not in " ".join(said(one.figure) for one in told["logins_refused"].for_)
    restricted = message.replace('"pg_hint_plan"', '"$libdir/plugins/pg_hint_plan"')
    told = found(seen(restricted, who="", settings_of_roles=[preload | {"value": "auditlib, pg_hint_plan"}]))
    assert "auditlib, pg_hint_plan, set for role app" in said(told["logins_refused"].title)


def test_the_limit_of_a_role_is_none_of_the_server() -> None:
    refused = {(None, "log.connections_refused"): 1.0}
    of_role = 'FATAL 53300 too many connections for role "?"'
    assert list(found(seen(of_role, postgres=refused))) == ["logins_refused"]
    assert "connections_near_limit" in found(seen("FATAL 53300 sorry, too many clients already", postgres=refused))


@pytest.mark.parametrize("message", ['ERROR 42P01 relation "?" does not exist', 'ERROR 42704 role "?" does not exist'])
def test_errors_of_statements_are_no_logins(message: str) -> None:
    assert "logins_refused" not in found(seen(message))


def test_a_client_that_was_refused_a_few_times_is_none() -> None:
    assert "logins_refused" not in found(seen(WRONG, per_s=0.2))


@pytest.mark.parametrize(
    ("left_s", "severity"), [(-1.0, None), (3600.0, "warning"), (3 * DAY, "note"), (8 * DAY, None)]
)
def test_a_password_that_ends_soon(left_s: float, severity: str | None) -> None:
    told = found(host(postgres={("app", "pg_roles.password_valid_s"): left_s}))
    assert [finding.severity for finding in told.values()] == ([severity] if severity else [])


@pytest.mark.parametrize(("used", "is_near"), [(17.0, False), (18.0, True), (20.0, True)])
def test_connections_near_the_limit_of_a_role(used: float, *, is_near: bool) -> None:
    figures = {("app", "pg_roles.connection_limit"): 20.0, ("app", "pg_roles.connections"): used}
    told = found(host(postgres=figures))
    assert (list(told) == ["login_limit_near"]) is is_near
    assert "of 20 connections that role app may have" in said(next(iter(told.values())).title) if is_near else not told


def test_a_limit_that_nobody_measured_is_none() -> None:
    assert not found(host(postgres={("app", "pg_roles.connections"): 900.0}))


@pytest.mark.parametrize("what", ["role", "database"])
def test_somebody_who_tries_names_that_are_not_there_is_no_emergency(what: str) -> None:
    finding = found(seen(f'FATAL 3D000 {what} "?" does not exist', who="user admin, database admin"))["logins_refused"]
    assert finding.severity == "warning"
