"""Commands that throw kept plans away: GRANT, ANALYZE, ALTER and what else changes a table's rows of the catalogues.

A session keeps the plan of a prepared statement until a table, index, function, type or schema that it depends on
changes in the catalogues; then it is made anew at the next execution (src/backend/utils/cache/plancache.c).
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from doctord.analyse.figures import Statistic
from doctord.analyse.sql.conditions import tables_of
from doctord.analyse.sql.dependencies import names
from doctord.analyse.sql.role_settings import runners
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Phrase, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

# Once a second: each session plans anew as often, whatever it executes between.
OFTEN_PER_S: Final = 1.0
_COMMAND: Final = regex(
    r"\s*(grant|revoke|analyze|vacuum|reindex|cluster|truncate|refresh materialized view|(?:alter|drop) \w+"
    r"|create (?:(?:unique )?index|(?:or replace )?(?:trigger|rule|view|function)|policy|statistics))\b",
    re.IGNORECASE,
)
# What names no table is of all of a schema or of the database: any plan may depend on it.
_OF_ALL: Final = regex(r"\b(?:on|in) schema\b|^\s*(?:analyze|vacuum)\s*(?:\([^)]*\)|verbose)?\s*;?\s*$", re.IGNORECASE)
ROLE_CALLS: Final = "pg_stat_statements.role_calls"
PLANS: Final = "pg_stat_statements.plans"
CHANGED: Final = "pg_stat_sys_tables.n_tup_upd"
MOST_NAMED: Final = 2


class Invalidation(NamedTuple):
    """A command that throws a statement's plan away: its first words, calls a second, text and role, where known."""

    command: str
    per_s: float
    statement_id: str
    text: str
    role: str | None


def invalidations(case: Case, one: Statement) -> list[Invalidation]:
    """The commands that change what a statement reads once a second and more, the most frequent first."""
    commands = [
        (command[1].upper(), other)
        for other in case.statements
        if other.db == one.db
        and (other.calls_per_s or 0.0) >= OFTEN_PER_S
        and (command := _COMMAND.match(other.text or ""))
    ]
    tables = tables_of(one.text or "") if commands else ()  # to parse the text takes longer than all the rest
    found = [
        Invalidation(command, other.calls_per_s or 0.0, other.statement_id, other.text or "", _role(case, other))
        for command, other in commands
        if _changes(other.text or "", tables)
    ]
    return sorted(found, key=lambda it: -it.per_s)


def named(found: Sequence[Invalidation]) -> Phrase | str:
    """The most frequent, for a title."""
    return (
        phrase("; its plan is thrown away by {} {:.0f} times a second", found[0].command, found[0].per_s)
        if found
        else ""
    )


def evidence(case: Case, one: Statement, found: Sequence[Invalidation]) -> list[Evidence]:
    """How often it is planned, each of the commands and who runs it, and the rows of the catalogues that change."""
    commands = [
        Evidence("statement", f"statement_id = '{it.statement_id}'",
                 phrase("{:.1f calls/s} of {}{}", it.per_s, it.command, phrase(" by {}", it.role) if it.role else ""),
                 phrase("{:.1f calls/s}", OFTEN_PER_S), shortened(it.text), "at_least")
        for it in found[:MOST_NAMED]
    ]  # fmt: skip
    return [*_planned(case, one), *commands, *_catalogues(case, one.db)]


def first_steps(case: Case, one: Statement, found: Sequence[Invalidation]) -> list[Phrase]:
    """To have the command run once; where only what it changes is seen, to find it first.

    A command that a driver has prepared is counted once: pg_stat_statements takes its later executions for another's.
    """
    if found:
        it = found[0]
        who = phrase(", by {}", it.role) if it.role else ""
        return [phrase("Find what runs {} {:.0f} times a second{}: a job or a deployment that does again what is done. "
                       "Have it look first (has_table_privilege, pg_stat_user_tables.last_analyze), or run once: the "
                       "server changes the catalogue also where nothing is new, and all sessions plan anew what they "
                       "had prepared.", it.command, it.per_s, who)]  # fmt: skip
    return [
        phrase("See whether a command throws the plans away: {} changes {:.0f} times a second. For a minute, "
               "log_statement = ddl shows GRANT and ALTER, = all ANALYZE too.", figure.entity, figure.mean)
        for figure in _changed(case, one.db)[:1]
    ]  # fmt: skip


def _changes(text: str, tables: Sequence[str]) -> bool:
    """Whether a command changes one of these tables, or what may be any of them."""
    words = names(text)
    return any(table in words for table in tables) or _OF_ALL.search(text) is not None


def _role(case: Case, one: Statement) -> str | None:
    """Who runs it most: by pg_stat_statements, else by samples."""
    counted = [(figure.last, role) for figure in _of(case, ROLE_CALLS, one.db)
               for number, _, role in [(figure.entity or "").partition(" ")] if number == one.statement_id]  # fmt: skip
    sampled = (who.user for who in runners(case.dataset) if (who.db, who.statement_id) == (one.db, one.statement_id))
    return max(counted)[1] if counted else next(sampled, None)


def _planned(case: Case, one: Statement) -> list[Evidence]:
    """How many of a statement's executions are planned, where that is counted (track_planning)."""
    plans = next((it.mean for it in _of(case, PLANS, one.db) if it.entity == one.statement_id), None)
    if plans is None:
        return []
    why = phrase("of {:.1f} executions a second", one.calls_per_s)
    return [Evidence("statistic", f"name = '{PLANS}' and entity = '{one.statement_id}'",
                     phrase("planned {:.1f times} a second", plans), "", why)]  # fmt: skip


def _catalogues(case: Case, db: str) -> list[Evidence]:
    """The catalogues of which rows are changed once a second and more."""
    return [
        Evidence("statistic", f"name = '{CHANGED}' and entity = '{figure.entity}'",
                 phrase("{}: {:.1f rows} changed a second", figure.entity, figure.mean),
                 phrase("{:.1f rows}", OFTEN_PER_S), "a change throws away the plans that depend on what it is of",
                 "at_least")
        for figure in _changed(case, db)[:MOST_NAMED]
    ]  # fmt: skip


def _changed(case: Case, db: str) -> list[Statistic]:
    return [figure for figure in _of(case, CHANGED, db) if figure.mean >= OFTEN_PER_S]


def _of(case: Case, name: str, db: str) -> list[Statistic]:
    return [figure for figure in case.figures(name) if figure.db == db]
