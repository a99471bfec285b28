"""Deadlocks that the lock manager cannot see: a session waits for one of its own, over dblink or a foreign table."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.analyse.locking.locks import Blocker
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

CLIENT_OF: Final = "pg_stat_activity.own_client"
# Until version 16 all extensions' waits have one name.
OUTSIDE: Final = ("Extension", "DblinkGetResult", "DblinkConnect", "DblinkGetConnect", "PostgresFdwGetResult",
                  "PostgresFdwConnect", "PostgresFdwCleanupResult")  # fmt: skip
# An answer of another server that takes longer than the looks are apart may be any; one in a circle never comes.
STANDS_STILL_S: Final = 5.0
NOT_CLOSED: Final = NotMeasured(
    "for whom the session at the root waits",
    "the sockets of its process were not seen, or lead to another host",
    "run as root or as the server's user, over the server's Unix socket; else compare client_port of those that wait "
    "in pg_stat_activity with the root's connections (ss -tnp).",
)


@cause(explains=("row_locks", "table_locks", "foreign_server_waited_for", "idle_in_transaction_blocker"))
def waits_for_own_session(case: Case) -> Iterator[Claim]:
    """A session waits for a session of its own, which waits for a lock of the first: PostgreSQL sees no deadlock.

    Looks like: a blocking tree that stands still, whose root waits in an extension (dblink, postgres_fdw; until version
        16 Extension) and uses no CPU; a session that waits behind it has the root's process as its client.
    Hurts because: the lock manager sees who waits for the root, and not whom the root waits for: deadlock_timeout ends
        nothing, and everybody behind waits until somebody is cancelled.
    Speaks for it: how long root and waiter have both been waiting; the socket between their two processes, of which the
        kernel tells both ends.
    Speaks against it: a root none of whose connections leads to one that waits: then another server is slow.
    Remedy: Do the work of the second session in the first one's transaction. Where it has to be a transaction of its
        own (a log that outlives a rollback): let it touch no row that the first has locked, take it before these locks,
        or write it by a background worker after the commit. Set lock_timeout in the connection's options, so that the
        circle breaks by itself.
    Verify: The tree is gone; the function ends in its usual time.
    Source: PostgreSQL documentation, "Deadlocks", "dblink", lock_timeout; Linux manual, sock_diag(7).
    """
    for root in case.blockers:
        known = {figure.entity or "": figure.largest for figure in case.figures(CLIENT_OF) if figure.db == root.db}
        if root.event not in OUTSIDE or not case.worth_saying(root.blocked_s / (case.database_time_s() or 1.0)):
            continue
        clients = [int(pair.partition(" ")[2]) for pair in known if pair.startswith(f"{root.sid} ")]
        still_s = _stands_still(case, root)
        if still_s is None or (not clients and known.get(str(root.sid)) is not None):
            continue
        yield _circle(case, root, clients[0], still_s) if clients else _perhaps(case, root, still_s)
        return


def _stands_still(case: Case, root: Blocker) -> float | None:
    """For how long the root has been in its statement, where that, and a wait behind it, lasts; null: it moves."""
    session = case.dataset.frame("session").filter(pl.col("db") == root.db)
    running = session.filter(pl.col("sid") == root.sid)["in_state_s"].drop_nulls().max()
    waited = session.filter(pl.col("blocker_sid") == root.sid)["in_state_s"].drop_nulls().max()
    longest = min(float(running or 0.0), float(waited or 0.0))  # type: ignore[arg-type]
    return longest if longest >= STANDS_STILL_S else None


def _circle(case: Case, root: Blocker, other: int, still_s: float) -> Claim:
    return Claim(
        phrase("Session {} waits for its own session {}, which waits for a lock of {}: a deadlock that the server does "
               "not see", root.sid, other, root.sid),
        impact=min(root.blocked_s / case.database_time_s(), 1.0),
        confidence=0.95,
        severity="critical",
        for_=[
            *_tree(case, root, still_s),
            Evidence("statistic", f"name = '{CLIENT_OF}'",
                     phrase("session {} has the process of session {} as its client", other, root.sid), "",
                     "a socket between the two processes, as the kernel tells: the circle is closed"),
        ],
        first_steps=[
            phrase("Now: select pg_cancel_backend({}) ends the wait: session {} gets an error, and the lock goes with "
                   "its transaction.", other, root.sid),
        ],
        database=root.db,
    )  # fmt: skip


def _perhaps(case: Case, root: Blocker, still_s: float) -> Claim:
    return Claim(
        phrase("All wait behind session {}, which waits for another server's answer ({}): its own session, perhaps",
               root.sid, root.event),
        impact=min(root.blocked_s / case.database_time_s(), 1.0),
        confidence=0.6,
        for_=_tree(case, root, still_s),
        not_measured=[NOT_CLOSED],
        first_steps=[
            phrase("See whether one of those that wait behind session {} is a session that it opened itself (dblink, a "
                   "foreign table that leads back here): then neither ever ends by itself; pg_cancel_backend({}).",
                   root.sid, root.sid),
        ],
        database=root.db,
    )  # fmt: skip


def _tree(case: Case, root: Blocker, still_s: float) -> list[Evidence]:
    text = case.statement_text(root.statement_id)
    return [
        Evidence("session", f"blocker_sid = {root.sid}",
                 phrase("{:.0f s} waited behind session {} ({}), up to {:count session/sessions}", root.blocked_s,
                        root.sid, " ".join(one for one in (root.user, root.program) if one) or "unknown user",
                        root.waiters), "",
                 phrase("it waits in {} itself, outside the lock manager{}", root.event,
                        phrase(": {}", shortened(text)) if text else "")),
        Evidence("session", f"event in ('{root.event}') and sid = {root.sid}",
                 phrase("{:time} in one wait each, root and waiter", still_s), phrase("{:time}", STANDS_STILL_S),
                 "nothing moves", "at_least"),
    ]  # fmt: skip
