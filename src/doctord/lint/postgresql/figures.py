"""What several of PostgreSQL's rules look at: shares of the measured time, counters, memory left, WAL."""

from doctord.analyse.storage import filesystems
from doctord.dataset.secrets import HIDDEN
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.lint.subject import Subject

BLOCK_BYTES = 8192
READS = ("DataFileRead", "DataFilePrefetch", "AioIoCompletion", "AioIoUringExecution")
FOR_THE_LOG = ("Commit", "System I/O", "Configuration")
# From version 15 on a hash may take twice work_mem; before 13 nothing but work_mem counted.
HASHES_TAKE_TWICE = (15,)


def waited(subject: Subject, *events: str) -> float | None:
    """Share (0 to 1) of database time that was waited for these events; null where the time was not measured."""
    return subject.case.time.share(None, *events) if subject.is_measured else None


def waited_in(subject: Subject, *wait_classes: str) -> float | None:
    """Share (0 to 1) of database time that was waited in these classes; null where the time was not measured."""
    return sum(map(subject.case.time.share, wait_classes)) if subject.is_measured else None


def is_felt(subject: Subject, share: float | None) -> bool:
    """Whether a share of the time was measured, and is worth saying."""
    return share is not None and subject.case.worth_saying(share)


def in_waits(share: float, *events: str) -> Evidence:
    """A share of the time in waits, as evidence."""
    return Evidence(
        "session",
        f"event in {events}",
        phrase("{:share of database}", share),
        phrase("{:share of database}", 0.05),
        "waited for it",
        "at_least",
    )


def counted(name: str, figure: Words, limit: Words = "", why: Words = "") -> Evidence:
    """A figure of `statistic`, as evidence."""
    return Evidence("statistic", f"name = '{name}'", figure, limit, why)


def total(subject: Subject, name: str) -> float | None:
    """Mean of a figure over the interval, its entities added up; null where it was not measured."""
    return subject.case.total(name)


def largest(subject: Subject, name: str) -> float | None:
    """The largest reading of a figure; null where it was not measured."""
    return max((figure.largest for figure in subject.case.figures(name)), default=None)


def last(subject: Subject, name: str) -> float | None:
    """The last readings of a figure, its entities added up; null where it was not measured."""
    figures = subject.case.figures(name)
    return sum(figure.last for figure in figures) if figures else None


def is_empty(subject: Subject, name: str) -> bool:
    """Whether a setting whose default is empty is known to be so: as a server says, or as no file sets it."""
    value = subject.text(name)
    if value is None:
        return not subject.is_running
    return value != HIDDEN and not value.strip("'\" ")


def kernel_number(subject: Subject, name: str) -> float | None:
    """A setting of the kernel as a number; null where it is not known."""
    kernel = subject.other("kernel")
    return kernel.number(name) if kernel else None


def hash_multiplier(subject: Subject) -> float:
    """How many times work_mem a hash may take: as it is set, else the default of the version."""
    told = subject.number("hash_mem_multiplier")
    if told is not None:
        return told
    return 1.0 if subject.version and subject.version < HASHES_TAKE_TWICE else 2.0


def memory_limit_bytes(subject: Subject) -> float | None:
    """What processes can get from this host: memory with swap, or what vm.overcommit_memory = 2 commits.

    Source: Linux kernel documentation, vm/overcommit-accounting: CommitLimit = swap + ratio x (memory - huge pages).
    """
    machine = subject.machine
    total, swap = machine.memory_bytes, machine.memory("swap_total_bytes") or 0.0
    if total is None:
        return None
    ratio = kernel_number(subject, "vm.overcommit_ratio")
    if not is_strict(subject) or ratio is None:
        return total + swap
    huge = (machine.memory("huge_pages_total") or 0.0) * (machine.memory("huge_page_bytes") or 0.0)
    return swap + (total - huge) * ratio / 100


def is_strict(subject: Subject) -> bool:
    """Whether the kernel refuses memory in place of killing processes."""
    return kernel_number(subject, "vm.overcommit_memory") == 2


def connections(subject: Subject) -> float | None:
    """How many clients may connect: max_connections less what is reserved; null where it is not known."""
    allowed = subject.number("max_connections")
    if allowed is None:
        return None
    reserved = ("superuser_reserved_connections", "reserved_connections")
    return allowed - sum(subject.number(name) or 0.0 for name in reserved)


def full_page_share(subject: Subject) -> float | None:
    """Share (0 to 1) of the WAL that is full pages, at most: holes in them are left out; null: not measured."""
    pages, written = total(subject, "pg_stat_wal.wal_fpi"), total(subject, "pg_stat_wal.wal_bytes")
    return min(pages * BLOCK_BYTES / written, 1.0) if pages is not None and written else None


def checkpoint_bytes(subject: Subject) -> float | None:
    """WAL after which a checkpoint is requested; null where a setting is not known.

    Source: PostgreSQL, CalculateCheckpointSegments in xlog.c (11 and later): max_wal_size / (1 +
    checkpoint_completion_target).
    """
    size, target = subject.number("max_wal_size"), subject.number("checkpoint_completion_target")
    return size / (1 + (0.9 if target is None else target)) if size else None


def data_directory_free_bytes(subject: Subject) -> float | None:
    """Room left on the file system of the data directory; null where either is not known."""
    return filesystems.left_bytes(subject.case.dataset, subject.text("data_directory"))


def is_solid(subject: Subject) -> bool:
    """Whether the host has block devices that say what they are, and none of them turns."""
    turning = [
        row.value.strip()
        for other in subject.others
        for row in other.rows
        if row.name.startswith("block.") and row.name.endswith(".rotational")
    ]
    return bool(turning) and set(turning) == {"0"}


def as_setting(count: float) -> str:
    """Bytes as a value of a setting, rounded down.

    >>> as_setting(6 * 2**30), as_setting(65536)
    ('6144MB', '64kB')
    """
    kib = int(count) >> 10
    return f"{kib >> 10}MB" if kib >= 1024 else f"{max(kib, 64)}kB"


def commits_per_s(subject: Subject) -> float | None:
    """Transactions committed a second; null where they were not counted."""
    return total(subject, "pg_stat_database.xact_commit")
