"""Blocking trees from sampled sessions: who waits, for whom, and what the one at the root is doing."""

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import CLIENT
from doctord.dataset.waits.events import kind_of

LONGEST_CHAIN_LOG2 = 6
LOCKS: Final = ("row lock", "table lock", "application lock", "other lock")
"""Kinds of wait that end when another session's transaction, or its own lock, does."""
NOTIFY: Final = "notify"
"""A queue of its own: what is waited for there is the whole commit of whoever is ahead, each in its turn."""
IDLE_IN_TRANSACTION: Final = "idle in transaction"
PREPARED: Final = "prepared transaction"
"""What the root of a tree does, beside kinds of wait: nothing, until its client says more; or it has no session."""
WAIT: Final = ("wait_class", "event", "wait_kind")
NO_SESSION: Final = 0  # the blocker of who waits for a prepared transaction


class Blocker(NamedTuple):
    """A session at the root of a blocking tree.

    `blocked_s` is the time others spent waiting behind it, directly or through others; `idle_blocked_s` the part of it
    in which the root itself was idle in a transaction, and `longest_idle_s` how long it once was. `transaction_s` is
    the age that its transaction reached; `waiters` the most sessions that stood behind it at one moment; `event` what
    it did most while it was at work and others waited; `kind` whether it is a client or a process of the server's own.
    """

    db: str
    sid: int
    user: str | None
    program: str | None
    statement_id: str | None
    blocked_s: float
    idle_blocked_s: float
    waiters: int
    transaction_s: float | None
    longest_idle_s: float
    event: str | None
    kind: str | None


class LockWait(NamedTuple):
    """Time that sessions waited for locks of one kind behind roots that did one thing at that moment.

    `root_kind` is what the root waited for (a kind of wait, IDLE_IN_TRANSACTION or PREPARED), `root_event` the server's
    own name of it. Both are null where it is not known: the root was not sampled, waits for a lock of which no holder
    was told, or is part of a circle, as who blocks whom is asked more seldom than what sessions do. `gate_kind` and
    `gate_event` are the lock that the session directly behind the root waits for, where that is one of another kind.
    Behind a commit that waits to notify the root is told of as unknown: what it does sets only how long each takes, and
    the queue would be there without.
    """

    db: str
    wait_kind: str | None
    root_kind: str | None
    root_event: str | None
    seconds: float
    gate_kind: str | None = None
    gate_event: str | None = None


class Gate(NamedTuple):
    """A session that waits for a lock itself, and that others stand behind.

    Who asks for a lock that conflicts with a request before it waits for that request too, also where it would get on
    with who holds the lock now. `blocked_s` is the time waited directly behind it, `waiters` the most sessions at one
    moment, `waited_s` how long it waited at least, and `root` the session for which it waits in the end.
    """

    db: str
    sid: int
    user: str | None
    program: str | None
    statement_id: str | None
    blocked_s: float
    waiters: int
    waited_s: float | None
    root: int


def blockers(dataset: Dataset, events: Collection[str] | None = None) -> list[Blocker]:
    """Roots of the blocking trees, the one that cost others most first; with `events` by who waits for one of these."""
    trees = _trees(dataset)
    if events is not None and not trees.is_empty():
        trees = trees.filter(pl.col("event").is_in([*events]))
    if trees.is_empty():
        return []
    idle = _is_idle()
    grouped = (
        trees.group_by("moment", "root", maintain_order=True)
        .agg(
            pl.col("db", "user", "program", "kind", "state", "statement_id", "transaction_s", "in_state_s").first(),
            pl.col("root_event").first(),
            pl.col("blocked_s").sum(),
            pl.col("waiters").sum(),
        )
        .group_by("db", "root", maintain_order=True)
        .agg(
            pl.col("user", "program", "kind", "statement_id").drop_nulls().last(),
            pl.col("blocked_s").sum(),
            pl.col("blocked_s").filter(idle).sum().alias("idle_blocked_s"),
            pl.col("waiters").max(),
            pl.col("transaction_s").max(),
            pl.col("in_state_s").filter(idle).max().fill_null(0.0).alias("longest_idle_s"),
            pl.col("root_event").filter(~idle).drop_nulls().mode().sort().first().alias("event"),
        )
        .sort("blocked_s", descending=True, maintain_order=True)
        .rename({"root": "sid"})
    )
    return [Blocker(**row) for row in grouped.iter_rows(named=True)]


def lock_waits(dataset: Dataset) -> list[LockWait]:
    """Where the time of those who wait for locks goes: by what is waited for, and what the root did meanwhile."""
    trees = _trees(dataset)
    if trees.is_empty():
        return []
    working = pl.when(_is_idle()).then(pl.lit(IDLE_IN_TRANSACTION)).otherwise(pl.col("root_event"))
    did = pl.when(pl.col("root") == NO_SESSION).then(pl.lit(PREPARED)).otherwise(working)
    by = [*WAIT, *(f"gate_{column}" for column in WAIT), "root_class", "root_kind"]
    grouped = trees.group_by("db", *by, did.alias("did"), maintain_order=True).agg(pl.col("blocked_s").sum())
    return [
        LockWait(
            row["db"],
            _kind(row),
            *(
                (None, None)
                if _kind(row, "gate_") == NOTIFY
                else _root(row["did"], row["root_class"], row["root_kind"])
            ),
            row["blocked_s"],
            *_gate(row),
        )
        for row in grouped.iter_rows(named=True)
    ]


def gates(dataset: Dataset, events: Collection[str]) -> list[Gate]:
    """Sessions that wait and that others stand behind, where both wait for some events; most time behind it first."""
    waiting = _waiting(dataset).filter(pl.col("event").is_in([*events]))
    if waiting.is_empty():
        return []
    waiting = waiting.with_columns(root=waiting["blocker_sid"].gather(_gates(waiting)))
    behind = waiting.group_by("moment", pl.col("blocker_sid").alias("sid"), maintain_order=True).agg(
        pl.col("interval_s").sum().alias("blocked_s"), pl.len().cast(pl.Int64).alias("waiters")
    )
    gate = waiting.select(
        "moment", "db", "sid", "user", "program", "statement_id", "root", pl.col("in_state_s").alias("waited_s")
    )
    grouped = (
        gate.join(behind, on=["moment", "sid"], how="inner", maintain_order="left")
        .group_by("db", "sid", maintain_order=True)
        .agg(
            pl.col("user", "program", "statement_id").drop_nulls().last(),
            pl.col("blocked_s").sum(),
            pl.col("waiters").max(),
            pl.col("waited_s").max(),
            pl.col("root").last(),
        )
        .sort("blocked_s", descending=True, maintain_order=True)
    )
    return [Gate(**row) for row in grouped.iter_rows(named=True)]


def _is_idle() -> pl.Expr:
    return pl.col("state").str.starts_with(IDLE_IN_TRANSACTION).fill_null(value=False)


def _kind(row: Mapping[str, str | None], of: str = "") -> str | None:
    """The kind of wait of who waits, or of the session that is the gate before it."""
    wait_class, event, kind = (row[f"{of}{column}"] for column in WAIT)
    return kind or kind_of(event, wait_class)


def _gate(row: Mapping[str, str | None]) -> tuple[str | None, str | None]:
    """The kind and the name of the lock that the gate waits for, if it is of another kind than what is waited for."""
    kind = _kind(row, "gate_")
    return (kind, row["gate_event"]) if kind in (*LOCKS, NOTIFY) and kind != _kind(row) else (None, None)


def _root(did: str | None, wait_class: str | None, kind: str | None) -> tuple[str | None, str | None]:
    """What a root did: the kind of it and the server's name; nulls where that says nothing."""
    if did in (IDLE_IN_TRANSACTION, PREPARED):
        return did, did
    known = kind or kind_of(did, wait_class)
    return (None, None) if known is None or known in LOCKS else (known, did)


@lru_cache(maxsize=2)  # a dataset under examination, and its past: three analyses look at it
def _waiting(dataset: Dataset) -> pl.DataFrame:
    """Samples of client sessions that others block, each with the number of its moment."""
    session = dataset.frame("session")
    return (
        session.lazy()
        .filter(pl.col("blocker_sid").is_not_null() & (pl.col("kind") == CLIENT))
        .select(
            _moment(session["db"].unique(maintain_order=True)),
            *("db", "sid", "blocker_sid", "interval_s", "wait_class", "event", "wait_kind", "in_state_s"),
            *("user", "program", "statement_id"),
        )
        .collect(engine="in-memory")  # the streaming one hands rows out in no order
    )


@lru_cache(maxsize=2)
def _trees(dataset: Dataset) -> pl.DataFrame:
    """What waits behind each root at each moment, by what is waited for, beside what the root does.

    Columns: moment, root, wait_class, event, wait_kind (of those that wait), gate_wait_class, gate_event,
    gate_wait_kind (of the session that waits for the root itself), db, blocked_s, waiters; of the root user,
    program, kind, state, statement_id, transaction_s, in_state_s, root_class, root_event, root_kind, null where it was
    not sampled or waits for others itself (a circle).
    """
    waiting = _waiting(dataset)
    if waiting.is_empty():
        return waiting
    session = dataset.frame("session")
    gate = waiting.select("blocker_sid", *WAIT)[_gates(waiting)]
    behind = (
        waiting.with_columns(root=gate["blocker_sid"], **{f"gate_{column}": gate[column] for column in WAIT})
        .group_by("moment", "root", *WAIT, *(f"gate_{column}" for column in WAIT), maintain_order=True)
        .agg(
            pl.col("db").first(),
            pl.col("interval_s").sum().alias("blocked_s"),
            pl.len().cast(pl.Int64).alias("waiters"),
        )
    )
    root = (
        session.lazy()
        .filter(
            pl.col("blocker_sid").is_null() & pl.col("sid").is_in(behind["root"].unique(maintain_order=True).implode())
        )
        .select(
            _moment(session["db"].unique(maintain_order=True)),
            pl.col("sid").alias("root"),
            *("user", "program", "kind", "state", "statement_id", "transaction_s", "in_state_s"),
            pl.col("wait_class").alias("root_class"),
            pl.col("event").alias("root_event"),
            pl.col("wait_kind").alias("root_kind"),
        )
        .collect(engine="in-memory")
    )
    return behind.join(root, on=["moment", "root"], how="left", maintain_order="left")


def _moment(servers: pl.Series) -> pl.Expr:
    """A number for each sample of each server: joining on it costs a fraction of joining on time and name."""
    if servers.is_empty():
        return pl.lit(0, dtype=pl.Int64).alias("moment")
    numbers = pl.Series(range(servers.len()), dtype=pl.Int64)
    server = pl.col("db").replace_strict(servers, numbers, return_dtype=pl.Int64)
    return (pl.col("ts").dt.epoch("us") * servers.len() + server).alias("moment")


def _gates(waiting: pl.DataFrame) -> pl.Series:
    """The row of who stands before each waiting one and waits for a root itself; of a circle one that is in it.

    Found by pointer doubling over rows.

    Args:
        waiting: as `_waiting` gives it.
    """
    own = pl.Series(range(waiting.height), dtype=pl.UInt32)
    blockers = waiting.select("moment", pl.col("sid").alias("blocker_sid"), own.alias("ahead"))
    wanted = waiting.select("moment", "blocker_sid", own.alias("own"))
    chain = wanted.join(blockers, on=["moment", "blocker_sid"], how="left", maintain_order="left")
    if chain.height > waiting.height:  # a session that was seen twice at one moment
        chain = chain.unique("own", keep="first", maintain_order=True)
    at, ahead = own, chain["ahead"].fill_null(own)
    for _ in range(LONGEST_CHAIN_LOG2):
        at, ahead = ahead.gather(at), ahead.gather(ahead)
    return at
