"""Locks: sessions that wait for rows, tables or advisory locks that another session holds."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.locks import Blocker
from doctord.diagnose.case import WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

ROW_LOCKS = ("transactionid", "tuple")
IDLE_PART = 0.5
# A client that answers within a second is on its way between two statements; one that does not has gone away.
GONE_AWAY_S = 2.0
SHORT_WAIT_S = 1.0


@cause()
def row_locks(case: Case) -> Iterator[Claim]:
    """Sessions queue behind row locks.

    Looks like: client sessions wait on `transactionid` or `tuple` while CPUs and disks have room.
    Hurts because: rows that many transactions change serve one transaction at a time; what waits in the queue holds its
        own locks and its connection meanwhile.
    Speaks for it: share of database time in these waits; a blocking tree whose root is at work, and at what: a root
        that waits for the log or for a read holds the row as long as that takes.
    Speaks against it: a root that is idle in its transaction (that is another cause); short waits over many roots.
    Remedy: Shorten the transaction that holds the row: change the hot row last, commit at once, keep round trips to the
        client out of it. Split a hot counter over several rows, or add up later. Look at the statements named here.
    Verify: Record the same load again: the share of `transactionid` and `tuple` waits falls, commits per second
        rise.
    Source: PostgreSQL documentation, "Explicit Locking" and "Wait Events of Type Lock"; in Oracle's terms enq: TX - row
        lock contention.
    """
    share = case.time.share("Application", *ROW_LOCKS)
    if not case.worth_saying(share):
        return
    waiters = case.active.filter(pl.col("event").is_in(ROW_LOCKS))
    roots = case.blockers
    yield Claim(
        phrase("{:share of database} is spent waiting for row locks", share),
        impact=share,
        confidence=0.9,
        for_=[
            Evidence(
                "session",
                "event in ('transactionid', 'tuple')",
                phrase("{:share of database}, {:.1f} sessions on average", share, case.time.seconds_per_second * share),
                phrase("{:share}", WORTH_SAYING_SHARE),
                phrase("{} sessions took part", waiters["sid"].n_unique()),
                "at_least",
            ),
            *(_tree(case, root) for root in roots[:3]),
            *_round_trips(roots),
        ],
        against=_short_waits(case, waiters),
        unseen=() if roots else case.unseen("pg_blocking_pids", "pg_monitor"),
    )


@cause(explains=("row_locks", "relation_locks", "vacuum_held_back"))
def idle_in_transaction_blocker(case: Case) -> Iterator[Claim]:
    """A session that does nothing keeps locks that others need.

    Looks like: a blocking tree whose root is `idle in transaction`: the application opened a transaction and went away.
    Hurts because: every session that needs the rows waits until that client comes back; nothing on the server can help.
    Speaks for it: time that others waited behind the idle session; age of its transaction.
    Speaks against it: a root that is at work most of the time, or idle for moments only (round trips to its client).
    Remedy: Find out what the client does between its statements and end the transaction before it; until then end the
        session (pg_terminate_backend) and set idle_in_transaction_session_timeout for that role.
    Verify: The session is gone from pg_stat_activity and the time waited behind it falls to zero.
    Source: PostgreSQL documentation, idle_in_transaction_session_timeout and pg_blocking_pids.
    """
    total = case.database_time_s()
    idle = [
        root
        for root in case.blockers
        if root.idle_blocked_s >= IDLE_PART * root.blocked_s and root.longest_idle_s >= GONE_AWAY_S
    ]
    blocked_s = sum(root.idle_blocked_s for root in idle)
    if not total or not case.worth_saying(blocked_s / total):
        return
    root = idle[0]
    yield Claim(
        phrase("An idle transaction, session {}, blocks {} others", root.sid, root.waiters),
        impact=blocked_s / total,
        confidence=0.95,
        for_=[_tree(case, root) for root in idle[:3]],
        remedy=(
            phrase("Now: select pg_terminate_backend({}) ends it, once you know that its work may be lost.", root.sid),
            phrase(
                "Then: end the transaction in the application before it does anything else, and set "
                "idle_in_transaction_session_timeout for {} as a safety net.",
                root.user or "that role",
            ),
        ),
    )


@cause()
def relation_locks(case: Case) -> Iterator[Claim]:
    """Sessions queue behind a lock on a whole table, or an advisory lock.

    Looks like: client sessions wait on `relation`, `advisory`, `virtualxid` or `object`.
    Hurts because: a statement that wants an exclusive lock (ALTER TABLE, VACUUM FULL, LOCK, TRUNCATE) waits for all
        before it, and everything after it waits for the statement.
    Speaks for it: share of database time in these waits, and the session at the root.
    Speaks against it: few sessions, or a short time.
    Remedy: Run such statements with lock_timeout and try again, at a quiet time; use the CONCURRENTLY forms; keep
        transactions that read the table short.
    Verify: The share of these waits falls; the root is gone.
    Source: PostgreSQL documentation, "Table-Level Locks".
    """
    events = ("relation", "advisory", "virtualxid", "object", "extend", "userlock")
    share = case.time.share("Application", *events)
    if not case.worth_saying(share):
        return
    yield Claim(
        phrase("{:share of database} is spent waiting for locks on tables or other objects", share),
        impact=share,
        confidence=0.85,
        for_=[
            Evidence(
                "session",
                f"event in {events}",
                phrase("{:share of database}, {:.1f} sessions on average", share, case.time.seconds_per_second * share),
                phrase("{:share}", WORTH_SAYING_SHARE),
                "time that no row lock explains",
                "at_least",
            ),
            *(_tree(case, root) for root in case.blockers[:3]),
        ],
    )


def _round_trips(roots: list[Blocker]) -> list[Evidence]:
    """How much of the waiting is behind a root that is waiting for its own client."""
    blocked_s, idle_s = sum(root.blocked_s for root in roots), sum(root.idle_blocked_s for root in roots)
    if not blocked_s or idle_s < IDLE_PART * blocked_s:
        return []
    return [
        Evidence(
            "session",
            "state like 'idle in transaction%'",
            phrase("{:share} of the waiting is behind sessions that wait for their own clients", idle_s / blocked_s),
            phrase("{:share}", IDLE_PART),
            "round trips inside the transaction hold the rows longest",
            "at_least",
        )
    ]


def _who(root: Blocker) -> str:
    return " ".join(part for part in (root.user, root.program) if part) or "unknown user"


def _tree(case: Case, root: Blocker) -> Evidence:
    statement = case.statement_text(root.statement_id)
    idle = root.idle_blocked_s / root.blocked_s if root.blocked_s else 0.0
    age = "" if root.transaction_s is None else phrase(", its transaction {:.1f s} old", root.transaction_s)
    return Evidence(
        "session",
        f"blocker_sid = {root.sid}",
        phrase(
            "{:.0f s} waited behind session {} ({}), up to {} sessions",
            root.blocked_s,
            root.sid,
            _who(root),
            root.waiters,
        ),
        "",
        phrase(
            "it was idle in its transaction {:share} of that time{}{}{}",
            idle,
            age,
            phrase(", else mostly in {}", root.event) if root.event else "",
            phrase("; last statement: {}", shortened(statement)) if statement else "",
        ),
    )


def _short_waits(case: Case, waiters: pl.DataFrame) -> list[Evidence]:
    longest = waiters["in_state_s"].max()
    if not isinstance(longest, float) or longest >= SHORT_WAIT_S:
        return []
    return [
        Evidence(
            "session",
            "event in ('transactionid', 'tuple')",
            phrase("no wait was longer than {:.0f ms}, behind {} sessions in turn", longest * 1000, len(case.blockers)),
            phrase("{:.0f ms}", SHORT_WAIT_S * 1000),
            "the row moves on: a queue at a hot row rather than one blocker",
            "at_least",
        )
    ]
