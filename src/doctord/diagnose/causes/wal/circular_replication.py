"""Logical replication in a circle: a change that was replicated is replicated again, and never comes to rest."""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.wal.subscription_signs import WORKERS
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import listed, phrase

WALSENDER: Final = "walsender"
CHANGES: Final = (
    "pg_stat_user_tables.n_tup_ins",
    "pg_stat_user_tables.n_tup_upd",
    "pg_stat_user_tables.n_tup_del",
)
# What clients do themselves is counted generously: a call may change many rows, by a function or a trigger.
TIMES_THEIRS: Final = 10.0
# A hundred changes a second that nobody asked for.
LEAST_PER_S: Final = 100.0


class Database(NamedTuple):
    """A database of a server."""

    db: str
    name: str


class Stream(NamedTuple):
    """What a subscription takes: from which database into which."""

    subscription: str
    source: Database
    target: Database


@cause(
    explains=(
        "log_writer_preempted",
        "cpu_saturated",
        "commits_slow",
        "commits_too_frequent",
        "checkpoints_too_frequent",
        "log_device_slow",
        "subscription_behind",
    )
)
def replication_in_a_circle(case: Case) -> Iterator[Claim]:
    """Databases subscribe to each other, and what one has from the other is sent back to it, again and again.

    Looks like: a database that has a subscription is also the source of one, and so on back to the first; its tables
        change thousands of times a second, for a few statements of clients; walsenders and apply workers never rest.
    Hurts because: each change goes round for ever, and each new one adds another; old values overwrite new ones; WAL is
        written without end, and commits wait behind it.
    Speaks for it: the circle, by the subscriptions and by whose walsenders send to them; rows changed a second against
        all that clients' statements can have changed.
    Speaks against it: nothing that is counted. Two databases that publish different tables to each other are no circle,
        and change no more than clients and upstream do; where a procedure changes thousands of rows a call, and its
        statements are not counted, it may look like one.
    Remedy: First: ALTER SUBSCRIPTION ... DISABLE one of them: the changes under way come to rest. Compare the tables,
        for what is newest may have been overwritten. PostgreSQL 16 and later: CREATE SUBSCRIPTION ... (origin = none)
        takes only what was changed at the source itself. Before that let each table be written in one place, publish
        it from there alone, and split what both sides have to write into tables (or partitions) of their own.
    Verify: n_tup_upd of the tables grows by what clients change; the walsenders wait in WalSenderWaitForWAL.
    Source: PostgreSQL documentation, CREATE SUBSCRIPTION (origin), "Logical Replication: Restrictions" and "Conflicts",
        pg_stat_subscription, pg_stat_replication.
    """
    streams = [*_streams(case)]
    for circle in _circles(streams):
        databases = [one.target for one in circle]
        changed = {one: _changed(case, one) for one in databases}
        own = [_by_clients(case, one) for one in databases]
        counted = [one for one in own if one is not None]
        if len(counted) < len(own):
            continue  # what clients change themselves is not known
        own_per_s = sum(counted)
        least = min(sum(tables.values()) for tables in changed.values())
        if least < max(LEAST_PER_S, TIMES_THEIRS * own_per_s):
            continue
        table, rate = max(changed[databases[0]].items(), key=lambda one: one[1])
        names = [f"{one.target.name}.{one.subscription}" for one in circle]
        yield Claim(
            phrase("Changes go round for ever: subscriptions {} replicate {} in a circle, {:,.0f} rows a second",
                   listed(*names), table, rate),
            impact=NOT_MEASURED,
            confidence=0.85,
            severity="critical",
            for_=[
                *(_stream(one) for one in circle),
                *(_evidence(one, tables, own_per_s) for one, tables in changed.items()),
            ],
            database=circle[0].target.db,
        )  # fmt: skip


def _streams(case: Case) -> Iterator[Stream]:
    """Which database of those that were looked at sends to which; a walsender is named after its subscription."""
    senders = case.dataset.frame("session").filter(
        (pl.col("kind") == WALSENDER) & pl.col("program").is_not_null() & pl.col("database").is_not_null()
    )
    sources = dict[str, set[Database]]()
    for db, name, program in senders.select("db", "database", "program").unique(maintain_order=True).iter_rows():
        sources.setdefault(program, set()).add(Database(db, name))
    for one in case.figures(WORKERS):
        database, _, subscription = (one.entity or "").partition(".")
        if one.db and one.last and len(found := sources.get(subscription, set())) == 1:
            yield Stream(subscription, next(iter(found)), Database(one.db, database))


def _circles(streams: list[Stream]) -> Iterator[list[Stream]]:
    """The shortest way from each stream's target back to its source, each circle once.

    Not all ways: of databases that all subscribe to each other these are too many to go through.
    """
    told = set[frozenset[Stream]]()
    for first in streams:
        ways, known = deque([[first]]), {first.target}
        while ways:
            way = ways.popleft()
            if way[-1].target == first.source:
                if frozenset(way) not in told:
                    told.add(frozenset(way))
                    yield way
                break
            further = [one for one in streams if one.source == way[-1].target and one.target not in known]
            known |= {one.target for one in further}
            ways += [[*way, one] for one in further]


def _changed(case: Case, one: Database) -> dict[str, float]:
    """Rows changed a second, by table."""
    found = dict[str, float]()
    for figure in (figure for name in CHANGES for figure in case.figures(name) if figure.db == one.db):
        database, _, table = (figure.entity or "").partition(".")
        if database == one.name:
            found[table] = found.get(table, 0.0) + figure.mean
    return found


def _by_clients(case: Case, one: Database) -> float | None:
    """Calls and rows a second of all statements of a database, more than clients change; null where none is counted."""
    rows = case.dataset.frame("statement").filter(
        (pl.col("db") == one.db) & (pl.col("database") == one.name) & pl.col("calls_per_s").is_not_null()
    )
    if rows.is_empty():
        return None
    means = rows.group_by("statement_id", maintain_order=True).agg(pl.col("calls_per_s", "rows_per_s").mean())
    return float(means.select(pl.sum_horizontal(pl.col("calls_per_s").sum(), pl.col("rows_per_s").sum())).item() or 0.0)


def _stream(one: Stream) -> Evidence:
    return Evidence("session", f"kind = '{WALSENDER}' and program = '{one.subscription}'",
                    phrase("{} of {} sends to subscription {} of {}", one.source.name, one.source.db, one.subscription,
                           one.target.name), "", "a walsender is at work for it")  # fmt: skip


def _evidence(one: Database, tables: Mapping[str, float], own_per_s: float) -> Evidence:
    return Evidence("statistic", f"name in {CHANGES} and entity like '{one.name}.%'",
                    phrase("{:,.0f} rows a second are changed in {}", sum(tables.values()), one.name),
                    phrase("{:,.0f}", max(LEAST_PER_S, TIMES_THEIRS * own_per_s)),
                    phrase("clients' statements come to {:,.0f} calls and rows a second, in all of them", own_per_s),
                    "at_least")  # fmt: skip
