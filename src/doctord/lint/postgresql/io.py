"""Settings of PostgreSQL about reading and writing data files."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import phrase
from doctord.lint.postgresql.figures import (
    READS,
    in_waits,
    is_felt,
    is_solid,
    kernel_number,
    waited,
)
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

WORKERS: Final = ("AioIoCompletion",)
OWN_WRITES: Final = ("DataFileWrite", "DataFileFlush")
IO_URING_FOR_NOBODY: Final = 2


@rule("postgresql", since=(18,))
def io_uring_forbidden(subject: Subject) -> Iterator[Violation]:
    """io_method = io_uring, and the kernel forbids it: the server does not start.

    Why: kernel.io_uring_disabled = 2 refuses it to everybody; 1 to all but a group and root.
    Evidence: both settings.
    Fix: io_method = worker; or kernel.io_uring_disabled = 0.
    Verify: The server starts.
    Source: PostgreSQL documentation, I/O, io_method; Linux kernel documentation, sysctl/kernel.
    """
    forbidden = kernel_number(subject, "kernel.io_uring_disabled")
    if subject.text("io_method") == "io_uring" and forbidden is not None and forbidden >= IO_URING_FOR_NOBODY:
        yield subject.violation(
            phrase("io_method = io_uring with kernel.io_uring_disabled = {:.0f}", forbidden),
            "io_method",
            cost="the server does not start",
            severity=Severity.ERROR,
            changes=[subject.change("io_method", "worker", "restart")],
        )


@rule("postgresql", since=(18,))
def io_workers_few(subject: Subject) -> Iterator[Violation]:
    """Sessions wait for the workers that read on their behalf.

    Why: with io_method = worker, io_workers processes read for all sessions; when all are at work, reads queue.
    Evidence: time waited for asynchronous reads to be done.
    Fix: Raise io_workers towards what the device serves at once.
    Verify: The share of AioIoCompletion at the same load; bytes read a second.
    Source: PostgreSQL 18 documentation, I/O, io_workers.
    """
    workers, share = subject.number("io_workers"), waited(subject, *WORKERS)
    if subject.text("io_method") == "worker" and workers and share is not None and is_felt(subject, share):
        yield subject.violation(
            phrase("io_workers = {:.0f}: sessions wait for reads that these do", workers),
            "io_workers",
            "io_method",
            cost=phrase("at most {:share of database}: the device's own time is part of it", share),
            impact=share,
            evidence=[in_waits(share, *WORKERS)],
            changes=[subject.change("io_workers", f"{min(2 * workers, 32):.0f}", "reload")],
        )


@rule("postgresql", since=(18,))
def io_method_synchronous(subject: Subject) -> Iterator[Violation]:
    """Reads are made one after another, though the server could have several in flight.

    Why: io_method = sync reads as versions before 18 did; each scan waits for each read.
    Evidence: time waited for reads.
    Fix: io_method = worker, or io_uring where kernel and build have it.
    Verify: The share of DataFileRead at the same load.
    Source: PostgreSQL 18 documentation, I/O, io_method.
    """
    share = waited(subject, "DataFileRead")
    if subject.text("io_method") == "sync" and share is not None and is_felt(subject, share):
        yield subject.violation(
            phrase("io_method = sync, and {:share} of the time waits for reads", share),
            "io_method",
            cost=f"{CANNOT_JUDGE}: how much of it reading ahead would save; try worker",
            severity=Severity.NOTE,
            changes=[subject.change("io_method", "worker", "restart")],
        )


@rule("postgresql", until=(18,))
def effective_io_concurrency_low(subject: Subject) -> Iterator[Violation]:
    """Bitmap scans ask a device for one page at a time that could serve many.

    Why: effective_io_concurrency is how many pages are asked for ahead; 1 suits a single disk that turns.
    Evidence: no block device turns; time waited for reads.
    Fix: effective_io_concurrency = 200 for such devices; then compare bitmap heap scans.
    Verify: EXPLAIN (ANALYZE, BUFFERS) of bitmap heap scans, the device's queue.
    Source: PostgreSQL documentation, Asynchronous Behavior, effective_io_concurrency.
    """
    ahead, share = subject.number("effective_io_concurrency"), waited(subject, *READS)
    if ahead is not None and ahead <= 1 and is_solid(subject) and share is not None and is_felt(subject, share):
        yield subject.violation(
            phrase("effective_io_concurrency = {:.0f} on devices that do not turn", ahead),
            "effective_io_concurrency",
            cost=phrase("{}: which part of the {:share} in reads is bitmap scans", CANNOT_JUDGE, share),
            severity=Severity.NOTE,
            changes=[subject.change("effective_io_concurrency", "200", "reload")],
        )


@rule("postgresql")
def read_times_not_measured(subject: Subject) -> Iterator[Violation]:
    """Reads take much of the time, and nobody times them: track_io_timing is off.

    Why: a read from the page cache and one from the device look alike, so nobody can say which device is slow.
    Evidence: time waited for reads.
    Fix: track_io_timing = on, after pg_test_timing has shown that reading the clock is cheap here.
    Verify: pg_stat_database.blk_read_time grows.
    Source: PostgreSQL documentation, Cumulative Query and Index Statistics, track_io_timing.
    """
    share = waited(subject, *READS)
    if subject.flag("track_io_timing") is False and share is not None and is_felt(subject, share):
        yield subject.violation(
            phrase("track_io_timing = off, and {:share} of the time waits for reads", share),
            "track_io_timing",
            cost=f"{CANNOT_JUDGE}: whether these reads are slow",
            severity=Severity.NOTE,
            changes=[subject.change("track_io_timing", "on", "reload")],
        )


@rule("postgresql")
def background_writer_slow(subject: Subject) -> Iterator[Violation]:
    """Sessions write other sessions' pages to find room for their own.

    Why: a session that needs a buffer, and finds only changed ones, writes one out first.
    Evidence: time that sessions waited for writes of data files; the background writer's limit.
    Fix: Raise bgwriter_lru_maxpages and bgwriter_lru_multiplier, shorten bgwriter_delay; or enlarge shared_buffers.
    Verify: The share of DataFileWrite at the same load; pg_stat_io of client backends.
    Source: PostgreSQL documentation, Background Writer.
    """
    share, most = waited(subject, *OWN_WRITES), subject.number("bgwriter_lru_maxpages")
    delay_s = subject.number("bgwriter_delay")
    if share is None or most is None or not delay_s or not is_felt(subject, share):
        return
    yield subject.violation(
        phrase("sessions write pages themselves: the background writer may write {:,.0f} a second", most / delay_s),
        "bgwriter_lru_maxpages",
        "bgwriter_delay",
        "bgwriter_lru_multiplier",
        cost=phrase("{:share of database} waits for writes that are not the session's own business", share),
        impact=share,
        evidence=[in_waits(share, *OWN_WRITES)],
        changes=[subject.change("bgwriter_lru_maxpages", "1000", "reload")],
    )
