"""The page cache: data files that do not stay in it, or are in it and in the buffer pool as well."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.host.other_processes import consumers
from doctord.analyse.storage.page_cache import CachedFiles, cached_files, is_direct
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, at_most
from doctord.diagnose.phrase import phrase

READS = ("single read", "multi-block read")
# What is read stays, but for what is read once more while it is on its way, and for files beside the largest.
DROPPED_SHARE = 0.5
# As much as a small table in a minute; less is temporary files, logs and chance.
DROPPED_BYTES_PER_S = 2**20
PRESSURE_PCT = 5.0
# What is read of files that are not looked at is not seen to stay.
LOOKED_AT = 0.9
# A backup moves tens of megabytes a second.
NEIGHBOUR_BYTES_PER_S = 2**20
# A quarter of the memory is what PostgreSQL's documentation advises, beside a page cache: that is no fault.
POOL_SHARE = 0.3
# As much as the pool holds may be held twice.
TWICE = 0.5
# From here on the files are cached but for what nobody reads.
ALL_CACHED = 0.9


@cause(
    explains=("reads_slow", "buffer_pool_small", "io_by_others", "device_saturated", "data_cached_twice"), waits=READS
)
def page_cache_evicted(case: Case) -> Iterator[Claim]:
    """Data files are dropped from the page cache although there is room for them, and are read again from the disk.

    Looks like: sessions wait for reads of blocks that were read a moment ago; memory is available, and the share of the
        files in the page cache does not grow by what is read.
    Hurts because: a read from the page cache takes microseconds, one from the disk up to milliseconds.
    Speaks for it: bytes that the database read from the disk against those that stayed; pages that the kernel dropped
        lately; who else reads much: a copy or a backup fills the cache with its own files, or tells the kernel to
        forget what it has read (posix_fadvise), the database's pages with it; writes to drop_caches.
    Speaks against it: memory that is short, which is a cause of its own. Nothing is said where the files are larger
        than the memory that is available, are open around the page cache, or are more than are looked at.
    Remedy: Find who drops them: a backup that reads the data directory (borg and others give up what they have read:
        leave that option out, or take the backup from a standby), a script that writes to /proc/sys/vm/drop_caches, a
        copy of large files (run it in a control group with memory.high of its own, or with direct I/O). A larger
        buffer pool does not depend on the page cache.
        PostgreSQL: pg_prewarm brings a table back at once.
    Verify: The cached share of the data files (page_cache.cached_bytes) stays up and the disk's reads fall at the same
        load.
    Source: Kernel documentation, cachestat(2) and "Concepts overview: page cache"; posix_fadvise(2),
        POSIX_FADV_DONTNEED; G. Fawcett, "Demystifying high-end server behavior", 2005.
    """
    files = [one for one in cached_files(case.dataset) if not is_direct(case.dataset, one.folder)]
    read = float(case.processes.filter("database")["read_bytes"].sum() or 0.0)
    dropped = read - max(sum(one.cached_bytes - one.first_bytes for one in files), 0.0)
    impact = case.time.kind_share(*READS) * (dropped / read if read else 0.0)
    if not files or dropped < DROPPED_SHARE * read or not case.worth_saying(impact) or not _has_room(case, files):
        return
    if dropped < DROPPED_BYTES_PER_S * case.process_seconds:
        return
    for_, against = weigh(_signs(case, files, read, dropped))
    yield Claim(
        phrase("{:bytes/s} of data files are read from the disk and do not stay in the page cache",
               dropped / case.process_seconds),
        impact=at_most(impact),
        confidence=0.6 if against else 0.85,
        for_=[*for_, *map(_cached, files[:2]), *_neighbours(case)],
        against=against,
    )  # fmt: skip


def _has_room(case: Case, files: list[CachedFiles]) -> bool:
    """Whether all data files would fit into memory, and nearly all of them were looked at."""
    available = case.mean("memory", "available_bytes")
    sizes = [one.data_bytes for one in files if one.data_bytes is not None]
    looked_at = sum(one.file_bytes for one in files)
    if available is None or len(sizes) < len(files) or looked_at < LOOKED_AT * sum(sizes):
        return False
    return available > sum(sizes) - sum(one.cached_bytes for one in files)


def _signs(case: Case, files: list[CachedFiles], read: float, dropped: float) -> Iterator[Sign]:
    yield Sign("process", "read_bytes_per_s > 0", dropped / read * 100, DROPPED_SHARE * 100,
               "{:.0f %} of what the database read from the disk did not stay",
               phrase("{:bytes} read in {:time}", read, case.process_seconds))  # fmt: skip
    evicted = [one.evicted_bytes for one in files if one.evicted_bytes is not None]
    yield Sign("statistic", "name = 'page_cache.recently_evicted_bytes'", sum(evicted) / 2**20 if evicted else None,
               dropped / 2**20 * DROPPED_SHARE, "{:.0f MiB} of the files dropped lately, for others' pages",
               "the kernel wanted the memory")  # fmt: skip
    drops = case.total("vmstat.drop_pagecache")
    yield Sign("statistic", "name = 'vmstat.drop_pagecache'", None if drops is None else drops * case.seconds, 0.5,
               "drop_caches was written {:.0f} times", "somebody drops the whole cache")  # fmt: skip
    yield Sign("memory", "pressure_some_pct is not null", case.mean("memory", "pressure_some_pct"), PRESSURE_PCT,
               "{:.1f %} of the time lost to memory", "memory is not short", "memory is short itself",
               below=True)  # fmt: skip


def _cached(files: CachedFiles) -> Evidence:
    where = f"name = 'page_cache.cached_bytes' and entity = '{files.folder}'"
    return Evidence("statistic", where,
                    phrase("{:share} of {:bytes} in {} is cached", files.cached_share, files.file_bytes, files.folder),
                    phrase("{:share} before", files.first_bytes / files.file_bytes), "of the largest")  # fmt: skip


def _neighbours(case: Case) -> list[Evidence]:
    """Who else reads from the disk, and may bring other pages, or give up these."""
    others = consumers(case.other_processes, pl.col("read_bytes").fill_null(0.0))
    seconds = case.process_seconds
    return [
        Evidence("process", f"command = '{other.command}'", phrase("{} reads {:bytes/s}", other.name,
                 other.amount / seconds), phrase("{:bytes/s}", NEIGHBOUR_BYTES_PER_S), "not a process of the database")
        for other in others[:2]
        if other.amount >= NEIGHBOUR_BYTES_PER_S * seconds
    ]  # fmt: skip


@cause()
def data_cached_twice(case: Case) -> Iterator[Claim]:
    """The same data is held twice, in the buffer pool and in the page cache, and neither is large enough.

    Looks like: a large buffer pool, a page cache that is full of the same files, and sessions that wait for reads.
    Hurts because: what is held twice takes the room of what is then read from the disk; each block that moves from one
        to the other is a system call and a copy.
    Speaks for it: both cached shares, of the files as they lie on the disk; reads that take time.
    Speaks against it: files that are open around the page cache. Nothing is said where nearly all is cached, or the
        pool is small: then the page cache does its work.
    Remedy: Let one of the two have the memory. A pool of most of the memory (with huge pages) leaves little to hold
        twice; a small one, a tenth, leaves the page cache to it.
        PostgreSQL: either a quarter of memory and less, or as much as leaves room for sessions and their sorts.
        Oracle: filesystemio_options = setall, then a larger db_cache_size.
        MySQL: innodb_flush_method = O_DIRECT, then a larger innodb_buffer_pool_size.
    Verify: Bytes read from the disk and system time fall at the same load.
    Source: G. Fawcett, "Demystifying high-end server behavior", 2005: the same load on a database cache took 28 instead
        of 63, with 5 % of system time instead of 28 %.
    """
    pool, total = _pool_bytes(case), case.mean("memory", "total_bytes")
    reads = case.time.kind_share(*READS)
    files = next((one for one in cached_files(case.dataset) if not is_direct(case.dataset, one.folder)), None)
    if pool is None or total is None or files is None or not case.worth_saying(reads):
        return
    if pool < POOL_SHARE * total or files.cached_bytes < TWICE * pool or files.cached_share > ALL_CACHED:
        return
    yield Claim(
        phrase("{:bytes} of data files are in the page cache beside a buffer pool of {:bytes}",
               files.cached_bytes, pool),
        impact=at_most(reads),
        confidence=0.6,
        for_=[
            _cached(files),
            Evidence("setting", "name in ('shared_buffers', 'innodb_buffer_pool_size')",
                     phrase("{:bytes}, {:share} of the files", pool, min(pool / files.file_bytes, 1.0)),
                     phrase("{:share} of memory", pool / total), "what it holds, the page cache may hold as well"),
            Evidence("statistic", "name = 'open_files.direct'", "no data file is open with O_DIRECT", "",
                     "each block goes through the page cache"),
        ],
    )  # fmt: skip


def _pool_bytes(case: Case) -> float | None:
    shared, innodb = case.setting_of_any("shared_buffers"), case.setting_of_any("innodb_buffer_pool_size")
    if shared is not None and shared.isdigit():
        return int(shared) * 8192.0
    return float(innodb) if innodb is not None and innodb.isdigit() else None
