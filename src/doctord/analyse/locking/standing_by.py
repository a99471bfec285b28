"""Sessions that stand by for an advisory lock that another session keeps for good, as in the election of a leader.

An application of several processes lets one of them lead: all ask for one lock (pg_advisory_lock), one has it until it
dies, and the others wait for that with nothing else to do. In the server's view these wait all of the time, and nobody
lacks anything. A lock that work waits for looks different: who waits has begun something, or has to go on.
"""

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import CLIENT
from doctord.regex import regex

EVENT: Final = "advisory"
USER_LOCK: Final = "User lock"
"""MySQL's GET_LOCK, which is always the session's."""
# A statement of its own begins its transaction: PostgreSQL then has one time for both. It is later where a BEGIN came
# before, and where a driver sends the statement in parts, by hundreds of microseconds as well. The two ages are read
# one after the other: of several looks the smallest difference counts.
ITS_OWN_S: Final = 1e-5
IN_PARTS_S: Final = 0.005
# A lock of the session, in a statement that does nothing else; that of a transaction would be gone with the statement.
ONLY_LOCKS: Final = regex(
    r"\s*select\s+(?:pg_catalog\.)?pg_advisory_lock(?:_shared)?\s*\([^()]*\)\s*;?\s*"
    r"|\s*(?:select|do)\s+`?get_lock`?\s*\([^()]*\)\s*;?\s*",
    re.IGNORECASE,
)
# Two looks apart: the last sample of a session that still waits is no older.
APART: Final = timedelta(seconds=3)


class StandingBy(NamedTuple):
    """Sessions that wait for one session's advisory lock, and did so before the first look and at the last.

    `holder` is that session, `event` the server's name of such a lock, `waited_s` the time of all in sum within the
    interval, `longest_s` how long one has waited already, `programs` what they call themselves.
    """

    db: str
    holder: int
    event: str
    sessions: int
    waited_s: float
    longest_s: float
    programs: tuple[str, ...]


class _Waiter(NamedTuple):
    """A session that waited for an advisory lock at some look, and the first and last look at its server.

    `only` is whether it did nothing else, `holders` how many sessions it waited for, `before_s` by how much its
    transaction is older than its statement, at the least; null where it has none, as in MySQL.
    """

    db: str
    only: bool
    holders: int
    holder: int | None
    waited_s: float
    in_state_s: float | None
    before_s: float | None
    event: str
    statement_id: str | None
    program: str | None
    seen: datetime
    begin: datetime
    end: datetime


def standing_by(dataset: Dataset) -> list[StandingBy]:
    """Those that wait so, by the session that they wait for, most of them first.

    None of a holder that some wait for in another way, or came to wait for later: then the line grows. None of one that
    has been in one transaction all along: its lock may go with that, which is work that others wait for. None of a
    prepared transaction (0): it has no session that could lead.
    """
    session = dataset.frame("session")
    if not session["event"].is_in([EVENT, USER_LOCK]).any():
        return []
    session = session.filter(pl.col("kind") == CLIENT)
    texts = dict(dataset.frame("statement").select("statement_id", "text").drop_nulls().iter_rows())
    lines, spoilt = dict[tuple[str, int], list[_Waiter]](), set[tuple[str, int | None]]()
    for waiter in _waiters(session):
        if waiter.holder and _stands_by(waiter, texts.get(waiter.statement_id or "")):
            lines.setdefault((waiter.db, waiter.holder), []).append(waiter)
        else:
            spoilt.add((waiter.db, waiter.holder))
    found = [
        _line(*key, line)
        for key, line in lines.items()
        if spoilt.isdisjoint({key, (key[0], None)}) and not _is_at_work(session, *key, line)
    ]
    return sorted(found, key=lambda one: (-one.sessions, one.db, one.holder))


def _waiters(session: pl.DataFrame) -> list[_Waiter]:
    looks = session.group_by("db", maintain_order=True).agg(
        pl.col("ts").min().alias("begin"), pl.col("ts").max().alias("end")
    )
    grouped = (
        session.group_by("db", "sid", "serial", maintain_order=True)
        .agg(
            pl.col("event").is_in([EVENT, USER_LOCK]).all().alias("only"),
            pl.col("event").is_in([EVENT, USER_LOCK]).any().alias("any"),
            pl.col("event").last(),
            pl.col("blocker_sid").drop_nulls().n_unique().alias("holders"),
            pl.col("blocker_sid").drop_nulls().last().alias("holder"),
            pl.col("interval_s").sum().alias("waited_s"),
            pl.col("in_state_s").last(),
            (pl.col("transaction_s") - pl.col("statement_s")).abs().min().alias("before_s"),
            pl.col("statement_id", "program").drop_nulls().last(),
            pl.col("ts").last().alias("seen"),
        )
        .filter("any")
        .join(looks, on="db", maintain_order="left")
    )
    return [_Waiter(*row) for row in grouped.select(_Waiter._fields).iter_rows()]


def _stands_by(one: _Waiter, text: str | None) -> bool:
    """Whether a session did nothing but wait, in one statement that begins its transaction, all along."""
    if not one.only or one.holders != 1 or one.in_state_s is None:
        return False
    if one.in_state_s < (one.end - one.begin).total_seconds() or one.end - one.seen > APART:
        return False
    if one.event == USER_LOCK:
        return one.before_s is None and text is not None and ONLY_LOCKS.fullmatch(text) is not None
    if one.before_s is None:
        return False
    if text is None:
        return one.before_s < ITS_OWN_S
    return ONLY_LOCKS.fullmatch(text) is not None and one.before_s < IN_PARTS_S


def _is_at_work(session: pl.DataFrame, db: str, holder: int, line: list[_Waiter]) -> bool:
    """Whether who has the lock is in a transaction that is as old as the shortest of these waits."""
    own = session.filter((pl.col("db") == db) & (pl.col("sid") == holder))["transaction_s"].drop_nulls()
    shortest = min(one.in_state_s or 0.0 for one in line)
    return bool((own >= shortest).any())


def _line(db: str, holder: int, line: list[_Waiter]) -> StandingBy:
    return StandingBy(
        db,
        holder,
        line[0].event,
        len(line),
        sum(one.waited_s for one in line),
        max(one.in_state_s or 0.0 for one in line),
        tuple(sorted({one.program for one in line if one.program})),
    )
