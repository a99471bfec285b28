"""Who gets nothing done: failures that are all of what one role asks for, and little of what the server does."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.sql.role_settings import role_settings
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common import time_limits
from doctord.diagnose.common.failing_roles import FailingRole, failing_roles
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

MOST_TOLD: Final = 3
NEARLY_ALL: Final = 0.9
# What to look at first, by SQLSTATE.
BY_STATE: Final[dict[str, str]] = {
    "42P01": "First: which schema the table is in, and the role's search_path (ALTER ROLE ... SET search_path).",
    "42883": "First: which schema the function is in, and the role's search_path (ALTER ROLE ... SET search_path).",
    "42501": "First: what the role may do (\\dp of the table); GRANT gives what was revoked.",
    "23514": "First: the partitions of the table (\\d+): create the one that is missing, or a DEFAULT partition.",
    "0A000": "First: what changed in the table since its statements were prepared; new sessions, or DEALLOCATE.",
}  # fmt: skip


@cause(explains=("transactions_fail", "statements_cancelled", "rollbacks_many", "errors_logged"))
def role_gets_nothing_done(case: Case) -> Iterator[Claim]:
    """All that one role asks for in a database fails, or most of it: little of what the server does, all to its users.

    Looks like: five errors and more of one role in one database that no application expects (a table or function that
        is not found, a right that is missing, a partition that is not there), or that a time-out makes which is set in
        the server; half and more of all that the role asks for, and too few beside all transactions to be a finding of
        their own.
    Hurts because: whoever works by that role gets nothing, however well the server does for others.
    Speaks for it: its errors beside its statements that succeed (pg_stat_statements by role; where that is not
        there, the commits of its database); settings of that role. Where neither log_line_prefix nor the sessions tell
        who meets the errors, one a second and more beside the statements of all roles.
    Speaks against it: statements of the role that succeed; errors that it expects (a key that is there, its own RAISE,
        a lock that it does not wait for, a time-out that its session has set).
    Remedy: By what the message says is missing: the object, the right, the partition, or the time. What was changed
        last for this role or database (ALTER ROLE, ALTER DATABASE, REVOKE, a release) is where to begin.
    Verify: No new error of that role, and its statements succeed again.
    Source: PostgreSQL documentation, "PostgreSQL Error Codes", "The Schema Search Path", ALTER ROLE,
        pg_stat_statements, log_line_prefix (%u, %d).
    """
    for db in case.dbs:
        for one in failing_roles(case, db)[:MOST_TOLD]:
            limit = time_limits.time_limit(case, one.first)
            yield Claim(
                phrase("{}: {}{}", _who_gets_what(one), shortened(one.first.message, 80),
                       phrase(" ({})", limit.words) if limit else ""),
                impact=NOT_MEASURED,
                confidence=0.85,
                severity="warning",
                for_=[*one.evidence(), *time_limits.evidence(case, one.first), *_settings(case, one)],
                against=_succeeds(one),
                first_steps=_first(one),
                database=db,
            )  # fmt: skip


def _who_gets_what(one: FailingRole) -> Words:
    much = "nothing" if one.share >= NEARLY_ALL else "little"
    if one.role is None:
        return phrase("{:share} of what is asked of {} fails", one.share, one.db)
    return phrase("Role {} gets {} done in database {}", one.role, much, one.database)


def _succeeds(one: FailingRole) -> list[Evidence]:
    """That some of what it asks for succeeds."""
    if one.share >= NEARLY_ALL:
        return []
    where = f"name = '{one.done}' and db = '{one.db}'"
    return [Evidence("statistic", where, phrase("{:share} succeeds", 1 - one.share), "", "not all that it asks for")]


def _settings(case: Case, one: FailingRole) -> list[Evidence]:
    """Where names are not found: the search_path that is set for the role or the database, or that none is."""
    if not (one.first.state or "").startswith("42"):
        return []
    told = [
        each
        for each in role_settings(case.dataset)
        if each.db == one.db and each.scope.name == "search_path"
        and each.scope.role in (None, one.role) and each.scope.database in (None, one.database)
    ]  # fmt: skip
    return [
        Evidence("setting", f"component = 'pg_db_role_setting' and db = '{one.db}'",
                 phrase("search_path = {} for {}", each.value, each.scope.whose), "", "where its names are looked for")
        for each in told
    ]  # fmt: skip


def _first(one: FailingRole) -> list[Words]:
    step = BY_STATE.get(one.first.state or "")
    return [step] if step else []
