"""Settings of PostgreSQL that decide what a crash may lose."""

from collections.abc import Iterator

from doctord.lint.remark import Remark, Severity
from doctord.lint.rule import rule
from doctord.lint.subject import Subject


@rule("postgresql")
def fsync_off(subject: Subject) -> Iterator[Remark]:
    """Nothing is forced to disk: fsync is off.

    Why: after a crash of the host or its power the data directory may be corrupt, not merely some commits behind.
    Evidence: the setting alone.
    Fix: Set fsync = on. Where commits wait for the disk, synchronous_commit = off loses at most the last moments, and
        never the database.
    Verify: SHOW fsync; then watch the wait events WALSync and WALWrite.
    Source: PostgreSQL documentation, 20.5 Write Ahead Log, fsync.
    """
    if subject.flag("fsync") is False:
        yield subject.remark(
            "fsync = off: a crash of the host can destroy the whole cluster",
            "fsync",
            cost="data: everything since the last backup, at the next power failure or kernel crash",
            severity=Severity.ERROR,
            changes=[subject.change("fsync", "on", "reload")],
        )
