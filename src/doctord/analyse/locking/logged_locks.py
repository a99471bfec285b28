"""Waits for locks as PostgreSQL's log tells them (log_lock_waits): how long, behind whom, how many in line."""

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.regex import regex

ACQUIRED, WAITED = "log.locks_acquired", "log.lock_wait_time"
WAIT = regex(
    r"waits for (?P<mode>\w+) on (?P<what>.+?) after (?P<ms>\d+) ms"
    r"(?:, held by process (?P<holders>[\d, ]+?))?(?:, (?P<queue>\d+) in the queue)?(?:: (?P<statement>.*))?",
    re.DOTALL,
)
# What a transaction holds of rows; all else is a lock on a table or another object.
OF_ROWS = ("transactionid", "tuple")
ROW_WORDS = ("transaction ", "tuple ")


@dataclass(slots=True)
class Held:
    """What one process held, and others waited for: since when at least and until when, and how many at once."""

    holder: str
    what: str
    since: datetime
    until: datetime
    queue: int

    @property
    def seconds(self) -> float:
        """Seconds from the first wait that the log tells of to the last: it was held at least so long."""
        return (self.until - self.since).total_seconds()


@dataclass(slots=True)
class Waits:
    """Waits for locks of one kind in the log of one server.

    `acquired` is how many locks were got in the end, after `waited_s` together and `longest_s` at most (the mean of a
    minute, where several were got in it); `held` is who kept others waiting, longest first; `queue` the most that were
    in line at once; `statements` those that waited, without constants.
    """

    db: str
    of_rows: bool
    acquired: float = 0.0
    waited_s: float = 0.0
    longest_s: float = 0.0
    told: int = 0
    queue: int = 0
    held: list[Held] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)


def logged_locks(dataset: Dataset) -> list[Waits]:
    """Waits for locks by server and kind, rows first; empty where no log tells any."""
    found = dict[tuple[str, bool], Waits]()

    def of(db: str, *, of_rows: bool) -> Waits:
        return found.setdefault((db, of_rows), Waits(db, of_rows))

    for row in _acquired(dataset).iter_rows(named=True):
        waits = of(row["db"], of_rows=row["entity"] in OF_ROWS)
        waits.acquired += row["count"]
        waits.waited_s += row["seconds"]
        waits.longest_s = max(waits.longest_s, row["seconds"] / row["count"])
    events = (
        dataset.frame("event").filter(pl.col("kind") == "lock wait").drop_nulls("text").sort("ts", maintain_order=True)
    )
    for row in events.iter_rows(named=True):
        if wait := WAIT.fullmatch(row["text"]):
            _add(of(row["db"] or "", of_rows=wait["what"].startswith(ROW_WORDS)), wait, row["ts"])
    for waits in found.values():
        waits.held.sort(key=lambda held: -held.seconds)
        waits.longest_s = max([waits.longest_s, *(held.seconds for held in waits.held)])
    return [found[key] for key in sorted(found, key=lambda key: (key[0], not key[1]))]


def _acquired(dataset: Dataset) -> pl.DataFrame:
    """Locks that were got, with their time, by server, object and interval."""
    rows = dataset.frame("statistic").filter(pl.col("name").is_in([ACQUIRED, WAITED]) & (pl.col("interval_s") > 0))
    amount = pl.col("value") * pl.col("interval_s")
    names = {"count": ACQUIRED, "seconds": WAITED}
    sums = [amount.filter(pl.col("name") == name).sum().alias(column) for column, name in names.items()]
    return rows.group_by("db", "entity", "ts", maintain_order=True).agg(sums).filter(pl.col("count") > 0)


def _add(waits: Waits, wait: re.Match[str], at: datetime) -> None:
    """Put one line of the log to the others: the same holder of the same object held it all the time between."""
    queue = int(wait["queue"] or 1)
    waits.told += 1
    waits.queue = max(waits.queue, queue)
    if wait["statement"] and wait["statement"] not in waits.statements:
        waits.statements.append(wait["statement"])
    since: Any = at - timedelta(milliseconds=int(wait["ms"]))
    holder = wait["holders"] or ""
    known = next((held for held in waits.held if (held.holder, held.what) == (holder, wait["what"])), None)
    if known is None:
        waits.held.append(Held(holder, wait["what"], since, at, queue))
    else:
        known.since, known.until, known.queue = min(known.since, since), max(known.until, at), max(known.queue, queue)
