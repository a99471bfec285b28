"""Reads that are slow, or that memory could save."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.by_server import waited_by_server
from doctord.diagnose.common.histograms import spread
from doctord.diagnose.common.waited import MOST_OF_TIME, QUICK_READ_MS, counted_of_kind, mean_ms, of_kind
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

SINGLE = "single read"
READ_TIME = "pg_stat_database.blk_read_time"
# A disk at low load takes 4 to 12 ms; beyond 20 the request queued somewhere, whatever the device is.
SLOW_READ_MS = 20.0
# A mean of fewer reads than this may be one slow moment.
LEAST_READS_PER_S = 1.0


@cause(waits=(SINGLE,))
def reads_slow(case: Case) -> Iterator[Claim]:
    """Reads of single blocks take longer than a healthy device needs.

    Looks like: reads of single blocks (PostgreSQL's `DataFileRead`, Oracle's db file sequential read, reads of InnoDB's
        data files) of 20 ms and more on average.
    Hurts because: index and row lookups read one block after another; every one of them waits that long.
    Speaks for it: the mean and the histogram of the waits, the file system or tablespace that is slowest.
    Speaks against it: a few outliers that make the mean, while most reads are quick.
    Remedy: Look below the database: queues (host, HBA, array), paths, throttles of a cloud volume, neighbours on the
        same disks. Spread the files over more devices. Fewer reads help as well: statements, then cache.
    Verify: The mean, and the histogram, of these reads at the same reads per second.
    Source: Oracle Database Performance Tuning Guide 10.2, "db file sequential read"; L. Canali,
        OraLatencyMap, 2013 (what latencies mean); PostgreSQL documentation, pg_stat_database.blk_read_time.
    """
    part, ms = case.time.kind_share(SINGLE), _read_ms(case)
    if ms is None or ms < SLOW_READ_MS or not (case.worth_with_locks(part, SINGLE) or _often(case, part)):
        return
    told, few_slow = spread(case, *case.time.events_of(SINGLE))
    yield Claim(
        phrase("Single-block reads take {:.1f ms}: {:share of database}", ms, part),
        impact=part * (1 - QUICK_READ_MS / ms),
        confidence=0.65 if few_slow else 0.85,
        for_=[*of_kind(case, SINGLE), *_timed(case, ms), *([] if few_slow else told), *_slowest_places(case)],
        against=told if few_slow else [],
        severity=None if case.worth_saying(part) else "warning",
    )


def _often(case: Case, part: float) -> bool:
    """Whether a server with little to do reads enough for its mean to tell of the storage, mostly waiting for that."""
    per_second = sum(wait.per_second or 0.0 for wait in counted_of_kind(case.waits, SINGLE))
    return part >= MOST_OF_TIME and per_second >= LEAST_READS_PER_S


def _read_ms(case: Case) -> float | None:
    """Mean time of a read: as the server counts its waits, else as PostgreSQL times reads (track_io_timing).

    Of several servers that of the one that waits most: each has devices of its own, and may time nothing.
    """
    if case.active.is_empty():
        return mean_ms(counted_of_kind(case.waits, SINGLE))
    db = next(iter(waited_by_server(case, SINGLE)), None)
    waited_ms, blocks = case.total(READ_TIME, db), case.total("pg_stat_database.blks_read", db)
    return waited_ms / blocks if waited_ms and blocks else None


def _timed(case: Case, ms: float) -> list[Evidence]:
    """The mean where waits were sampled, and the server's own timing gives it."""
    if case.active.is_empty():
        return []
    return [
        Evidence("statistic", f"name = '{READ_TIME}'", phrase("{:.1f ms} a block", ms),
                 phrase("{:.0f ms}", SLOW_READ_MS), "as the server times its reads", "at_least")
    ]  # fmt: skip


def _slowest_places(case: Case) -> list[Evidence]:
    """The tablespaces whose reads take longest, of those that are read often."""
    often = {figure.entity for figure in case.figures("tablespace_io.reads") if figure.mean >= 1.0}
    slow = [figure for figure in case.figures("tablespace_io.read_ms") if figure.entity in often]
    return [
        Evidence("statistic", f"name = 'tablespace_io.read_ms' and entity = '{figure.entity}'",
                 phrase("tablespace {}: {:.1f ms} a read", figure.entity, figure.mean),
                 phrase("{:.0f ms}", SLOW_READ_MS), "")
        for figure in slow[:3] if figure.mean >= SLOW_READ_MS
    ]  # fmt: skip
