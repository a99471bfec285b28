"""Subscriptions over the time that was looked at: how far they are behind, and what their workers are at."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.backends import CPU_PCT
from doctord.diagnose.case import Case
from doctord.diagnose.common.wal.readings import lately, looks

QUEUED: Final = "pg_stat_subscription.behind_s"
TAKEN_AGE: Final = "pg_stat_subscription.last_msg_age_s"
WORKERS: Final = "pg_stat_subscription.apply_workers"
PID: Final = "pg_stat_subscription.apply_pid"
LOGICAL: Final = "pg_stat_replication.is_logical"
REPLY_AGE: Final = "pg_stat_replication.reply_age_s"
LAG_S: Final = "pg_stat_replication.replay_lag_s"
LAG_BYTES: Final = "pg_stat_replication.replay_lag_bytes"
WAL: Final = "pg_stat_wal.wal_bytes"
CPU: Final = "CPU"
SENDING: Final = "WalSenderWriteData"
# Nearly every look.
ALWAYS: Final = 0.8
# A worker that has no time left at all.
NEVER_IDLE: Final = 0.95
# Messages that always stand so long before they are taken fill the sockets between the two: the publisher waits.
QUEUE_S: Final = 0.5
LOOKS: Final = 3
# The worker says every ten seconds how far it is (wal_receiver_status_interval).
SILENT_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Wait:
    """What a worker waited for at some of the looks: their share (0 to 1), and who held the lock, by its number."""

    event: str
    kind: str | None
    share: float
    blocker: int | None


class Worker(NamedTuple):
    """The process that applies a subscription's changes, over the last ten minutes of its own.

    `at_work` is the share (0 to 1) of the looks at which it did not wait for the publisher, `cpu` the share of one
    CPU that it used; null where nobody looked at sessions, or at processes. `waits` has the largest share first.
    """

    pid: int
    at_work: float | None
    cpu: float | None
    waits: tuple[Wait, ...]


class Published(NamedTuple):
    """What the publisher knows of a subscriber: seconds behind at the last look, more each second, and by which figure.

    `held` is the share (0 to 1) of the looks at which its walsender waited for the subscriber to take what it sends.
    """

    db: str
    name: str
    behind_s: float
    growth: float | None
    kept_bytes: float
    held: float
    figure: str


class Subscription(NamedTuple):
    """How long what is applied at the last look stood before (seconds), and more each second; null of looks too few.

    That is all that a subscriber can know: what its publisher has not sent yet, the publisher alone knows
    (`published`, null where it is not looked at). `never_idle`: its worker had no time left, and messages always stood.
    """

    db: str
    entity: str
    queued_s: float
    growth: float | None
    worker: Worker | None
    published: Published | None
    never_idle: bool
    clocks_may_differ: bool

    @property
    def database(self) -> str:
        """Its database."""
        return self.entity.partition(".")[0]

    @property
    def name(self) -> str:
        """Its name."""
        return _name(self.entity)


def subscriptions(case: Case) -> list[Subscription]:
    """Those whose worker has taken a message from the publisher, the one that is most behind first."""
    told, figures = published(case), case.figures(QUEUED)
    # Of several servers whose subscriptions have the same name nobody tells which follows which.
    names = Counter([*(f"< {one.name}" for one in told), *(_name(one.entity) for one in figures)])
    of_publishers = {one.name: one for one in told if names[f"< {one.name}"] == 1 and names[one.name] == 1}
    found = [_subscription(case, one.db or "", one.entity or "", of_publishers) for one in figures]
    return sorted(found, key=lambda one: (-one.queued_s, one.db, one.entity))


def _name(entity: str | None) -> str:
    return (entity or "").partition(".")[2]


def published(case: Case) -> list[Published]:
    """Subscribers as the walsenders of their publishers tell of them, by the name that they connect with."""
    logical = [one for one in case.figures(LOGICAL) if one.last and one.entity]
    return [told for one in logical if (told := _published(case, one.db or "", one.entity or "")) is not None]


def growth(readings: pl.DataFrame) -> float | None:
    """By how much a reading grew each second from the first look to the last; null of fewer than three looks."""
    seconds = (readings["ts"][-1] - readings["ts"][0]).total_seconds() if readings.height else 0.0
    is_told = readings.height >= LOOKS and seconds
    return float((readings["value"][-1] - readings["value"][0]) / seconds) if is_told else None


def _published(case: Case, db: str, name: str) -> Published | None:
    """By the WAL that is not applied and what is written each second; or, where that is more, by its own lag.

    The lag is taken from what was sent, and misses what waits to be decoded; it stands still while nobody answers.
    """
    kept, replies = lately(looks(case, db, name, LAG_BYTES)), looks(case, db, name, REPLY_AGE)
    if kept.is_empty() or replies.is_empty():
        return None
    lags, silent_s = lately(looks(case, db, name, LAG_S)), float(replies["value"][-1])
    is_told = lags.height and lags["ts"][-1] >= replies["ts"][-1]
    lag_s = float(lags["value"][-1]) + (silent_s if silent_s >= SILENT_S else 0.0) if is_told else 0.0
    written = next((one.mean for one in case.figures(WAL) if one.db == db), 0.0)
    kept_bytes, held, more = float(kept["value"][-1]), _held(case, db, name, kept["ts"][0]), growth(kept)
    by_bytes = kept_bytes / written if written and held >= ALWAYS else 0.0
    if by_bytes > lag_s:
        return Published(db, name, by_bytes, None if more is None else more / written, kept_bytes, held, LAG_BYTES)
    return Published(db, name, lag_s, growth(lags), kept_bytes, held, LAG_S)


def _held(case: Case, db: str, name: str, since: datetime) -> float:
    """The share of the looks since then at which a walsender waited for its subscriber to take what it sends."""
    seconds = _sampled_s(case, since)
    is_own = (pl.col("db") == db) & (pl.col("kind") == "walsender") & (pl.col("program") == name)
    waits = case.dataset.frame("session").filter(is_own & (pl.col("event") == SENDING) & (pl.col("ts") >= since))
    return min(float(waits["interval_s"].sum()) / seconds, 1.0) if seconds else 0.0


def _sampled_s(case: Case, since: datetime) -> float:
    """How long sessions were sampled since a moment, seconds; all the time, where it is one of the first looks."""
    whole_s = case.time.seconds if case.is_time_measured else 0.0
    until = case.dataset.until
    since_s = whole_s if until is None else (until - since).total_seconds()
    return whole_s if since_s >= ALWAYS * whole_s else since_s


def _subscription(case: Case, db: str, entity: str, of_publishers: dict[str, Published]) -> Subscription:
    """What stands between two servers' clocks is in the figure too; and a message that is being applied counts on.

    A worker that waits for the publisher has nothing to catch up with: what it seems to be behind is the clocks', or
    the network's.
    """
    told, worker = lately(looks(case, db, entity, QUEUED)), _worker(case, db, entity)
    since = looks(case, db, entity, TAKEN_AGE).select("ts", pl.col("value").alias("since"))
    with_ages = told.join(since, on="ts", how="left", maintain_order="left")
    at_work = None if worker is None else worker.at_work
    is_busy = at_work is not None and at_work >= ALWAYS
    whole = with_ages.with_columns(pl.col("value") + pl.col("since").fill_null(0.0)) if is_busy else told
    stands = whole.height >= LOOKS and bool((whole["value"] >= QUEUE_S).all())
    return Subscription(
        db,
        entity,
        float(whole["value"][-1]),
        growth(whole),
        worker,
        of_publishers.get(_name(entity)),
        never_idle=stands and at_work is not None and at_work >= NEVER_IDLE,
        clocks_may_differ=at_work is not None and at_work < 1 - ALWAYS,
    )


def _worker(case: Case, db: str, entity: str) -> Worker | None:
    pids = looks(case, db, entity, PID)
    if pids.is_empty():
        return None
    pid = int(pids["value"][-1])
    since = lately(pids).filter(pl.col("value") == pid)["ts"][0]
    sessions = case.dataset.frame("session").filter((pl.col("db") == db) & (pl.col("ts") >= since))
    own = sessions.filter((pl.col("sid") == pid) & pl.col("kind").str.starts_with("logical replication"))
    seconds = _sampled_s(case, since)
    at_work = min(float(own["interval_s"].sum()) / seconds, 1.0) if seconds else None
    return Worker(pid, at_work, _cpu(case, pid), _waits(own, seconds))


def _waits(own: pl.DataFrame, seconds: float) -> tuple[Wait, ...]:
    if own.is_empty() or not seconds:
        return ()
    by = own.group_by("event", "wait_kind", maintain_order=True).agg(
        pl.col("interval_s").sum().alias("s"), pl.col("blocker_sid").drop_nulls().last()
    )
    ordered = by.filter(pl.col("event") != CPU).sort("s", "event", descending=[True, False], maintain_order=True)
    return tuple(
        Wait(row["event"] or "", row["wait_kind"], min(row["s"] / seconds, 1.0), row["blocker_sid"])
        for row in ordered.iter_rows(named=True)
    )


def _cpu(case: Case, pid: int) -> float | None:
    """The share of one CPU that a process used while it was seen; null where processes were not told."""
    own = case.dataset.frame("process").filter((pl.col("pid") == pid) & pl.col("command").str.starts_with("postgres"))
    seconds, used = own.select(pl.col("interval_s").sum(), (CPU_PCT * pl.col("interval_s")).sum().alias("used")).row(0)
    return float(used / seconds / 100) if seconds else None
