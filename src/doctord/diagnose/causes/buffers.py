"""Buffers: reading again and again what memory could hold."""

from collections.abc import Iterator

from doctord.diagnose.case import WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

READS = ("DataFileRead", "DataFilePrefetch", "DataFileExtend")
BLOCK_BYTES = 8192
# Memory that stands ready beyond this share is worth giving to the buffer pool.
FREE_MEMORY = 0.25
# When the device delivers less than this share of what the server reads, the rest comes from the page cache.
FROM_DEVICE = 0.5


@cause(explains=("device_saturated",))
def buffer_pool_small(case: Case) -> Iterator[Claim]:
    """The buffer pool is too small for what is read, while memory is free.

    Looks like: sessions wait on `DataFileRead`; blocks read per second stay high; much memory is free or page cache.
    Hurts because: each read is a system call and a copy, from the page cache at best and from disk at worst.
    Speaks for it: share of database time in reads, blocks read per second, memory that is available.
    Speaks against it: no free memory; data so much larger than memory that no pool would hold it. A hit ratio speaks
        neither way: 99.9 % can hide hundreds of reads a second.
    Remedy: Raise shared_buffers towards the size of what is read (a quarter of memory to begin with; more where the
        page cache serves most reads, as the same pages are then held twice); use huge pages from a few GiB on.
    Verify: Blocks read per second and the share of `DataFileRead` fall at the same load.
    Source: G. Fawcett, "Demystifying high-end server behavior", 2005 (database cache against file-system cache);
        PostgreSQL documentation, shared_buffers.
    """
    share = case.time.share(None, *READS)
    blocks = case.total("pg_stat_database.blks_read")
    free = _free_memory(case)
    if not case.worth_saying(share) or blocks is None or free is None or free < FREE_MEMORY:
        return
    pool = case.setting_of_any("shared_buffers")
    yield Claim(
        phrase("{:share of database} reads blocks, with {:share} of memory available", share, free),
        impact=share,
        confidence=0.75,
        for_=[
            Evidence(
                "session",
                f"event in {READS}",
                phrase("{:share}", share),
                phrase("{:share}", WORTH_SAYING_SHARE),
                "waited for reads",
                "at_least",
            ),
            Evidence(
                "statistic",
                "name = 'pg_stat_database.blks_read'",
                phrase("{:,.0f blocks/s}, {:bytes/s}", blocks, blocks * BLOCK_BYTES),
                "",
                phrase("shared_buffers holds {:bytes}", int(pool) * BLOCK_BYTES)
                if pool
                else "shared_buffers is unknown",
            ),
            Evidence(
                "memory",
                "available_bytes",
                phrase("{:share}", free),
                phrase("{:share}", FREE_MEMORY),
                "memory to give",
                "at_least",
            ),
            *_double_buffering(case, blocks),
        ],
    )


def _free_memory(case: Case) -> float | None:
    available, total = case.mean("memory", "available_bytes"), case.mean("memory", "total_bytes")
    return None if available is None or not total else available / total


def _double_buffering(case: Case, blocks: float) -> list[Evidence]:
    read = case.chart.frame("disk")["read_bytes_per_s"].drop_nulls()
    if read.is_empty() or not case.seconds:
        return []
    per_s = sum(
        case_mean
        for (_,), rows in case.chart.frame("disk").partition_by("device", as_dict=True).items()
        if (case_mean := rows["read_bytes_per_s"].mean()) is not None and isinstance(case_mean, float)
    )
    if per_s > FROM_DEVICE * blocks * BLOCK_BYTES:
        return []
    return [
        Evidence(
            "disk",
            "read_bytes_per_s",
            phrase("the devices deliver {:bytes/s}", per_s),
            phrase("the server reads {:bytes/s}", blocks * BLOCK_BYTES),
            "the page cache serves the rest: the same pages are held twice and copied each time",
        )
    ]
