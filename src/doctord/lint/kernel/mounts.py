"""How file systems are mounted: what a crash may lose, what each read writes, what a lost server does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from doctord.lint.rule import rule
from doctord.lint.setting import Setting
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

NETWORK: Final = ("nfs", "nfs4")
NO_BARRIER: Final = ("nobarrier", "barrier=0")
# Options that the kernel shows as they were written, so that a missing one is not in force.
SHOWN: Final = (
    "noatime",
    "strictatime",
    "nobarrier",
    "barrier=0",
    "sync",
    "data=journal",
    "data=writeback",
    "soft",
    "ro",
)


@dataclass(frozen=True, slots=True)
class Mount:
    """A mount with its options, and the row that says them."""

    point: str
    kind: str
    options: frozenset[str]
    row: Setting


@rule("mount")
def barriers_off(subject: Subject) -> Iterator[Violation]:
    """A file system does not flush the disk's cache when data must be safe.

    Why: what fsync promised is in a cache that a power failure empties: the file system itself may be damaged.
    Evidence: nobarrier, barrier=0.
    Fix: Take the option out: with a cache that a battery keeps, flushing costs nothing.
    Verify: /proc/mounts; fsync's time (pg_test_fsync).
    Source: Linux, Documentation/filesystems/ext4; xfs(5) (nobarrier is gone since 4.19).
    """
    for mount in mounts(subject):
        if found := mount.options & set(NO_BARRIER):
            yield _violation(
                subject, mount, found, "data: what fsync promised, and the file system, at a power failure", 3
            )


@rule("mount")
def written_at_once(subject: Subject) -> Iterator[Violation]:
    """Every write of every program waits for the disk.

    Why: what a database does for its log, sync does for temporary files, logs and backups too.
    Evidence: the option sync.
    Fix: Take it out: databases ask for fsync themselves.
    Verify: Write latency of what is not the log.
    Source: mount(8).
    """
    for mount in mounts(subject):
        if "sync" in mount.options:
            yield _violation(
                subject, mount, ["sync"], "each write of any program waits for the disk, one after the other", 2
            )


@rule("mount")
def journalled_twice(subject: Subject) -> Iterator[Violation]:
    """ext4 writes all data into its journal first.

    Why: every block is written twice, and databases have a log of their own.
    Evidence: data=journal.
    Fix: data=ordered, the default.
    Verify: Bytes written to the device at the same load: about half.
    Source: Linux, Documentation/filesystems/ext4, data modes.
    """
    for mount in mounts(subject):
        if "data=journal" in mount.options:
            yield _violation(subject, mount, ["data=journal"], "each block is written twice", 2)


@rule("mount")
def access_times_written(subject: Subject) -> Iterator[Violation]:
    """Every read of a file writes when it was read.

    Why: a read becomes a write of the inode.
    Evidence: strictatime.
    Fix: noatime, or relatime, the default.
    Verify: Writes to the device at a load that only reads.
    Source: mount(8).
    """
    for mount in mounts(subject):
        if "strictatime" in mount.options:
            yield _violation(subject, mount, ["strictatime"], "a write of the inode for every read", 2)


@rule("mount")
def network_file_system_gives_up(subject: Subject) -> Iterator[Violation]:
    """An NFS mount gives up after a while, and programs get an error for what was to be written.

    Why: with soft a slow server becomes a failed write: a database stops, or is damaged.
    Evidence: soft.
    Fix: hard; and for Oracle's files the options that its support gives (actimeo=0, or direct NFS).
    Verify: /proc/mounts.
    Source: nfs(5), soft and hard.
    """
    for mount in mounts(subject):
        if mount.kind in NETWORK and "soft" in mount.options:
            yield _violation(
                subject, mount, ["soft"], "data: a write that times out is lost, and reported as an error", 3
            )


@rule("mount")
def trimmed_at_once(subject: Subject) -> Iterator[Violation]:
    """Each deleted file is told to the device at once.

    Why: on many devices a trim stops the queue: dropping a large table makes everybody wait.
    Evidence: discard.
    Fix: Take discard out, and run fstrim weekly (fstrim.timer).
    Verify: Write latency while a large file is removed.
    Source: Linux, ext4(5), xfs(5); fstrim(8).
    """
    for mount in mounts(subject):
        if "discard" in mount.options:
            cost = "cannot judge without measurements: write latency while a large file is removed"
            yield _violation(subject, mount, ["discard"], cost, 1)


@rule("mount")
def option_not_in_force(subject: Subject) -> Iterator[Violation]:
    """The file fstab wants an option that the mounted file system does not have.

    Why: fstab was changed, and the file system not mounted again: it will be another after the next boot.
    Evidence: both lines.
    Fix: mount -o remount POINT (some options need umount).
    Verify: /proc/mounts.
    Source: fstab(5), mount(8).
    """
    now = {mount.point: mount for mount in mounts(subject) if mount.row.is_running}
    for wish in (mount for mount in mounts(subject) if not mount.row.is_running):
        is_now = now.get(wish.point)
        missing = [one for one in SHOWN if one in wish.options and is_now and one not in is_now.options]
        if is_now and missing:
            yield subject.violation(
                f"{wish.point}: {', '.join(missing)} is written, and not in force",
                settings=[wish.row, is_now.row],
                cost="what is written does not hold before it is mounted again",
                severity=Severity.WARNING,
            )


def mounts(subject: Subject) -> list[Mount]:
    """All mounts that are told, of files and of the kernel."""
    found = []
    for row in subject.rows:
        point, _, what = row.name.rpartition(".")
        if what == "options":
            kind = next((one.value for one in subject.rows if (one.name, one.file) == (f"{point}.type", row.file)), "")
            found.append(Mount(point, kind, frozenset(row.value.split(",")), row))
    return found


def _violation(
    subject: Subject, mount: Mount, options: Sequence[str] | frozenset[str], cost: str, severity: int
) -> Violation:
    title = f"{mount.point} ({mount.kind}) is mounted with {', '.join(sorted(options))}"
    return subject.violation(title, settings=[mount.row], cost=cost, severity=Severity(severity))
