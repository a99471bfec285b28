"""Settings of InnoDB that decide when and how its redo log and its pages are written."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.mysql.measured import evidence, figure, highest, is_felt, is_mariadb, share, write_s
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Change, Severity, Violation
from doctord.units import MIB

AN_HOUR_S: Final = 3600.0
_ONE_FILE: Final = (10, 6)  # the first MariaDB with a single log file
_SHORT_S: Final = 900.0
_SHORTEST_S: Final = 60.0  # then every busy page is written anew within the minute, however few they are
# From 7/8 of the log on InnoDB lets every change wait for page writes; before that it already writes all it can.
_NEARLY_FULL: Final = 0.75


@rule("mysql")
def redo_log_small(subject: Subject) -> Iterator[Violation]:
    """The redo log is soon full: the same pages are written over and over.

    Why: a page must be written before the log that changed it may be overwritten. The shorter the log lasts, the more
        often a page that changes often is written, and near its end every change waits for such writes.
    Evidence: Innodb_os_log_written a second against the size of the log; the dirty pages; the age of the checkpoint.
    Fix: Give the redo log the size below (an hour of writing); recovery after a crash takes longer with it, minutes at
        most.
    Verify: Innodb_checkpoint_age stays well below its limit, and Innodb_buffer_pool_pages_flushed a second falls.
    Source: MySQL Reference Manual, 17.6.5 Redo Log, 10.5.4 Optimizing InnoDB Redo Logging; MariaDB documentation,
        InnoDB Redo Log.
    """
    size, written = redo_bytes(subject), figure(subject, "innodb_os_log_written")
    if size is None or not written:
        return
    lasts_s = size / written
    dirty = highest(subject, "innodb_buffer_pool_bytes_dirty")
    again = (min(dirty, size) / lasts_s) if dirty else 0.0
    age, most = highest(subject, "innodb_checkpoint_age"), highest(subject, "innodb_checkpoint_max_age")
    full = age / most if age is not None and most else None
    if lasts_s > (_SHORT_S if again >= MIB or (full or 0.0) >= _NEARLY_FULL else _SHORTEST_S):
        return
    filled = Evidence(
        "statistic", "innodb_checkpoint_age", phrase("{:share}", full or 0), "below 75 %", "then changes wait"
    )
    rate = evidence(
        "innodb_os_log_written",
        phrase("{:bytes/s}", written),
        phrase("{:bytes}", size),
        phrase("full in {:.0f s}", lasts_s),
    )
    yield subject.violation(
        phrase("a redo log of {:bytes} is full in {:.0f} s", size, lasts_s),
        "innodb_redo_log_capacity",
        "innodb_log_file_size",
        "innodb_log_files_in_group",
        cost=phrase(
            "{:bytes} of changed pages are written again each time, up to {:bytes} a second", dirty or 0, again
        ),
        severity=Severity.WARNING,
        evidence=[rate, *([filled] if full is not None else [])],
        changes=[_larger(subject, written * AN_HOUR_S)],
    )


@rule("mysql")
def log_buffer_small(subject: Subject) -> Iterator[Violation]:
    """Sessions wait for room in the log buffer.

    Why: a change whose redo does not fit into the log buffer waits until some of it is written.
    Evidence: Innodb_log_waits a second x the time of a write.
    Fix: Double innodb_log_buffer_size.
    Verify: Innodb_log_waits no longer grows.
    Source: MySQL Reference Manual, 17.14, innodb_log_buffer_size, 7.1.10 Innodb_log_waits.
    """
    size, waits = subject.number("innodb_log_buffer_size"), figure(subject, "innodb_log_waits")
    if size is None or not waits:
        return
    each_s = write_s(subject)
    spent = waits * each_s if each_s is not None else None
    if spent is not None and not is_felt(subject, spent):
        return
    told = phrase("{:rate waits} x {:time}: {:.2f} sessions", waits, each_s or 0, spent) if spent else ""
    yield subject.violation(
        phrase("innodb_log_buffer_size = {:bytes}: sessions wait for room in it", size),
        "innodb_log_buffer_size",
        cost=told or phrase("{}: {:rate waits}; collect the disks' times", CANNOT_JUDGE, waits),
        impact=share(subject, spent) if spent else None,
        evidence=[
            evidence("innodb_log_waits", phrase("{:rate}", waits), "none", "each is a session that waits for a write")
        ],
        changes=[subject.change("innodb_log_buffer_size", f"{int(size * 2) >> 20}M")],
    )


@rule("mysql")
def free_pages_waited_for(subject: Subject) -> Iterator[Violation]:
    """Sessions wait for a free page: the background writes pages too slowly.

    Why: innodb_io_capacity limits what the background writes. Where it is below what the disk does, clean pages run
        out, and sessions write pages themselves.
    Evidence: Innodb_buffer_pool_wait_free a second x the time of a write; innodb_io_capacity.
    Fix: Raise innodb_io_capacity towards the writes a second that the disk is known to do, or enlarge the buffer pool.
    Verify: Innodb_buffer_pool_wait_free no longer grows.
    Source: MySQL Reference Manual, 17.8.7 Configuring InnoDB I/O Capacity, 7.1.10 Innodb_buffer_pool_wait_free.
    """
    capacity, waits = subject.number("innodb_io_capacity"), figure(subject, "innodb_buffer_pool_wait_free")
    if capacity is None or not waits:
        return
    each_s = write_s(subject)
    spent = waits * each_s if each_s is not None else None
    if spent is not None and not is_felt(subject, spent):
        return
    told = phrase("{:rate waits} x {:time}: {:.2f} sessions", waits, each_s or 0, spent) if spent else ""
    yield subject.violation(
        phrase("innodb_io_capacity = {:.0f}: sessions wait for free pages", capacity),
        "innodb_io_capacity",
        "innodb_buffer_pool_size",
        cost=told or phrase("{}: {:rate waits}; collect the disks' times", CANNOT_JUDGE, waits),
        impact=share(subject, spent) if spent else None,
        evidence=[
            evidence(
                "innodb_buffer_pool_wait_free", phrase("{:rate}", waits), "none", "sessions write pages themselves"
            )
        ],
        changes=[subject.change("innodb_io_capacity", f"{capacity * 2:.0f}")],
    )


@rule("mysql")
def neighbours_flushed_on_ssd(subject: Subject) -> Iterator[Violation]:
    """Pages beside a changed one are written with it, on disks where that saves nothing.

    Why: on a spinning disk neighbours are written on the way; on a solid one each is one more write. MariaDB leaves it
        out there by itself from 10.4 on.
    Evidence: innodb_flush_neighbors, and that no disk here spins; what it costs, only a trial tells.
    Fix: Set innodb_flush_neighbors = 0.
    Verify: Innodb_pages_written a second falls under the same load.
    Source: MySQL Reference Manual, 17.8.3.5 Configuring Buffer Pool Flushing.
    """
    if is_mariadb(subject) is not False or not subject.number("innodb_flush_neighbors") or _spins(subject) is not False:
        return
    yield subject.violation(
        "innodb_flush_neighbors is on, and no disk here spins",
        "innodb_flush_neighbors",
        cost=f"{CANNOT_JUDGE}: compare Innodb_pages_written a second with it and without",
        severity=Severity.NOTE,
        changes=[subject.change("innodb_flush_neighbors", "0")],
    )


@rule("mysql")
def tables_share_one_file(subject: Subject) -> Iterator[Violation]:
    """All tables are in the system tablespace, which never shrinks.

    Why: with innodb_file_per_table = OFF the space of a dropped or truncated table goes back to no one but InnoDB; only
        a dump and a new data directory make ibdata1 smaller.
    Evidence: innodb_file_per_table.
    Fix: Set innodb_file_per_table = ON, and rebuild tables one by one with ALTER TABLE ... FORCE.
    Verify: information_schema.innodb_tablespaces (innodb_sys_tablespaces) lists a file for each table.
    Source: MySQL Reference Manual, 17.6.3.2 File-Per-Table Tablespaces.
    """
    if subject.flag("innodb_file_per_table") is False:
        yield subject.violation(
            "innodb_file_per_table = OFF: space of dropped tables is never given back",
            "innodb_file_per_table",
            cost="space: whatever is dropped or truncated stays allocated in ibdata1 for good",
            severity=Severity.WARNING,
            changes=[subject.change("innodb_file_per_table", "ON")],
        )


def redo_bytes(subject: Subject) -> float | None:
    """Size of the redo log: MySQL has a capacity from 8.0.30 on, others one size for each of several files."""
    capacity = subject.number("innodb_redo_log_capacity")
    if capacity is not None and is_mariadb(subject) is False:
        return capacity
    each = subject.number("innodb_log_file_size")
    files = subject.number("innodb_log_files_in_group")
    if files is None and is_mariadb(subject) and (subject.version or (0,)) >= _ONE_FILE:
        files = 1.0
    return None if each is None or files is None else each * files


def _larger(subject: Subject, wanted: float) -> Change:
    """The redo log made so large, each file of it in whole pieces of 64 MiB."""
    by_capacity = subject.number("innodb_redo_log_capacity") is not None and is_mariadb(subject) is False
    files = 1.0 if by_capacity else subject.number("innodb_log_files_in_group") or 1.0
    size = f"{max(-(-int(wanted / files) // (64 * MIB)), 1) * 64}M"
    return subject.change("innodb_redo_log_capacity" if by_capacity else "innodb_log_file_size", size)


def _spins(subject: Subject) -> bool | None:
    """Whether some disk of the host spins; null where nobody tells."""
    rows = [row for other in subject.others for row in other.rows if row.name.endswith(".rotational")]
    told = [row.flag for row in rows if row.flag is not None]
    return any(told) if told else None
