"""Subscriptions that fall back, and why: what is read at the subscriber gets older and older."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.analyse.locking.locks import LOCKS
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.wal.replicas import LATE_S
from doctord.diagnose.causes.wal.subscription_signs import (
    ALWAYS,
    LAG_BYTES,
    QUEUE_S,
    QUEUED,
    SENDING,
    Published,
    Subscription,
    published,
    subscriptions,
)
from doctord.diagnose.finding import NONE_YET, Claim, Evidence, NotMeasured, Severity
from doctord.diagnose.phrase import Words, phrase

KEYLESS, TRIGGERS = "pg_subscription_rel.without_key", "pg_subscription_rel.triggers"
SPILLED = "pg_stat_replication_slots.spill_bytes"
# Whoever applies a large transaction is some seconds behind, and catches up.
FALLS_BACK_S, FALLS_BACK = 5.0, 0.1
# Half a minute of it, whatever the reason, is what readers notice.
NOTICED_S = 30.0
# Reading a hundred rows to change one is no look-up by a key.
ROWS_READ = 100.0
# A burst is applied within a minute.
LONG_LOOK_S = 60.0
HALF = 0.5
MOST_TOLD = 3
COMMITS: Final = ("log sync", "log write", "standby")
CHANGED = ("pg_stat_user_tables.n_tup_upd", "pg_stat_user_tables.n_tup_del")
READ = ("pg_stat_user_tables.seq_tup_read", "pg_stat_user_tables.idx_tup_fetch")
UNSENT = NotMeasured(
    "how far the subscription is behind in all",
    "what its publisher has not sent yet, the publisher alone knows",
    "doctord checkup --dsn of both servers; pg_stat_replication and pg_replication_slots of the publisher",
)


@cause()
def subscription_behind(case: Case) -> Iterator[Claim]:
    """A subscription applies changes more slowly than they come: its tables show the past.

    Looks like: the apply worker is at work all along: on a CPU, reading tables whole, or waiting for a lock. What it
        takes was sent long before (last_msg_send_time and last_msg_receipt_time of pg_stat_subscription), as the
        sockets between the two are full. On the publisher the walsender waits in WalSenderWriteData, and the WAL that
        is not applied grows, or replay_lag is a minute.
    Hurts because: who reads there sees the past, more of it each second; the publisher keeps WAL for the slot, until
        its disk is full or the slot is lost.
    Speaks for it: seconds behind, and how many more each second, by the publisher's WAL where it is looked at too; a
        worker without any time left; what it is at: rows of a table without a
        key that are read for each row changed, a CPU of its own used up, whose lock it waits for, commits that it
        waits for, triggers that fire for what it applies.
    Speaks against it: a worker that waits for the publisher most of the time: then the two servers' clocks differ, or
        the network is slow. A large transaction that is applied after its commit, and caught up with.
    Remedy: A table without a key: add a primary key at the subscriber (or a unique index on columns that are NOT NULL,
        and ALTER TABLE ... REPLICA IDENTITY USING INDEX), the same at the publisher in place of REPLICA IDENTITY FULL.
        From version 16 on another btree index whose first column is in the publication serves too. A lock: end or
        shorten the transaction that holds it. Commits: ALTER SUBSCRIPTION ... SET (synchronous_commit = off), which
        is the default and loses nothing. Triggers: ENABLE (not ALWAYS or REPLICA), or less work in them. Large
        transactions: smaller ones, streaming = on (14), parallel (16), a larger logical_decoding_work_mem at the
        publisher. One worker with a CPU of its own used up: several subscriptions, each for some of the tables.
    Verify: The time between last_msg_send_time and last_msg_receipt_time falls below a second and stays there; the
        slot's confirmed_flush_lsn follows pg_current_wal_lsn() of the publisher.
    Source: PostgreSQL documentation, pg_stat_subscription, "Logical Replication" (Publication: replica identity;
        Monitoring; Architecture: one apply worker), CREATE SUBSCRIPTION.
    """
    told = set[tuple[str, str]]()
    for one in subscriptions(case):
        seen = one.published
        by_publisher = seen is not None and _is_behind(seen.behind_s, seen.growth)
        if _is_behind(one.queued_s, one.growth) or by_publisher or one.never_idle:
            if seen is not None:
                told.add((seen.db, seen.name))
            yield _claim(case, one)
    for seen in published(case):
        if (seen.db, seen.name) not in told and _is_behind(seen.behind_s, seen.growth):
            yield _subscriber(seen)


def _is_behind(behind_s: float, more: float | None) -> bool:
    return behind_s >= LATE_S or (behind_s >= FALLS_BACK_S and more is not None and more >= FALLS_BACK)


def _claim(case: Case, one: Subscription) -> Claim:
    why, reasons = _reasons(case, one)
    behind_s, more = _known(one)
    is_late = _is_behind(behind_s, more)
    how = phrase("is {:duration} behind{}", behind_s, _falls_back(more)) if is_late else "does not keep up"
    return Claim(
        phrase("Subscription {} {}{}", one.name, how, why),
        impact=NONE_YET,
        confidence=0.6 if one.clocks_may_differ else 0.9 if reasons else 0.8,
        severity=_severity(case, one, has_reason=bool(reasons)),
        for_=[
            *(_seen(one.published) if one.published else []),
            *_queued(one),
            *reasons,
            *_at_work(one),
        ],
        against=_resting(one),
        not_measured=[] if one.published else [UNSENT],
        database=one.db,
    )


def _known(one: Subscription) -> tuple[float, float | None]:
    """How far one is behind, and more each second, by whoever sees more of it."""
    if one.published and one.published.behind_s > one.queued_s:
        return one.published.behind_s, one.published.growth
    return one.queued_s, one.growth


def _severity(case: Case, one: Subscription, *, has_reason: bool) -> Severity:
    """A note where a constant difference may be the clocks', or where it just began and nobody is seen to cause it."""
    behind_s, more = _known(one)
    if one.clocks_may_differ and not (more is not None and more >= FALLS_BACK):
        return "note"
    is_long = one.never_idle and case.seconds >= LONG_LOOK_S
    return "warning" if has_reason or is_long or behind_s >= NOTICED_S else "note"


def _falls_back(more: float | None) -> Words:
    return phrase(", {:.1f s} more each second", more) if more is not None and more >= FALLS_BACK else ""


def _queued(one: Subscription) -> list[Evidence]:
    """How long messages stood before they were taken."""
    where = f"name = '{QUEUED}' and entity = '{one.entity}' and db = '{one.db}'"
    limit = phrase("{:.1f s}", QUEUE_S if one.never_idle else LATE_S)
    why = "what the publisher has not sent yet comes on top"
    told = [
        Evidence(
            "statistic", where, phrase("what is applied was sent {:.1f s} before", one.queued_s), limit, why, "at_least"
        )
    ]
    return [*told, *_more(where, one.growth)] if _is_behind(one.queued_s, one.growth) or one.never_idle else []


def _more(where: str, more: float | None) -> list[Evidence]:
    if more is None or more < FALLS_BACK:
        return []
    each = phrase("{:.2f s} more each second", more)
    return [Evidence("statistic", where, each, phrase("{:.1f s}", FALLS_BACK), "it falls back", "at_least")]


def _seen(one: Published) -> list[Evidence]:
    """What the publisher sees: seconds, by its own lag or by the WAL that is not applied, and what it keeps."""
    where = f"name = '{one.figure}' and entity = '{one.name}' and db = '{one.db}'"
    by = "as much WAL as it writes in that time" if one.figure == LAG_BYTES else "by its replay_lag"
    told = [Evidence("statistic", where, phrase("{:.0f s} behind", one.behind_s), phrase("{:.0f s}", LATE_S),
                     phrase("{}: {:bytes} not applied", by, one.kept_bytes), "at_least")]  # fmt: skip
    held = [
        Evidence("session", f"event = '{SENDING}' and program = '{one.name}' and db = '{one.db}'",
                 phrase("{:share} of the looks in {}", one.held, SENDING), phrase("{:share}", ALWAYS),
                 "the publisher's walsender waits for the subscriber to take more", "at_least")
    ]  # fmt: skip
    return [*told, *_more(where, one.growth), *(held if one.held >= ALWAYS else [])]


def _reasons(case: Case, one: Subscription) -> tuple[Words, list[Evidence]]:
    """Why, for the title, by what weighs most; and all that speaks for a reason."""
    scans, locks = _without_key(case, one), _locks(case, one)
    title: Words = ""
    if scans:
        title = phrase(": it reads {:,.0f} rows of {} for each row changed", scans[0][1], scans[0][0])
    elif locks:
        title = ": it waits for a lock"
    told = [_reads(case, one.db, f"{one.database}.{table}", rows) for table, rows in scans[:MOST_TOLD]]
    return title, [*told, *locks, *_commits(case, one), *_triggers(case, one), *_spills(case, one)]


def _without_key(case: Case, one: Subscription) -> list[tuple[str, float]]:
    """The subscription's tables without a key that are read for each changed row, and how many rows; most work first.

    Only what was read of them while it was looked counts: inserts need no key.
    """
    entities = [figure.entity for figure in case.figures(KEYLESS) if figure.db == one.db and figure.entity]
    found = []
    for entity in (entity for entity in entities if entity.startswith(f"{one.database}.")):
        changed, read = (_rate(case, one.db, entity, names) for names in (CHANGED, READ))
        if changed and read / changed >= ROWS_READ:
            found.append((entity.partition(".")[2], read / changed, read))
    return [(table, rows) for table, rows, _ in sorted(found, key=lambda it: (-it[2], it[0]))]


def _rate(case: Case, db: str, entity: str, names: tuple[str, ...]) -> float:
    return sum(one.mean for name in names for one in case.figures(name) if (one.db, one.entity) == (db, entity))


def _reads(case: Case, db: str, entity: str, rows: float) -> Evidence:
    changed = _rate(case, db, entity, CHANGED)
    return Evidence("statistic", f"name = '{READ[0]}' and entity = '{entity}' and db = '{db}'",
                    phrase("{:,.0f} rows read for each row changed", rows), phrase("{:,.0f}", ROWS_READ),
                    phrase("{} has no primary key nor replica identity's index here; {:.3g} rows/s are changed",
                           entity.partition(".")[2], changed), "at_least")  # fmt: skip


def _locks(case: Case, one: Subscription) -> list[Evidence]:
    waits = [wait for wait in one.worker.waits if wait.kind in LOCKS] if one.worker else []
    share = sum(wait.share for wait in waits)
    if share < HALF or one.worker is None:
        return []
    holder = next((wait.blocker for wait in waits if wait.blocker is not None), None)
    who = "" if holder is None else phrase("behind {}", _session(case, one.db, holder))
    return [
        Evidence("session", f"sid = {one.worker.pid} and db = '{one.db}'",
                 phrase("{:share} of the time in {}", share, waits[0].event), phrase("{:share}", HALF), who, "at_least")
    ]  # fmt: skip


def _session(case: Case, db: str, sid: int) -> Words:
    """Who a session is, in the server's words."""
    if sid == 0:
        return "a prepared transaction"
    rows = case.dataset.frame("session").filter((pl.col("db") == db) & (pl.col("sid") == sid))
    if rows.is_empty():
        return phrase("session {}", sid)
    row = rows.row(-1, named=True)
    names = ", ".join(name for name in (row["program"], row["user"], row["state"]) if name)
    return phrase("session {} ({})", sid, names) if names else phrase("session {}", sid)


def _commits(case: Case, one: Subscription) -> list[Evidence]:
    """That the worker waits for its commits, which it does where synchronous_commit of the subscription is on."""
    share = sum(wait.share for wait in one.worker.waits if wait.kind in COMMITS) if one.worker else 0.0
    if share < HALF or one.worker is None:
        return []
    value = case.setting(f"{one.entity} synchronous_commit", one.db)
    told = phrase("synchronous_commit = {} of the subscription", value) if value else ""
    return [
        Evidence("session", f"sid = {one.worker.pid} and db = '{one.db}'",
                 phrase("{:share} of the time until commits are safe", share), phrase("{:share}", HALF), told,
                 "at_least")
    ]  # fmt: skip


def _triggers(case: Case, one: Subscription) -> list[Evidence]:
    return [
        Evidence("statistic", f"name = '{TRIGGERS}' and entity = '{figure.entity}'",
                 phrase("{:count trigger/triggers} of {}", figure.last, (figure.entity or "").partition(".")[2]), "",
                 "ENABLE ALWAYS or REPLICA: they run for each row that is applied")
        for figure in case.figures(TRIGGERS)
        if figure.db == one.db and (figure.entity or "").startswith(f"{one.database}.") and _is_on_cpu(one)
    ][:MOST_TOLD]  # fmt: skip


def _is_on_cpu(one: Subscription) -> bool:
    return one.worker is not None and (one.worker.cpu or 0.0) >= HALF


def _spills(case: Case, one: Subscription) -> list[Evidence]:
    """That the publisher, where it is looked at too, writes large transactions into files before it sends them."""
    return [
        Evidence("statistic", f"name = '{SPILLED}' and entity = '{figure.entity}'",
                 phrase("{:bytes/s} spilled", figure.mean), "",
                 "transactions larger than logical_decoding_work_mem, sent after their commit")
        for figure in case.figures(SPILLED) if figure.entity == one.name and figure.mean > 0
    ]  # fmt: skip


def _at_work(one: Subscription) -> list[Evidence]:
    """That the worker has no time left, or a CPU of its own used up."""
    if one.worker is None:
        return []
    told = []
    if one.worker.at_work is not None and one.worker.at_work >= ALWAYS:
        told.append(Evidence("session", f"sid = {one.worker.pid} and db = '{one.db}'",
                             phrase("its worker is at work at {:share} of the looks", one.worker.at_work),
                             phrase("{:share}", ALWAYS), "one process applies all of it", "at_least"))  # fmt: skip
    if one.worker.cpu is not None and one.worker.cpu >= ALWAYS:
        told.append(Evidence("process", f"pid = {one.worker.pid}", phrase("{:share} of a CPU", one.worker.cpu),
                             phrase("{:share}", ALWAYS), "one process has one CPU, no more", "at_least"))  # fmt: skip
    return told


def _resting(one: Subscription) -> list[Evidence]:
    if not one.clocks_may_differ or one.worker is None:
        return []
    told = phrase("its worker waits for the publisher at {:share} of the looks", 1 - (one.worker.at_work or 0.0))
    why = "it has nothing to catch up with: the clocks of the two servers may differ, or the network is slow"
    return [Evidence("session", f"sid = {one.worker.pid} and db = '{one.db}'", told, "", why)]


def _subscriber(seen: Published) -> Claim:
    """What the publisher alone sees: the subscriber is not looked at."""
    return Claim(
        phrase("Subscriber {} is {:duration} behind{}", seen.name, seen.behind_s, _falls_back(seen.growth)),
        impact=NONE_YET,
        confidence=0.85,
        severity="warning" if seen.behind_s >= NOTICED_S else "note",
        for_=_seen(seen),
        first_steps=["Look at the subscriber: its worker, its tables without a key, and who holds locks there."],
        database=seen.db,
    )
