"""Settings of PostgreSQL that decide what a crash may lose."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.postgresql.figures import commits_per_s, is_felt, waited
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

LOST_CYCLES: Final = 3  # of the WAL writer, at the most: documentation, Asynchronous Commit
BLIND: Final = ("ignore_checksum_failure", "zero_damaged_pages", "ignore_invalid_pages", "ignore_system_indexes")
FLUSHES: Final = ("WALSync", "WALWrite")
UNLOGGED: Final = "pg_class.unlogged_bytes"
MOST_NAMED: Final = 4


@rule("postgresql")
def fsync_off(subject: Subject) -> Iterator[Violation]:
    """Nothing is forced to disk: fsync is off.

    Why: after a crash of the host or its power the data directory may be corrupt, not merely some commits behind.
    Evidence: the setting alone.
    Fix: Set fsync = on. Where commits wait for the disk, synchronous_commit = off loses at most the last moments, and
        never the database.
    Verify: SHOW fsync; then watch the wait events WALSync and WALWrite (WalSync and WalWrite since 17).
    Source: PostgreSQL documentation, Write Ahead Log, fsync.
    """
    if subject.flag("fsync") is False:
        yield subject.violation(
            "fsync = off: a crash of the host can destroy the whole cluster",
            "fsync",
            cost="data: everything since the last backup, at the next power failure or kernel crash",
            severity=Severity.ERROR,
            changes=[subject.change("fsync", "on", "reload")],
        )


@rule("postgresql")
def full_page_writes_off(subject: Subject) -> Iterator[Violation]:
    """Pages that a crash tears cannot be repaired: full_page_writes is off.

    Why: a page of 8 kB is written in pieces of 4 kB or less; a crash in between leaves half of each, and the WAL holds
        only changes to a whole page.
    Evidence: the setting alone. It is right only where the file system writes 8 kB as one (ZFS, Btrfs).
    Fix: Set full_page_writes = on; wal_compression and checkpoints that come less often make it cheap.
    Verify: SHOW full_page_writes.
    Source: PostgreSQL documentation, Write Ahead Log, full_page_writes.
    """
    if subject.flag("full_page_writes") is False:
        yield subject.violation(
            "full_page_writes = off: a crash can tear pages beyond repair",
            "full_page_writes",
            cost="data: every page that was being written at a power failure or kernel crash, unless the file system "
            "writes 8 kB as one",
            severity=Severity.ERROR,
            changes=[subject.change("full_page_writes", "on", "reload")],
        )


@rule("postgresql")
def synchronous_commit_off(subject: Subject) -> Iterator[Violation]:
    """Commits are confirmed before they are safe: synchronous_commit is off for everybody.

    Why: a crash, even of the server alone, loses transactions that clients were told of; the data stay consistent.
    Evidence: three times wal_writer_delay, and the commits per second that were measured.
    Fix: Set it on, and off only for the roles or transactions that can be repeated (ALTER ROLE ... SET).
    Verify: SHOW synchronous_commit as each role.
    Source: PostgreSQL documentation, Asynchronous Commit.
    """
    if subject.flag("synchronous_commit") is not False:
        return
    delay_s = subject.number("wal_writer_delay")
    window_s = None if delay_s is None else LOST_CYCLES * delay_s
    moment = phrase("up to {:time}", window_s) if window_s else "the last moments"
    commits = commits_per_s(subject)
    lost = (
        phrase(", {:,.0f} transactions at {:,.0f} commits a second", window_s * commits, commits)
        if window_s and commits
        else ""
    )
    yield subject.violation(
        phrase("synchronous_commit = off: a crash loses {} of confirmed commits", moment),
        "synchronous_commit",
        "wal_writer_delay",
        cost=phrase("data: {} x wal_writer_delay = {} of commits{}", LOST_CYCLES, moment, lost),
        severity=Severity.WARNING,
        changes=[subject.change("synchronous_commit", "on", "reload")],
    )


@rule("postgresql", since=(12,))
def fsync_errors_ignored(subject: Subject) -> Iterator[Violation]:
    """A failed flush is tried again and believed: data_sync_retry is on.

    Why: Linux drops what it could not write; the second fsync reports success, and the pages are gone.
    Evidence: the setting alone.
    Fix: Set data_sync_retry = off: the server stops, and recovers from the WAL.
    Verify: SHOW data_sync_retry.
    Source: PostgreSQL documentation, Error Handling, data_sync_retry.
    """
    if subject.flag("data_sync_retry"):
        yield subject.violation(
            "data_sync_retry = on: writes that failed are taken for done",
            "data_sync_retry",
            cost="data: the pages of every write that the device refuses",
            severity=Severity.ERROR,
            changes=[subject.change("data_sync_retry", "off", "restart")],
        )


@rule("postgresql")
def damage_ignored(subject: Subject) -> Iterator[Violation]:
    """A setting meant for the rescue of a broken database is on for all.

    Why: damaged pages are read as empty, or passed over, and then written so: what could be restored is lost.
    Evidence: the settings alone.
    Fix: Take it out; set it only in the session that rescues data.
    Verify: SHOW each of them.
    Source: PostgreSQL documentation, Developer Options.
    """
    for name in BLIND:
        if subject.flag(name):
            yield subject.violation(
                f"{name} = on: damage is passed over in silence",
                name,
                cost="data: rows of damaged pages vanish without an error",
                severity=Severity.ERROR,
                changes=[subject.change(name, None, "reload")],
            )


@rule("postgresql")
def wal_sync_method_slow(subject: Subject) -> Iterator[Violation]:
    """Commits wait, and the WAL is flushed in another way than Linux does best.

    Why: fsync and open_sync write the file's times with each flush, open_datasync and open_sync wait for each write.
    Evidence: time waited for flushes; the method.
    Fix: Run pg_test_fsync on the WAL's file system and take the fastest method; fdatasync is the default.
    Verify: Time waited per commit before and after.
    Source: PostgreSQL documentation, Write Ahead Log, wal_sync_method; pg_test_fsync.
    """
    method, share = subject.text("wal_sync_method"), waited(subject, *FLUSHES)
    if method not in (None, "fdatasync") and share is not None and is_felt(subject, share):
        yield subject.violation(
            phrase("wal_sync_method = {}, and {:share} of the time waits for flushes", method, share),
            "wal_sync_method",
            cost=phrase("{}: run pg_test_fsync; at most {:share of database}", CANNOT_JUDGE, share),
            severity=Severity.NOTE,
        )


@rule("postgresql")
def data_checksums_off(subject: Subject) -> Iterator[Violation]:
    """Pages have no checksums.

    Why: what storage or memory damages is given to clients, and copied to standbys and backups, until someone notices.
    Evidence: the setting, as a running server tells it.
    Fix: pg_checksums --enable with the server stopped (12 and later); initdb of 18 turns them on.
    Verify: SHOW data_checksums; pg_stat_database.checksum_failures.
    Source: PostgreSQL documentation, Data Checksums.
    """
    if subject.flag("data_checksums") is False:
        yield subject.violation(
            "data_checksums = off: damage by the storage is not noticed",
            "data_checksums",
            cost="nothing while the storage is sound; nobody would know otherwise",
            severity=Severity.NOTE,
        )


@rule("postgresql")
def unlogged_tables(subject: Subject) -> Iterator[Violation]:
    """Tables are unlogged: a crash empties them.

    Why: what is not in the WAL cannot be recovered. After a crash, a kill -9 or a power failure each unlogged table
        begins empty; a standby has no rows of it, nor has a restored base backup.
    Evidence: the unlogged tables with their sizes.
    Fix: ALTER TABLE ... SET LOGGED for what must survive; for what can be made again, a job that fills it after each
        start.
    Verify: relpersistence of pg_class is p for tables whose rows must survive.
    Source: PostgreSQL documentation, CREATE TABLE (UNLOGGED), ALTER TABLE (SET LOGGED).
    """
    found = [one for one in subject.case.figures(UNLOGGED) if one.db == subject.db and one.last > 0]
    if not found:
        return
    largest = max(found, key=lambda one: one.last)
    yield subject.violation(
        phrase("{:count table is/tables are} unlogged, the largest {}", len(found), largest.entity),
        "restart_after_crash",  # with it they are empty as soon as clients are back
        cost=phrase("data: {:bytes} at the next crash, and none of it on a standby", sum(one.last for one in found)),
        severity=Severity.NOTE,
        evidence=[
            Evidence("statistic", f"name = '{UNLOGGED}' and entity = '{one.entity}'",
                     phrase("{}: {:bytes}", one.entity, one.last), "", "gone after a crash")
            for one in sorted(found, key=lambda one: -one.last)[:MOST_NAMED]
        ],
    )  # fmt: skip
