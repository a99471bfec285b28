"""Autovacuum that gives way: who waits for a lock that one of its workers holds, and how often it was cancelled.

Any lock that conflicts with SHARE UPDATE EXCLUSIVE cancels a worker after deadlock_timeout, unless it prevents a
wraparound. Source: PostgreSQL documentation, "The Autovacuum Daemon", "Table-Level Locks".
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, Final, NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import CLIENT
from doctord.regex import regex

WORKER: Final = "autovacuum worker"
CANCELLED: Final = "log.autovacuum_cancelled"
LAST_VACUUM: Final = "pg_stat_user_tables.last_vacuum_age_s"
RELATION: Final = "relation"
# Samples of one wait follow each other; a collector that was kept from its work leaves out a second or two.
APART: Final = timedelta(seconds=3)
_VACUUMS: Final = regex(r"autovacuum: VACUUM(?: ANALYZE)? (?P<table>.+?)(?P<forced> \(to prevent wraparound\))?$")


class Taker(NamedTuple):
    """Sessions of one user and program that waited for a lock of autovacuum's on a table, and their last statement.

    `table` is `schema.table`, null where the samples do not tell it; `times` is how often they waited, `last` when they
    did so last, `waited_s` how long in all, and `longest_s` how long one wait was.
    """

    db: str
    database: str | None
    table: str | None
    user: str | None
    program: str | None
    statement_id: str | None
    times: int
    last: datetime
    waited_s: float
    longest_s: float


def table_of(task: str | None) -> str | None:
    """The table that a worker vacuums, as it says itself; null where it does something else.

    >>> table_of("autovacuum: VACUUM ANALYZE public.jobs"), table_of("autovacuum: ANALYZE public.jobs")
    ('public.jobs', None)
    """
    found = _VACUUMS.match(task or "")
    return found["table"] if found else None


def gives_way(task: str | None) -> bool:
    """Whether a worker is cancelled for who wants the lock: not while it prevents a wraparound.

    >>> gives_way("autovacuum: VACUUM public.jobs (to prevent wraparound)"), gives_way(None)
    (False, True)
    """
    found = _VACUUMS.match(task or "")
    return not (found and found["forced"])


def takers(dataset: Dataset) -> list[Taker]:
    """Who waited for locks of workers that give way; who did so most often first."""
    session = dataset.frame("session")
    waiting = session.filter((pl.col("kind") == CLIENT) & (pl.col("event") == RELATION)).drop_nulls("blocker_sid")
    workers = session.filter(pl.col("kind") == WORKER).select(
        "ts", "db", pl.col("sid").alias("blocker_sid"), pl.col("program").alias("task")
    )
    behind = waiting.join(workers, on=["ts", "db", "blocker_sid"], how="inner", maintain_order="left")
    found: dict[_Who, list[_Wait]] = {}
    for rows in behind.sort("ts", maintain_order=True).partition_by("db", "sid", "serial", maintain_order=True):
        for row in (row for row in rows.iter_rows(named=True) if gives_way(row["task"])):
            waits = found.setdefault(
                _Who(table=table_of(row["task"]), **{name: row[name] for name in _Who.SAMPLED}), []
            )
            wait = waits[-1] if waits else None
            if wait is None or wait.sid != row["sid"] or row["ts"] - wait.ts > APART:
                wait = _Wait(row["sid"], row["ts"])
                waits.append(wait)
            wait.ts, wait.seconds = row["ts"], wait.seconds + (row["interval_s"] or 0.0)
            wait.statement_id = row["statement_id"] or wait.statement_id
    told = [_taker(who, waits) for who, waits in found.items()]
    return sorted(told, key=lambda one: (-one.times, -one.waited_s))


def vacuumed(dataset: Dataset, db: str) -> dict[str, datetime]:
    """When the last vacuum of each table (`database.schema.table`) of a server ended, where one ever did."""
    rows = dataset.frame("statistic").filter((pl.col("db") == db) & (pl.col("name") == LAST_VACUUM))
    last = rows.group_by("entity", maintain_order=True).last().select("entity", "ts", "value").drop_nulls()
    return {entity: ts - timedelta(seconds=age_s) for entity, ts, age_s in last.iter_rows()}


def cancelled(dataset: Dataset, db: str) -> dict[str | None, int]:
    """How often the log says that a table's vacuum was cancelled since the last one ended, by `database.schema.table`.

    The table is null where the log does not name it.
    """
    ended = vacuumed(dataset, db)
    counts: dict[str | None, float] = {}
    rows = dataset.frame("statistic").filter((pl.col("db") == db) & (pl.col("name") == CANCELLED))
    for entity, ts, per_s, seconds in rows.select("entity", "ts", "value", "interval_s").iter_rows():
        if entity not in ended or ts > ended[entity]:
            counts[entity] = counts.get(entity, 0.0) + per_s * (seconds or 0.0)
    return {entity: round(count) for entity, count in counts.items() if round(count)}


@dataclass(frozen=True)
class _Who:
    """Whose waits are counted together."""

    SAMPLED: ClassVar = ("db", "database", "user", "program")

    db: str
    database: str | None
    user: str | None
    program: str | None
    table: str | None


@dataclass
class _Wait:
    """One wait of a session, as far as it was sampled."""

    sid: int
    ts: datetime
    seconds: float = 0.0
    statement_id: str | None = None  # a server does not tell it at each look


def _taker(who: _Who, waits: list[_Wait]) -> Taker:
    seconds = [wait.seconds for wait in waits]
    return Taker(
        db=who.db,
        database=who.database,
        table=who.table,
        user=who.user,
        program=who.program,
        statement_id=next((wait.statement_id for wait in reversed(waits) if wait.statement_id), None),
        times=len(waits),
        last=max(wait.ts for wait in waits),
        waited_s=sum(seconds),
        longest_s=max(seconds),
    )
