"""The plan that a server makes of a statement for no values in particular, as the role makes it that runs it.

The text is what pg_stat_statements keeps, with parameters in place of constants. It is parsed by the protocol's own
message, which takes one statement and runs none, and then explained as a prepared statement under
plan_cache_mode = force_generic_plan: EXPLAIN (GENERIC_PLAN) is of version 16 and later only. All of it happens in one
read-only transaction with limits of its own that is rolled back. Source: PostgreSQL documentation, EXPLAIN, PREPARE,
plan_cache_mode, "Message Flow" (extended query); ALTER ROLE (which settings come first).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import psycopg
from psycopg import generators, pq, sql

from doctord.collect.postgres.statistics.plans.trust import MAY_CALL, WRITES, is_disguised, words
from doctord.dataset.role_settings import quoted
from doctord.regex import regex

_LIMITS: Final = {
    "statement_timeout": "500ms",
    "lock_timeout": "50ms",
    "idle_in_transaction_session_timeout": "10s",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",  # what is asked of the catalogue would be compiled for longer than it takes
    "search_path": "pg_catalog",
}
# What we ask is nobody's statement, and what we ask in vain no error of the service: where we may say so.
_UNSEEN: Final = {
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1",
    "log_duration": "off",
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
    "pg_stat_statements.track": "none",
    "auto_explain.log_min_duration": "-1",
}
_SET: Final = (
    "SELECT /* doctord */ set_config(name, value, true) FROM unnest(%s::text[], %s::text[]) AS s (name, value)"
)
_WHERE_KNOWN: Final = " WHERE name IN (SELECT name FROM pg_settings)"
_AND_GRANTED: Final = " AND has_parameter_privilege(name, 'SET')"
_GRANTED: Final = 150000
_BY_SET: Final = 160000
# What a planner goes by, as it is set for the role and the database: the last one counts.
_OF_RUNNER: Final = """\
SELECT /* doctord */ s.name, c.value
FROM pg_db_role_setting AS x
     CROSS JOIN LATERAL (SELECT split_part(one, '=', 1) AS name, substr(one, strpos(one, '=') + 1) AS value
                         FROM unnest(x.setconfig) AS one) AS c
     JOIN pg_settings AS s ON lower(s.name) = lower(c.name)
WHERE (x.setrole = 0 OR x.setrole = to_regrole(%(role)s)::oid)
      AND (x.setdatabase = 0 OR x.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database()))
      AND s.name ~ %(planning)s
ORDER BY x.setrole <> 0, x.setdatabase <> 0
"""
_PLANNING: Final = (
    "^(search_path|work_mem|hash_mem_multiplier|effective_cache_size|constraint_exclusion|cursor_tuple_fraction"
    "|max_parallel_workers_per_gather|parallel_leader_participation|recursive_worktable_factor|enable_.*|geqo.*"
    "|min_parallel_.*|.*_cost|.*_collapse_limit)$"
)
_WHO: Final = """\
SELECT /* doctord */ reset_val AS search_path, current_setting('is_superuser') = 'on'
       OR (to_regrole(%(role)s) IS NOT NULL AND pg_has_role(to_regrole(%(role)s), %(right)s)) AS may_be
FROM pg_settings WHERE name = 'search_path'
"""
_NAME: Final = "doctord_plan"
_FORGET: Final = b"DEALLOCATE doctord_plan"
_EXPLAINED: Final = regex(r"\s*(?:\(\s*)*(select|with|insert|update|delete|merge|values|table)\b", re.IGNORECASE)
# Constants that stand behind the name of their type, or of a field, are no place for a parameter.
_TYPED: Final = regex(
    r"\b(interval|date|timestamp|timestamptz|time|timetz)\s+(\$\d+)(?!\s+(?:year|month|day|hour|minute|second)\b)",
    re.IGNORECASE,
)
_FIELD: Final = regex(r"\bextract\s*\(\s*\$(\d+)\s+from\b", re.IGNORECASE)
_TEXT_OID: Final = 25

Why = Literal["code of others", "not now", "not granted", "refused"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement to be explained, its database by number and name, and the role that runs it most."""

    number: int
    database: str
    statement_id: int
    role: str
    text: str


class NotExplained(NamedTuple):
    """Why there is no plan: it might run code of others, was not to be had now, or never is; in the server's words."""

    why: Why
    text: str


def is_explained(text: str) -> bool:
    """Whether a text is of a statement that has a plan, and is whole.

    >>> is_explained("SELECT 1"), is_explained("(WITH a AS (SELECT $1) SELECT * FROM a)"), is_explained("VACUUM t")
    (True, True, False)
    """
    return _EXPLAINED.match(text) is not None


def preparable(text: str) -> str:
    """A text as pg_stat_statements gives it in a form that parses.

    >>> preparable("SELECT * FROM t WHERE at > now() - interval $1 AND extract($2 from at) = $3")
    'SELECT * FROM t WHERE at > now() - $1::interval AND extract(epoch from at) = $3'
    """
    return _FIELD.sub("extract(epoch from", _TYPED.sub(r"\2::\1", text))


def explain(connection: psycopg.Connection[dict[str, Any]], asked: Asked) -> Any:  # noqa: ANN401 - what JSON holds
    """The document of a statement's plan, or `NotExplained`; the connection is in its database, without a transaction.

    Raises:
        psycopg.Error: The connection broke.
    """
    is_runner = is_prepared = False
    connection.execute("BEGIN TRANSACTION READ ONLY")
    try:
        _set(connection, _LIMITS)
        _keep_unseen(connection)
        if is_disguised(asked.text) or _may_call(connection, asked.text):
            return NotExplained("code of others", "planning it may run functions that are not the server's own")
        is_runner = _be(connection, asked)
        number = _prepare(connection, asked.text)
        is_prepared = True
        values = f" ({', '.join(['NULL'] * number)})" if number else ""
        told = connection.execute(f"EXPLAIN (FORMAT JSON, VERBOSE) EXECUTE {_NAME}{values}".encode()).fetchall()
        connection.execute(_FORGET)  # here, for a pooler may give the next transaction another session
        is_prepared = False
        return told[0]["QUERY PLAN"]
    except psycopg.Error as error:
        if connection.closed:
            raise
        return _not_explained(error, is_runner=is_runner)
    finally:
        if not connection.closed:
            connection.execute("ROLLBACK")
            if is_prepared:
                connection.execute(_FORGET)


def _may_call(connection: psycopg.Connection[dict[str, Any]], text: str) -> bool:
    """Whether planning a statement may run code of others."""
    named = words(text)
    asked = {"words": [*named], "is_writing": not WRITES.isdisjoint(named)}
    return bool(connection.execute(MAY_CALL, asked).fetchall()[0]["may_call"])


def _not_explained(error: psycopg.Error, *, is_runner: bool) -> NotExplained:
    told = error.diag.message_primary or type(error).__name__
    if isinstance(error, (psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable)):
        return NotExplained("not now", told)
    # A schema that we may not use is passed over: its tables are not there for us.
    is_hidden = isinstance(error, psycopg.errors.UndefinedTable) and not is_runner
    if is_hidden or isinstance(error, psycopg.errors.InsufficientPrivilege):
        return NotExplained("not granted", f"{told}, as the role that doctord connects as is told")
    return NotExplained("refused", told)


def _set(connection: psycopg.Connection[dict[str, Any]], settings: Mapping[str, str], where: str = "") -> None:
    connection.execute((_SET + where).encode(), (list(settings), list(settings.values())))


def _keep_unseen(connection: psycopg.Connection[dict[str, Any]]) -> None:
    if connection.info.parameter_status("is_superuser") == "on":
        _set(connection, _UNSEEN, _WHERE_KNOWN)
    elif connection.info.server_version >= _GRANTED:
        _set(connection, _UNSEEN, _WHERE_KNOWN + _AND_GRANTED)


def _be(connection: psycopg.Connection[dict[str, Any]], asked: Asked) -> bool:
    """Take the settings that the statement's role has in this database, and the role itself; whether it is granted."""
    role = {"role": quoted(asked.role)}
    right = "SET" if connection.info.server_version >= _BY_SET else "MEMBER"
    who = connection.execute(_WHO, {**role, "right": right}).fetchall()[0]
    own = {
        row["name"]: row["value"] for row in connection.execute(_OF_RUNNER, {**role, "planning": _PLANNING}).fetchall()
    }
    if who["may_be"]:
        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(asked.role)))
    path = own.get("search_path", who["search_path"])
    _set(connection, {**own, "search_path": path if who["may_be"] else path.replace('"$user"', quoted(asked.role))})
    return bool(who["may_be"])


def _prepare(connection: psycopg.Connection[dict[str, Any]], text: str) -> int:
    """Have the server parse a statement, by the protocol's own message: how many parameters it has.

    Raises:
        psycopg.Error: It does not parse, or the role may not.
    """
    server, taken_out = connection.pgconn, [int(number) for number in _FIELD.findall(text)]
    types = [_TEXT_OID if number in taken_out else 0 for number in range(1, max(taken_out, default=0) + 1)]
    server.send_prepare(_NAME.encode(), preparable(text).encode(), types or None)
    _answer(connection)
    server.send_describe_prepared(_NAME.encode())
    return int(_answer(connection).nparams)


def _answer(connection: psycopg.Connection[dict[str, Any]]) -> pq.abc.PGresult:
    [result] = connection.wait(generators.execute(connection.pgconn))
    if result.status != pq.ExecStatus.COMMAND_OK:
        raise psycopg.errors.error_from_result(result)
    answered: pq.abc.PGresult = result
    return answered
