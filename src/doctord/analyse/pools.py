"""Who has the connections of a pool that others wait for, and what these do: PgBouncer's list beside sampled sessions.

A connection that its client does not use is idle in the server, which no sample of sessions shows: only the pooler
knows that it is taken, and by whom.
"""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

import polars as pl

from doctord.analyse.figures import figures
from doctord.analyse.locking.locks import IDLE_IN_TRANSACTION
from doctord.analyse.time import seconds_of
from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import CLIENT

HELD: Final = "pgbouncer.held_s"
Doing: TypeAlias = Literal["idle", "idle in transaction", "active"]


class Holder(NamedTuple):
    """A client's hold on a server of a pool: its program and address, and what the server's session did meanwhile.

    `asked_s` is how long ago the client last asked for something, at the longest. `doing` is what the session did most
    of the time; null where the server's sessions were not sampled. `statement_id` is what it ran last.
    """

    pid: int
    who: str
    asked_s: float
    doing: Doing | None
    statement_id: str | None


class _Sampled(NamedTuple):
    """For how long sessions were sampled; of each that was not idle how long it was active, or idle in a transaction.

    The third is the last statement of it.
    """

    seconds: float
    by_pid: dict[int, tuple[float, float, str | None]]


def holders(dataset: Dataset, db: str | None, pool: str) -> list[Holder]:
    """Who had the servers of a pool (`DATABASE USER`) of a pooler, who was silent for longest first."""
    sampled = _sampled(dataset)
    found = [_holder(sampled, *named, held.largest) for held in figures(dataset, HELD)
             if held.db == db for named in _named(held.entity or "", pool)]  # fmt: skip
    return sorted(found, key=lambda one: (-one.asked_s, one.pid))


def _named(entity: str, pool: str) -> Iterator[tuple[int, str]]:
    """Process id and who it is, of an entity `DATABASE USER PID PROGRAM@ADDRESS` of that pool."""
    pid, _, who = entity.removeprefix(f"{pool} ").partition(" ")
    if entity.startswith(f"{pool} ") and pid.isdigit():
        yield int(pid), who


def _sampled(dataset: Dataset) -> _Sampled:
    session = dataset.frame("session").filter((pl.col("kind") == CLIENT) & pl.col("db").str.starts_with("postgresql"))
    waiting = pl.col("state").str.starts_with(IDLE_IN_TRANSACTION).fill_null(value=False)
    by_pid = session.group_by("sid", maintain_order=True).agg(
        pl.col("interval_s").filter(~waiting).sum().alias("active"),
        pl.col("interval_s").filter(waiting).sum().alias("waiting"),
        pl.col("statement_id").drop_nulls().last(),
    )
    are_sampled = session.height or dataset.frame("wait").height
    seconds = seconds_of(dataset, "wait") if are_sampled else 0.0
    return _Sampled(seconds, {row[0]: row[1:] for row in by_pid.iter_rows()})


def _holder(sampled: _Sampled, pid: int, who: str, asked_s: float) -> Holder:
    active, waiting, statement = sampled.by_pid.get(pid, (0.0, 0.0, None))
    spent: dict[Doing, float] = {
        "idle": max(sampled.seconds - active - waiting, 0.0),
        "idle in transaction": waiting,
        "active": active,
    }
    most: Doing = max(spent, key=lambda one: spent[one])
    return Holder(pid, who, asked_s, most if sampled.seconds else None, statement)
