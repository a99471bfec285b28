"""Roles that get nothing done, on servers that do well for all others."""

from typing import Any

import pytest

from diagnose.causes.service.test_failing import DB, figure, found
from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

MISSING = '42P01 relation "prices" does not exist'
WORK = "pg_stat_statements.calls_on_tables"
APP = "user app, database shop"


def failing(
    error: str = MISSING,
    per_s: float = 0.4,
    *,
    who: str | None = f"{APP}, application web, client [local]",
    work: dict[str, float] | None = None,
    commits: dict[str, float] | None = None,
    rollbacks: float | None = None,
    **more: Any,
) -> Any:
    """A server that commits thousands a second, and on which one role meets an error now and then."""
    rows = [figure("log.messages", per_s if one == "ERROR" else 0.0, one) for one in ("ERROR", "FATAL", "PANIC")]
    rows += [figure("log.errors", per_s, f"ERROR {error}")]
    rows += [figure("log.errors_from", per_s, f"ERROR {error} | {who}")] if who else []
    rows += [figure(WORK, calls, who) for who, calls in ({} if work is None else work).items()]
    counted = {("big", "pg_stat_database.xact_commit"): 3000.0, ("big", "pg_stat_database.xact_rollback"): 0.1}
    rolled_back = per_s if rollbacks is None else rollbacks
    for database, per_second in (commits or {"shop": 20.0}).items():
        counted |= {(database, "pg_stat_database.xact_commit"): per_second,
                    (database, "pg_stat_database.xact_rollback"): rolled_back}  # fmt: skip
    return host(postgres=counted, extra={"statistic": rows, "setting": more.pop("setting", [])}, **more)


def test_a_role_of_which_all_fails_is_a_warning_however_little_that_is_of_all() -> None:
    verdict = diagnose(failing(work={"user web, database big": 3000.0}))
    (first, *_) = verdict.findings
    assert (first.cause, first.severity) == ("role_gets_nothing_done", "warning")
    assert said(first.title) == 'Role app gets nothing done in database shop: relation "prices" does not exist'
    assert any("8 errors of role app" in said(item.figure) for item in first.for_)
    assert "search_path" in said(first.remedy[0])
    assert not first.against


@pytest.mark.parametrize(("done", "told"), [(0.3, "little"), (0.5, None), (40.0, None)])
def test_a_role_that_gets_on_is_silent(done: float, told: str | None) -> None:
    finding = found(failing(work={"user web, database big": 3000.0, APP: done})).get("role_gets_nothing_done")
    assert (finding is not None) is (told is not None)
    if finding:
        assert f"gets {told} done" in said(finding.title)
        assert finding.against


def test_where_nobody_counts_by_role_the_database_tells() -> None:
    assert "role_gets_nothing_done" in found(failing(commits={"shop": 0.3}))
    assert "role_gets_nothing_done" not in found(failing(commits={"shop": 20.0}))


@pytest.mark.parametrize(
    ("per_s", "work", "told"),
    [(40.0, {APP: 9.0}, True), (40.0, {APP: 50.0}, False), (0.4, {APP: 0.1}, False), (40.0, None, False)],
    ids=["little else is done", "more is done", "now and then", "nobody counts what is done"],
)
def test_where_nobody_tells_whose_errors_they_are_all_roles_count(
    per_s: float, work: dict[str, float] | None, *, told: bool
) -> None:
    """A session that does nothing but fail: PostgreSQL counts its rollbacks when it ends."""
    commits = {"shop": 5000.0}
    dataset = failing(per_s=per_s, who=None, work=work, commits=commits, rollbacks=0.01)
    finding = found(dataset).get("role_gets_nothing_done")
    assert (finding is not None) is told
    if finding:
        assert said(finding.title).startswith(f"82 % of what is asked of {DB} fails: relation")
        assert "800 errors" in said(finding.for_[0].figure)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("42501 permission denied for table prices", True),
        ('23514 no partition of relation "sales" found for row', True),
        ('no partition of relation "sales" found for row', True),
        ('23505 duplicate key value violates unique constraint "t_pkey"', False),
        ("P0001 (raised by a function)", False),
        ("55P03 could not obtain lock on row in relation", False),
        ("40001 could not serialize access due to concurrent update", False),
        ("57014 canceling statement due to user request", False),
    ],
)
def test_by_what_an_application_expects(error: str, *, told: bool) -> None:
    causes = found(failing(error, work={"user web, database big": 3000.0}))
    assert ("role_gets_nothing_done" in causes) is told
    assert diagnose(failing(error, work={"user web, database big": 3000.0})).healthy is not told


@pytest.mark.parametrize("whose", ['"app" * statement_timeout', None])
def test_a_limit_that_an_administrator_set_is_no_plan_of_the_sessions(whose: str | None) -> None:
    setting = [
        {"component": "pg_db_role_setting", "db": DB, "name": name, "value": value, "unit": "ms"}
        for name, value in ((whose, "20"),)
        if name
    ]
    setting.append({"component": "postgresql", "db": DB, "name": "statement_timeout", "value": "0", "unit": "ms"})
    dataset = failing("57014 canceling statement due to statement timeout", work={"user b, database c": 9.0},
                      setting=setting)  # fmt: skip
    finding = found(dataset).get("role_gets_nothing_done")
    assert (finding is not None) is (whose is not None)
    if finding:
        assert "statement_timeout = 20.0 ms, set for role app" in said(finding.title)


def test_a_few_errors_are_one_users_mistake() -> None:
    assert "role_gets_nothing_done" not in found(failing(per_s=0.2, work={"user web, database big": 3000.0}))


def test_who_it_was_has_to_be_told() -> None:
    assert "role_gets_nothing_done" not in found(failing(who="application web", work={"user a, database b": 9.0}))
