"""Logs that are kept and not removed: for a replication slot that nobody reads, or an archiver that stands still."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.wal.archiver import FAILED_S, READY, failing, is_failing, standing, standstill
from doctord.diagnose.causes.wal.slot_readers import read_slot
from doctord.diagnose.common.wal.slots import LEAST_BYTES, RETAINED, growth, is_gone, kept, reading, severity, unread_s
from doctord.diagnose.common.wal.wal_room import MIB, Room, room_on_disk, symptoms, until_end
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

MOST_TOLD = 4


@cause()
def slot_keeps_wal(case: Case) -> Iterator[Claim]:
    """A replication slot keeps the log: nobody reads it, its reader is behind, or a transaction stays open.

    Looks like: a slot in pg_replication_slots that is not active, whose restart_lsn stands still, and for which more
        WAL is kept every second; a slot that is active, with more kept for it than max_wal_size: its
        confirmed_flush_lsn far behind, or close to the end of the log while restart_lsn stands still.
    Hurts because: WAL is kept for it without a limit (max_slot_wal_keep_size = -1) until its file system is full, and
        the server stops; with a limit the slot is lost, and the standby or subscriber has to be made anew.
    Speaks for it: bytes kept, how fast they grow, and how long the room lasts at that rate; what the reader has not
        confirmed; the oldest transaction that has written and is open: decoding begins anew where it began.
    Speaks against it: a slot that is read, at whatever distance; a transaction that is at work and ends by itself; an
        archiver that fails keeps WAL too.
    Remedy: Ask who made the slot. A standby or subscriber that is to come back: start it, before the room ends. One
        that is gone: select pg_drop_replication_slot('...'). Set max_slot_wal_keep_size to what the disk can spare,
        and idle_replication_slot_timeout (version 18). Held by a transaction: end that, and leave the slot alone.
    Verify: pg_replication_slots.active is true, or the slot is gone; after the next checkpoint pg_wal shrinks.
    Source: PostgreSQL documentation, "Replication Slots", pg_replication_slots (restart_lsn, confirmed_flush_lsn,
        wal_status, safe_wal_size), "Logical Decoding Concepts", max_slot_wal_keep_size.
    """
    for retained in case.figures(RETAINED):
        active = reading(case, "active", retained)
        if active is None or retained.last < LEAST_BYTES or is_gone(case, retained):
            continue
        room, quiet_s = _room(case, retained), unread_s(case, retained)
        if quiet_s is not None:
            yield _unread(case, retained, room, quiet_s)
        elif (room.per_s or 0) > 0 and (retained.last > _max_wal_size(case, retained.db) or room.is_at_once):
            yield read_slot(case, retained, active, room)
    yield from _lost(case)


def _unread(case: Case, retained: Statistic, room: Room, quiet_s: float) -> Claim:
    why = phrase("it was not active at any look, for {:duration}", quiet_s) if quiet_s else "it was not active"
    return Claim(
        phrase("Nobody reads slot {}: {:bytes} of WAL are kept for it", retained.entity, retained.last),
        impact=NONE_YET,
        confidence=0.95,
        severity=severity(room, is_large=retained.last > _max_wal_size(case, retained.db)),
        for_=[kept(retained, why), *until_end(case, retained.db, room)],
        against=_archiver_too(case, retained.db),
        not_measured=room.unknown,
        explains=symptoms(case, room.mount, retained.last, room.per_s),
        objects=room.objects,
        database=retained.db,
    )


def _lost(case: Case) -> Iterator[Claim]:
    for lost in case.figures("pg_replication_slots.is_lost"):
        if lost.last:
            yield Claim(
                phrase("Slot {} is lost: its reader cannot go on", lost.entity),
                impact=NOT_MEASURED,
                confidence=0.95,
                for_=[Evidence("statistic", f"name = '{lost.name}' and entity = '{lost.entity}'",
                               "WAL that it needs was removed", "", "max_slot_wal_keep_size was passed")],
                remedy=["Drop the slot and make its standby or subscriber anew; raise max_slot_wal_keep_size."],
                database=lost.db,
            )  # fmt: skip


@cause(explains=("archiver_behind",))
def archiver_stuck(case: Case) -> Iterator[Claim]:
    """The archiver cannot write, or does not come back.

    Looks like: archival errors, ORA-00257, ORA-19809 in the alert log; in PostgreSQL the last try of archive_command
        failed, and segments wait in pg_wal/archive_status; or nothing fails and nothing is archived, while segments
        wait and more come: the command hangs, aborts the archiver, or is not set.
    Hurts because: when the last log is full and not archived, all changes of an Oracle database stop until there is
        room; PostgreSQL keeps WAL until the file system is full, and then stops. Meanwhile no backup reaches so far.
    Speaks for it: the messages of the alert log; when it failed last and when it did not, how many segments wait and
        since when; the command that still runs, for how long, and what it waits for.
    Speaks against it: messages that ended long ago, and switches since; a single failure that was made good; segments
        that are archived, however many wait; a quiet server, on which none does.
    Remedy: Oracle: make room in the archive destination or the recovery area (back up and delete with RMAN, never by
        hand); enlarge it to hold the redo of the longest time between two backups; watch how full it is.
        PostgreSQL: the server's log has the command's own words and its exit code; run it by hand as the server's user.
        Room, rights, credentials, the host of the archive. A command that ends above 125 (not found) or by a signal
        ends the archiver too, and is counted as no failure. Never delete files of pg_wal: they go once archived.
    Verify: The archiver goes on; no new messages. PostgreSQL: pg_stat_archiver.last_archived_time advances, and
        failed_count stands still.
    Source: Oracle Database Administrator's Guide 19c, "Managing Archived Redo Log Files"; PostgreSQL documentation,
        "Continuous Archiving" (Setting Up WAL Archiving), pg_stat_archiver.
    """
    stuck = case.dataset.frame("event").filter(pl.col("kind") == "archiver stuck").sort("ts", maintain_order=True)
    if stuck.height:
        yield Claim(
            phrase("The archiver could not write: {} messages", stuck.height),
            impact=NOT_MEASURED,
            confidence=0.95,
            for_=[
                Evidence("event", "kind = 'archiver stuck'", phrase("{:%Y-%m-%d %H:%M:%S}", ts), "", text or "")
                for ts, text in stuck.select("ts", "text").tail(MOST_TOLD).iter_rows()
            ],
        )  # fmt: skip
    for failed in case.figures(FAILED_S):
        if is_failing(case, failed.db):
            yield failing(case, failed)
    for db in case.dbs:
        if (still := standstill(case, db)) is not None:
            yield standing(case, still)


def _archiver_too(case: Case, db: str | None) -> list[Evidence]:
    if is_failing(case, db):
        return [Evidence("statistic", f"name = '{FAILED_S}'", "the archiver fails too", "", "it keeps WAL by itself")]
    if db is not None and (still := standstill(case, db)) is not None:
        kept = phrase("{:count segment waits/segments wait} for the archiver too", still.ready)
        return [Evidence("statistic", f"name = '{READY}'", kept, "", "it keeps WAL by itself")]
    return []


def _room(case: Case, retained: Statistic) -> Room:
    """What may still be written: until the slot is lost, where a limit is set, else until the file system is full."""
    on_disk = room_on_disk(case, retained.db, growth(case, retained))
    safe = reading(case, "safe_wal_size_bytes", retained)
    room = on_disk if safe is None else on_disk._replace(left=safe.last, end="the slot is lost")
    lately = room._replace(per_s=growth(case, retained, lately=True))
    return lately if lately.is_at_once else room


def _max_wal_size(case: Case, db: str | None) -> float:
    """Bytes that the server keeps anyway; its default where the setting was not read."""
    return float(case.setting("max_wal_size", db) or 1024) * MIB
