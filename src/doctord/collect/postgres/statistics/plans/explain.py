"""The plan that a server makes of a statement for no values in particular, as the role makes it that runs it.

The planner calls immutable and stable functions to know their values, and these are whoever's who owns the tables. A
superuser's session stays one whatever role it takes: RESET ROLE within such a function gives all rights back. The one
place that PostgreSQL keeps it in is a SECURITY DEFINER function: within it no role can be set. So the statement is
prepared and explained by a temporary function that belongs to the role, and all of it is rolled back: whatever it comes
to run has that role's rights and no others, and leaves nothing. The text is what pg_stat_statements keeps, with
parameters in place of constants; plan_cache_mode = force_generic_plan serves all versions (EXPLAIN GENERIC_PLAN is of
16 and later). Source: PostgreSQL documentation, CREATE FUNCTION ("Writing SECURITY DEFINER Functions Safely"), SET ROLE
(notes), EXPLAIN, PREPARE, plan_cache_mode, ALTER ROLE (which settings come first).
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import psycopg
from psycopg import sql

from doctord.dataset.role_settings import quoted
from doctord.regex import regex

# A database may have other defaults: a serializable one that may be deferred waits for writers.
_BEGIN: Final = "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE NOT DEFERRABLE"
_LIMITS: Final = {
    "statement_timeout": "500ms",
    "lock_timeout": "50ms",
    "idle_in_transaction_session_timeout": "10s",
    "client_min_messages": "error",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",  # what is asked of the catalogue would be compiled for longer than it takes
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
      AND s.name ~ %(planning)s AND s.context = 'user'
ORDER BY x.setrole <> 0, x.setdatabase <> 0
"""
_PLANNING: Final = (
    "^(search_path|work_mem|hash_mem_multiplier|effective_cache_size|constraint_exclusion|cursor_tuple_fraction"
    "|max_parallel_workers_per_gather|parallel_leader_participation|recursive_worktable_factor|enable_.*|geqo.*"
    "|min_parallel_.*|.*_cost|.*_collapse_limit)$"
)
_SITUATION: Final = """\
SELECT /* doctord */ current_setting('is_superuser') = 'on' AS is_superuser, pg_is_in_recovery() AS is_standby,
       EXISTS (SELECT FROM pg_event_trigger WHERE evtenabled <> 'D' AND evtevent LIKE 'ddl%%') AS is_watched,
       to_regrole(%(role)s) IS NOT NULL AND pg_has_role(to_regrole(%(role)s), %(right)s)
       AND has_database_privilege(to_regrole(%(role)s), current_database(), 'TEMP') AS may_be,
       EXISTS (SELECT FROM pg_roles AS mighty
               WHERE (mighty.rolsuper OR mighty.rolname IN ('pg_execute_server_program', 'pg_read_server_files',
                                                            'pg_write_server_files'))
                     AND pg_has_role(to_regrole(%(role)s), mighty.oid, 'MEMBER')) AS is_mighty,
       (SELECT boot_val FROM pg_settings WHERE name = 'search_path') AS search_path
"""
# What it gives back, an error too, is of a length that we can take.
_FUNCTION: Final = """\
CREATE FUNCTION pg_temp.doctord_plan(name text, types text, statement text, path text) RETURNS json
LANGUAGE plpgsql SECURITY DEFINER AS $doctord$
DECLARE
    told json;
    number int;
BEGIN
    PERFORM pg_catalog.set_config('search_path', path, true);
    EXECUTE pg_catalog.format('PREPARE %I %s AS %s', name, types, statement);
    number := pg_catalog.cardinality(p.parameter_types) FROM pg_catalog.pg_prepared_statements AS p
              WHERE p.name OPERATOR(pg_catalog.=) doctord_plan.name;
    EXECUTE pg_catalog.format('EXPLAIN (FORMAT JSON, VERBOSE) EXECUTE %I%s', name, CASE
        WHEN number OPERATOR(pg_catalog.>) 0
        THEN pg_catalog.format('(%s)', pg_catalog.rtrim(pg_catalog.repeat('NULL,', number), ','))
    END) INTO told;
    IF pg_catalog.octet_length(told::pg_catalog.text) OPERATOR(pg_catalog.>) 1000000 THEN
        RAISE EXCEPTION 'its plan is too long';
    END IF;
    RETURN told;
EXCEPTION WHEN OTHERS THEN
    RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = pg_catalog.left(SQLERRM, 200);
END $doctord$
"""
_ASK: Final = "SELECT /* doctord */ pg_temp.doctord_plan(%s, %s, %s, %s) AS plan"
_EXPLAINED: Final = regex(
    r"(?:\s|\(|/\*(?:(?!\*/).)*\*/|--[^\n]*\n)*(select|with|insert|update|delete|merge|values|table)\b",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST: Final = 20_000
# Constants that stand behind the name of their type, or of a field, are no place for a parameter.
_TYPED: Final = regex(
    r"\b(interval|date|timestamp|timestamptz|time|timetz)\s+(\$\d{1,5})(?![\w$])"
    r"(?!\s+(?:year|month|day|hour|minute|second)\b)",
    re.IGNORECASE,
)
_FIELD: Final = regex(r"\bextract\s*\(\s*\$(\d{1,4})\s+from\b", re.IGNORECASE)

Why = Literal["standby", "event triggers", "superuser", "not now", "not granted", "refused"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement to be explained, its database by number and name, and the role that runs it most."""

    number: int
    database: str
    statement_id: int
    role: str
    text: str


class NotExplained(NamedTuple):
    """Why there is no plan: it is not made where the server is so, was not to be had now, or never is; in words."""

    why: Why
    text: str


def is_explained(text: str) -> bool:
    """Whether a text is of one statement that has a plan, and not too long to be looked at.

    >>> is_explained("SELECT 1;"), is_explained("SELECT 1; SELECT 2")
    (True, False)
    >>> is_explained("/* page */ SELECT 1"), is_explained("(WITH a AS (SELECT $1) SELECT 2)"), is_explained("VACUUM t")
    (True, True, False)
    """
    is_one = ";" not in text.rstrip().removesuffix(";")
    return is_one and len(text) <= _LONGEST and _EXPLAINED.match(text) is not None


def preparable(text: str) -> tuple[str, str]:
    """A text as pg_stat_statements gives it in a form that parses, and the types of parameters that are gone from it.

    >>> preparable("SELECT * FROM t WHERE at > now() - interval $1 AND extract($2 from at) = $3")
    ('SELECT * FROM t WHERE at > now() - ($1)::interval  AND extract(epoch from at) = $3', '(unknown, text)')
    >>> preparable("SELECT a FROM t WHERE a = $1")
    ('SELECT a FROM t WHERE a = $1', '')
    """
    gone = {int(number) for number in _FIELD.findall(text)}
    types = ", ".join("text" if number in gone else "unknown" for number in range(1, max(gone, default=0) + 1))
    plain = _FIELD.sub("extract(epoch from", _TYPED.sub(r"(\2)::\1 ", text.rstrip().removesuffix(";")))
    return plain, f"({types})" if types else ""


def explain(connection: psycopg.Connection[dict[str, Any]], asked: Asked) -> Any:  # noqa: ANN401 - what JSON holds
    """The document of a statement's plan, or `NotExplained`; the connection is in its database, without a transaction.

    Nothing of the database's owner may be looked for on it: its search_path is pg_catalog.

    Raises:
        psycopg.Error: The connection broke.
    """
    name = f"doctord_{os.urandom(8).hex()}"  # nobody else prepares a statement of that name
    try:
        _run(connection, _BEGIN)
        _set(connection, _LIMITS)
        _keep_unseen(connection)
        return _explained(connection, asked, name)
    except psycopg.Error as error:
        if connection.closed:
            raise
        return _not_explained(error)
    finally:
        if not connection.closed:
            _run(connection, "ROLLBACK")
            _run(connection, "DISCARD ALL")  # what is prepared or locked for the session outlives the transaction


def _explained(connection: psycopg.Connection[dict[str, Any]], asked: Asked, name: str) -> Any:  # noqa: ANN401 - as above
    role = {"role": quoted(asked.role)}
    right = "SET" if connection.info.server_version >= _BY_SET else "MEMBER"
    [now] = _run(connection, _SITUATION, {**role, "right": right})
    if now["is_standby"]:
        return NotExplained("standby", "a standby makes no function, not even for a moment")
    if now["is_watched"]:
        return NotExplained("event triggers", "event triggers look at each function that is made")
    if now["is_mighty"]:
        # What others own in the database may be run by what it plans, and it would be run with all rights.
        return NotExplained("superuser", f"{asked.role}, who runs them, may do anything to the server")
    if not (now["is_superuser"] or now["may_be"]):
        return NotExplained("not granted", f"{asked.role}, who runs them, is no role of ours, or may make nothing here")
    own = {row["name"]: row["value"] for row in _run(connection, _OF_RUNNER, {**role, "planning": _PLANNING})}
    path = own.pop("search_path", now["search_path"])
    _set(connection, own)
    _make_function(connection, asked.role, is_superuser=now["is_superuser"])
    text, types = preparable(asked.text)
    [told] = _run(connection, _ASK, (name, types, text, path))
    return told["plan"]


def _make_function(connection: psycopg.Connection[dict[str, Any]], role: str, *, is_superuser: bool) -> None:
    """The function that asks, for this transaction, and as the role's own."""
    identifier = sql.Identifier(role)
    if not is_superuser:
        _run(connection, sql.SQL("SET LOCAL ROLE {}").format(identifier))
    _run(connection, _FUNCTION)
    if is_superuser:
        owner = "ALTER FUNCTION pg_temp.doctord_plan(text, text, text, text) OWNER TO {}"
        _run(connection, sql.SQL(owner).format(identifier))
    else:
        _run(connection, "SET LOCAL ROLE NONE")


def _not_explained(error: psycopg.Error) -> NotExplained:
    told = " ".join("".join(filter(str.isprintable, error.diag.message_primary or type(error).__name__))[:200].split())
    if isinstance(error, (psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable)):
        return NotExplained("not now", told)
    return NotExplained("refused", told)


def _set(connection: psycopg.Connection[dict[str, Any]], settings: Mapping[str, str], where: str = "") -> None:
    _run(connection, _SET + where, (list(settings), list(settings.values())))


def _keep_unseen(connection: psycopg.Connection[dict[str, Any]]) -> None:
    if connection.info.parameter_status("is_superuser") == "on":
        _set(connection, _UNSEEN, _WHERE_KNOWN)
    elif connection.info.server_version >= _GRANTED:
        _set(connection, _UNSEEN, _WHERE_KNOWN + _AND_GRANTED)


def _run(
    connection: psycopg.Connection[dict[str, Any]],
    query: str | sql.Composed,
    parameters: Sequence[object] | Mapping[str, object] | None = None,
) -> list[dict[str, Any]]:
    """Rows, if there are any; nothing is prepared for next time, by a name that somebody may have taken."""
    cursor = connection.execute(query.encode() if isinstance(query, str) else query, parameters, prepare=False)
    return cursor.fetchall() if cursor.description else []
