"""Settings of PostgreSQL that decide whether WAL is kept, archived, and has room."""

from collections.abc import Iterator

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.lint.postgresql.figures import counted, data_directory_free_bytes, is_empty, last, total
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation


@rule("postgresql")
def wal_level_too_low(subject: Subject) -> Iterator[Violation]:
    """wal_level = minimal with an archive or with senders: the server does not start.

    Why: the WAL then lacks what a standby or a restore needs.
    Evidence: wal_level against max_wal_senders and archive_mode.
    Fix: wal_level = replica; or max_wal_senders = 0 and archive_mode = off.
    Verify: The server starts.
    Source: PostgreSQL documentation, Settings, wal_level.
    """
    if subject.text("wal_level") != "minimal":
        return
    senders, archives = subject.number("max_wal_senders") or 0.0, subject.text("archive_mode")
    if senders > 0 or archives in ("on", "always"):
        why = phrase("max_wal_senders = {:.0f}", senders) if senders > 0 else f"archive_mode = {archives}"
        yield subject.violation(
            phrase("wal_level = minimal with {}", why),
            "wal_level",
            "max_wal_senders",
            "archive_mode",
            cost="the server does not start",
            severity=Severity.ERROR,
            changes=[subject.change("wal_level", "replica", "restart")],
        )


@rule("postgresql")
def archive_command_missing(subject: Subject) -> Iterator[Violation]:
    """archive_mode is on, and nothing archives: WAL is kept until the disk is full.

    Why: a segment may go only when it is archived; at a full disk the server stops.
    Evidence: both settings, the WAL's rate, and the room that is left.
    Fix: Set archive_command or archive_library; or archive_mode = off.
    Verify: pg_stat_archiver.last_archived_time advances.
    Source: PostgreSQL documentation, Archiving, archive_command.
    """
    if subject.text("archive_mode") not in ("on", "always") or not is_empty(subject, "archive_command"):
        return
    if subject.text("archive_library"):
        return
    yield subject.violation(
        "archive_mode = on without archive_command: WAL is never removed",
        "archive_mode",
        "archive_command",
        cost=phrase("the disk fills, then the server stops{}", _until_full(subject)),
        severity=Severity.ERROR,
    )


def _until_full(subject: Subject) -> Words:
    rate, free = total(subject, "pg_stat_wal.wal_bytes"), data_directory_free_bytes(subject)
    if not rate or free is None:
        return ""
    return phrase(": {:bytes} free at {:bytes/s} of WAL lasts {:,.1f h}", free, rate, free / rate / 3600)


@rule("postgresql", since=(13,))
def slots_unlimited(subject: Subject) -> Iterator[Violation]:
    """A replication slot that nobody reads keeps WAL without a limit.

    Why: WAL is kept for it until the disk is full, and then the server stops.
    Evidence: slots that are not active, what they keep, the WAL's rate, and the room that is left.
    Fix: Drop the slot (pg_drop_replication_slot), or set max_slot_wal_keep_size to what the disk can spare.
    Verify: pg_replication_slots: wal_status and the retained WAL.
    Source: PostgreSQL documentation, Sending Servers, max_slot_wal_keep_size.
    """
    limit = subject.number("max_slot_wal_keep_size")
    idle = [figure for figure in subject.case.figures("pg_replication_slots.active") if figure.last == 0]
    if not idle or limit is None or limit >= 0:
        return
    kept = last(subject, "pg_replication_slots.retained_bytes")
    yield subject.violation(
        f"max_slot_wal_keep_size = -1, and nobody reads the slot {idle[0].entity}",
        "max_slot_wal_keep_size",
        cost=phrase("{:bytes} of WAL kept so far{}", kept or 0.0, _until_full(subject)),
        severity=Severity.WARNING,
        evidence=[counted("pg_replication_slots.active", phrase("{} not active", len(idle)), "none")],
    )


@rule("postgresql")
def wal_larger_than_disk(subject: Subject) -> Iterator[Violation]:
    """The WAL may grow beyond what the disk has left.

    Why: at a full disk the server stops, and cannot checkpoint its way out.
    Evidence: max_wal_size with wal_keep_size, less what the WAL takes now, against the free room of the data directory.
    Fix: Lower them, or give the WAL a file system of its own with room for twice max_wal_size.
    Verify: The arithmetic again.
    Source: PostgreSQL documentation, WAL Configuration: max_wal_size is a soft limit.
    """
    size, kept = subject.number("max_wal_size"), subject.number("wal_keep_size") or 0.0
    free, now = data_directory_free_bytes(subject), last(subject, "pg_ls_waldir.size_bytes") or 0.0
    if size is not None and free is not None and max(size, kept) - now > free:
        yield subject.violation(
            phrase("the WAL may take {:bytes}, and {:bytes} are free", max(size, kept), free),
            "max_wal_size",
            "wal_keep_size",
            "data_directory",
            cost=phrase(
                "{:bytes} - {:bytes} of today is more than {:bytes}: the disk fills, then the server stops",
                max(size, kept),
                now,
                free,
            ),
            severity=Severity.WARNING,
            evidence=[
                Evidence(
                    "filesystem",
                    "available_bytes",
                    phrase("{:bytes}", free),
                    "",
                    "free, unless pg_wal is elsewhere",
                )
            ],
        )
