"""Statements, from pg_stat_statements: what each cost between two readings of the view.

The counters are read without the texts, which the server keeps in a file; the text of a statement is fetched once,
when it first matters, and every constant is taken out of it.
"""

import math
import os
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from psycopg import sql

from doctord._native import Batch
from doctord.collect.core.rates import EARLY, Cadence, Counters, Increase
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.databases import Databases
from doctord.collect.postgres.statistics.extensions import HINT, place_of
from doctord.collect.postgres.statistics.figures import Figures
from doctord.collect.postgres.statistics.role_work import RoleWork
from doctord.dataset.rows import now_us, rows
from doctord.dataset.scrub import scrub
from doctord.regex import regex

_OURS: Final = "SELECT /* doctord */"
_TOP: Final = 200
_TEXT_LENGTH: Final = 2000
_TEXTS_KEPT: Final = 5000
_LOOK_EVERY_S: Final = 300.0
# Of the time of all statements, and in sessions on average: what is less is felt by nobody.
_PART: Final = 0.05
_LEAST_SESSIONS: Final = 0.005

_EXTENSION: Final = "pg_stat_statements"
_COUNTERS: Final = """\
SELECT /* doctord */ dbid, queryid, sum(calls)::float8 AS calls_per_s,
       sum(total_exec_time) / 1000 AS elapsed_s_per_s,
       sum(rows)::float8 AS rows_per_s,
       sum(shared_blks_read + local_blks_read)::float8 AS read_blocks_per_s,
       sum(shared_blks_hit + local_blks_hit)::float8 AS hit_blocks_per_s,
       sum(temp_blks_read + temp_blks_written)::float8 * current_setting('block_size')::int AS temp_bytes_per_s,
       sum(wal_bytes)::float8 AS wal_bytes_per_s{further}
FROM {schema}.pg_stat_statements(false)
WHERE queryid IS NOT NULL
GROUP BY dbid, queryid
"""
_TEXTS: Final = """\
SELECT /* doctord */ queryid, min(query) AS query FROM {schema}.pg_stat_statements(true)
WHERE queryid = ANY(%s) AND query IS NOT NULL GROUP BY queryid
"""
# Of a command that changes the catalogues, or asks for a checkpoint, it matters who runs it.
_COMMAND: Final = regex(
    r"\s*(grant|revoke|analyze|vacuum|alter|create|drop|truncate|reindex|refresh|cluster|checkpoint)\b", re.IGNORECASE
)
_ROLES: Final = """\
SELECT /* doctord */ s.queryid, r.rolname AS role, sum(s.calls)::float8 AS calls
FROM {schema}.pg_stat_statements(false) AS s JOIN pg_roles AS r ON r.oid = s.userid
WHERE s.queryid = ANY(%s) GROUP BY s.queryid, r.rolname
"""
_OFTEN_PER_S: Final = 0.2
_DATABASES: Final = "SELECT /* doctord */ oid, datname FROM pg_database"
_COLUMNS: Final = """\
SELECT /* doctord */ attname AS name FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
WHERE c.relname = 'pg_stat_statements' AND c.relnamespace = to_regnamespace(quote_ident(%s)) AND attname = ANY(%s)
"""

# What `statement` has no column for. Just-in-time compilation is counted from version 1.10 of the extension on
# (PostgreSQL 15); the time for deforming functions, which 1.11 tells, is part of the generation. Parallel workers are
# counted from 1.12 on (PostgreSQL 18).
FURTHER: Final = (
    "pg_stat_statements.plans",
    "pg_stat_statements.total_plan_time",
    "pg_stat_statements.jit_functions",
    "pg_stat_statements.jit_generation_time",
    "pg_stat_statements.jit_inlining_time",
    "pg_stat_statements.jit_optimization_time",
    "pg_stat_statements.jit_emission_time",
    "pg_stat_statements.parallel_workers_to_launch",
    "pg_stat_statements.parallel_workers_launched",
)
VIEW: Final = "pg_stat_statements."
# Less is within the ups and downs of any statement, and a few calls are no past.
SLOWER: Final = 2.0
FEWEST_CALLS: Final = 100.0
OF_A_CALL: Final = ("calls_per_s", "elapsed_s_per_s", "rows_per_s", "hit_blocks_per_s", "read_blocks_per_s")

_HINT: Final = (
    "shared_preload_libraries = 'pg_stat_statements' in postgresql.conf, restart, then in one database: "
    "CREATE EXTENSION pg_stat_statements"
)

Key = tuple[int, int, str]
"""Database, statement, column."""
Cost = tuple[tuple[int, int], dict[str, float]]
"""Database and statement, and their columns."""


class Statements:
    """Fills `statement` with the 200 statements that took most time since the last reading.

    What they spent on planning and on compiling, and their parallel workers, go into `statistic`: of each that did
    (entity: its id), and of all together, where the extension counts it. So does what a statement took before this
    interval, since the server counts it, where it takes much longer now: that is its past, also on a server that nobody
    has recorded; of commands that come again and again, which roles run them; and how much each role does (`RoleWork`).

    The extension shows the whole server's statements in whichever database it was created: the largest are looked into.
    CPU time and plans are not counted by the server and stay null. `costliest` are those of the last reading that took
    a twentieth of all that it tells and more, by the number of their database and their own, and `place` where the
    extension is: a link, and the schema there; null before it was found.
    """

    name = "statements"

    def __init__(self) -> None:
        """Due soon after the start, then every half minute."""
        self.cadence = Cadence(every_s=30, early_s=EARLY)
        self.costliest: list[tuple[int, int]] = []
        self.place: tuple[Link, str] | None = None
        self._databases = Databases()
        self._further: list[str] = []
        self._looked_at = -math.inf
        self._counters = Counters[Key](from_zero=True)
        self._texts: dict[int, str] = {}
        self._ours: set[int] = set()
        self._role_work = RoleWork()

    def read(self, link: Link) -> list[Batch]:
        """Rows since the last call; none the first time."""
        found = self._look(link)
        if found is None:
            return []
        where, schema = found
        where.open()
        entries = where.query(_sql(_COUNTERS, schema, _sums(self._further)))
        before = self._counters.last
        increase = self._counters.step(time.monotonic(), _reading(entries))
        if increase is None:
            return self._role_work.read(link.db, where, schema, self._ours)
        top = _costliest(increase)
        self._learn_texts(where, schema, [statement for (_, statement), _ in top])
        self.costliest = [key for key, _ in _that_matter(top) if key[1] not in self._ours]
        return [
            *self._batches(link, top, increase.interval_s),
            *self._spent_before(link, top, increase),
            *self._past(link, top, before),
            *self._roles(link.db, where, schema, top),
            *self._role_work.read(link.db, where, schema, self._ours),
        ]

    def close(self) -> None:
        """Close connections to other databases."""
        self._databases.close()

    def _batches(self, link: Link, top: list[Cost], interval_s: float) -> list[Batch]:
        names = {row["oid"]: row["datname"] for row in link.query(_DATABASES)}
        common = {"ts": now_us(), "interval_s": interval_s, "host": os.uname().nodename, "db": link.db}
        found: list[dict[str, Any]] = [
            {
                **common,
                "database": names.get(database),
                "statement_id": str(statement),
                "text": self._texts.get(statement),
                **{column: value for column, value in figures.items() if column.endswith("_per_s")},
            }
            for (database, statement), figures in top
            if statement not in self._ours
        ]
        return [rows("statement", found)] if found else []

    def _spent_before(self, link: Link, top: list[Cost], increase: Increase[Key]) -> list[Batch]:
        """What was spent on planning and on compiling, by statement and in all."""
        wholes = dict.fromkeys(self._further, 0.0)
        parts: dict[tuple[int, str], float] = {}
        told = {key for key, _ in top}
        for (database, statement, column), per_s in increase.per_s.items():
            if column in wholes and statement not in self._ours:
                wholes[column] += per_s
                if per_s and (database, statement) in told:
                    parts[statement, column] = parts.get((statement, column), 0.0) + per_s
        figures = Figures(link.db)
        for column, per_s in wholes.items():
            figures.rate(column, per_s, increase.interval_s)
        for (statement, column), per_s in parts.items():
            figures.rate(column, per_s, increase.interval_s, str(statement))
        return figures.batches()

    def _past(self, link: Link, top: list[Cost], before: Mapping[Key, float]) -> list[Batch]:
        """What those that take SLOWER times as long as ever before took then, of all calls that the server counted."""
        figures = Figures(link.db)
        for key, now in top:
            past = {column: before.get((*key, column), 0.0) for column in OF_A_CALL}
            if key[1] not in self._ours and past["calls_per_s"] >= FEWEST_CALLS and _is_slower(now, past):
                calls, entity = past["calls_per_s"], str(key[1])
                blocks = past["hit_blocks_per_s"] + past["read_blocks_per_s"]
                figures.gauge("pg_stat_statements.past_calls", calls, "count", entity)
                figures.gauge(
                    "pg_stat_statements.past_ms_per_call", past["elapsed_s_per_s"] * 1e3 / calls, "ms", entity
                )
                figures.gauge("pg_stat_statements.past_rows_per_call", past["rows_per_s"] / calls, "rows", entity)
                figures.gauge("pg_stat_statements.past_blocks_per_call", blocks / calls, "blocks", entity)
        return figures.batches()

    def _roles(self, db: str, where: Link, schema: str, top: list[Cost]) -> list[Batch]:
        """Who runs the commands that come again and again: calls of each role in all (entity: id and role)."""
        often = {number for (_, number), figures in top if figures["calls_per_s"] >= _OFTEN_PER_S}
        commands = [number for number in sorted(often) if _COMMAND.match(self._texts.get(number, ""))]
        figures = Figures(db)
        for row in where.query(_sql(_ROLES, schema), (commands,)) if commands else ():
            figures.gauge("pg_stat_statements.role_calls", row["calls"], "count", f"{row['queryid']} {row['role']}")
        return figures.batches()

    def _look(self, link: Link) -> tuple[Link, str] | None:
        """The link to a database that has the extension, and the schema that it is in there, as it is now."""
        if self.place is not None and not _is_still(self.place):
            self.place, self._looked_at = None, -math.inf
        if self.place is None and time.monotonic() - self._looked_at >= _LOOK_EVERY_S:
            self._looked_at = time.monotonic()
            why, hint = "pg_stat_statements is in none of the databases", _HINT
            for candidate in self._databases.links(link):
                installed = place_of(candidate, _EXTENSION)
                if installed and installed.is_safe:
                    self.place = (candidate, installed.schema)
                    self._further = _known(candidate, installed.schema)
                    return self.place
                if installed:
                    why, hint = installed.why_not, HINT.format(_EXTENSION)
            link.notices.not_measured(link.db, "statements", why, hint)
        return self.place

    def _learn_texts(self, where: Link, schema: str, statements: list[int]) -> None:
        if len(self._texts) > _TEXTS_KEPT:
            self._texts.clear()
        unknown = [statement for statement in statements if statement not in self._texts]
        if unknown:
            for row in where.query(_sql(_TEXTS, schema), (unknown,)):
                if row["query"].startswith(_OURS):
                    self._ours.add(row["queryid"])
                self._texts[row["queryid"]] = scrub(row["query"], "postgresql")[:_TEXT_LENGTH]


def _is_still(place: tuple[Link, str]) -> bool:
    """Whether the extension is where it was, and nobody has come to own its schema."""
    where, schema = place
    where.open()
    now = place_of(where, _EXTENSION)
    return now is not None and now.is_safe and now.schema == schema


def _reading(entries: Iterable[dict[str, Any]]) -> dict[Key, float]:
    return {
        (entry["dbid"], entry["queryid"], column): value
        for entry in entries
        for column, value in entry.items()
        if column.endswith("_per_s") or column.startswith(VIEW)
    }


def _costliest(increase: Increase[Key]) -> list[Cost]:
    """The statements that were executed, by the time that they took."""
    statements: dict[tuple[int, int], dict[str, float]] = {}
    for (database, statement, column), per_s in increase.per_s.items():
        statements.setdefault((database, statement), {})[column] = per_s
    executed = [item for item in statements.items() if item[1].get("calls_per_s")]
    return sorted(executed, key=lambda item: -item[1].get("elapsed_s_per_s", 0.0))[:_TOP]


def _that_matter(top: list[Cost]) -> list[Cost]:
    """Those that took a part of the time worth a look at their plans."""
    spent = sum(figures.get("elapsed_s_per_s", 0.0) for _, figures in top)
    return [one for one in top if one[1].get("elapsed_s_per_s", 0.0) >= max(_PART * spent, _LEAST_SESSIONS)]


def _is_slower(now: Mapping[str, float], past: Mapping[str, float]) -> bool:
    """Whether a call takes SLOWER times as long as one did before."""
    before = past["elapsed_s_per_s"] / past["calls_per_s"]
    return now.get("elapsed_s_per_s", 0.0) / now["calls_per_s"] >= SLOWER * before


def _known(link: Link, schema: str) -> list[str]:
    """Those of FURTHER that this version of the extension has."""
    columns = [name.removeprefix(VIEW) for name in FURTHER]
    return sorted(f"{VIEW}{row['name']}" for row in link.query(_COLUMNS, (schema, columns)))


def _sums(names: Iterable[str]) -> sql.Composable:
    """Further sums for the list of `_COUNTERS`, each under the view's and its own name."""
    parts = (
        sql.SQL(", sum({})::float8 AS {}").format(sql.Identifier(name.removeprefix(VIEW)), sql.Identifier(name))
        for name in names
    )
    return sql.SQL("").join(parts)


def _sql(template: str, schema: str, further: sql.Composable | None = None) -> sql.Composed:
    return sql.SQL(template).format(schema=sql.Identifier(schema), further=further or sql.SQL(""))
