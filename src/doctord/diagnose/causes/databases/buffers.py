"""Buffers: reading again and again what memory could hold."""

from collections.abc import Iterator
from typing import NamedTuple

from doctord.analyse.sql.table_reads import table_reads
from doctord.analyse.storage.missed_pages import MISSED
from doctord.analyse.time import MISSED_PAGES
from doctord.diagnose.case import WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.holders import to_begin_with
from doctord.diagnose.common.waited import MOST_OF_TIME, mean_ms, reads_severity, share, waited
from doctord.diagnose.finding import Claim, Evidence, at_most
from doctord.diagnose.phrase import Words, phrase

READS = ("single read", "multi-block read")
# What Oracle reads into its cache: scans that go past it would not be saved.
CACHED_READS = ("db file sequential read", "cell single block physical read", "db file scattered read",
         "cell multiblock physical read", "db file parallel read", "read by other session")  # fmt: skip
BLOCK_BYTES = {"postgresql": 8192, "mysql": 16384}
# Memory that stands ready beyond this share is worth giving to the buffer pool.
FREE_MEMORY = 0.25
# When the device delivers less than this share of what the server reads, the rest comes from the page cache.
FROM_DEVICE = 0.5
# Twice the cache is what can be asked for; a fifth of the reads is what can be felt of it.
LARGER_CACHE = 2.0
SAVED_READS = 0.2
# A table with a tenth of the reads is one of few; one that is read whole within the hour is never cold.
WORTH_KEEPING = 0.1
# A block of 8 KiB is copied out of the page cache in some 5 us, call included; the quickest device takes longer.
COPIED_MS = 0.02
SOON_READ_AGAIN_S = 3600.0
# The default is 128 MB, and what initdb takes where the kernel gives no more is 400 kB: a number without its unit, or
# the file of a test machine.
TINY_BYTES, TINY_READS = 8 << 20, 500.0
DEFAULT = (
    "First: shared_buffers = 128MB, as it comes, at the least, with its unit, and a restart: a number alone is blocks."
)
ADVICE = "v$db_cache_advice"


class CacheAdvice(NamedTuple):
    """What a larger buffer cache would save: sizes as printed, reads at the present one, share (0 to 1) saved."""

    now: str
    larger: str
    reads: float
    saved: float


@cause(explains=("device_saturated",), waits=READS)
def buffer_pool_small(case: Case) -> Iterator[Claim]:
    """The buffer pool is too small for what is read.

    Looks like: much time in reads (PostgreSQL's `DataFileRead`, reads of InnoDB's data files), blocks read per second
        stay high, and much memory is free or page cache. Oracle says itself what a larger cache would save: its
        advisory expects far fewer reads.
    Hurts because: blocks are read again that were thrown out a moment ago; each read is a system call and a copy, from
        the page cache at best and from disk at worst.
    Speaks for it: share of database time in reads, blocks read per second, memory that is available, tables that are
        read again and again and would fit into it; in Oracle the reads that a cache of twice the size would save, by
        its own simulation.
    Speaks against it: reads of microseconds, copies out of the page cache, for less than half of the time: a note; no
        free memory; data so much larger than memory that no pool would hold it; an advisory that stays flat: then
        statements, not memory. A hit ratio speaks neither way: 99.9 % can hide hundreds of reads a second.
    Remedy: Give the buffer pool the memory that is free, towards the size of what is read; use huge pages from a few
        GiB on. Statements that read without need come first.
        PostgreSQL: raise shared_buffers (a quarter of memory to begin with; more where the page cache serves most
        reads, as the same pages are then held twice).
        Oracle: raise db_cache_size (or sga_target) to where the advisory's curve goes flat, if the host has the memory
        without paging.
        MySQL: raise innodb_buffer_pool_size (half of memory to begin with, up to three quarters where nothing else
        needs it).
    Verify: Blocks read per second and the share of these reads fall at the same load. Oracle: the advisory is flat at
        the new size.
    Source: G. Fawcett, "Demystifying high-end server behavior", 2005 (database cache against file-system cache; a keep
        pool took reads from 700 to 7 a second); PostgreSQL documentation, shared_buffers; Oracle Database Reference
        19c, V$DB_CACHE_ADVICE; MySQL Reference Manual, "Configuring InnoDB Buffer Pool Size".
    """
    if "oracle" in case.components:
        yield from _advised(case)
    tiny = [*_tiny(case)]
    yield from tiny
    if len(tiny) == len(case.dbs) > 0:
        return
    if case.components != {"oracle"}:
        yield from _beside_free_memory(case)


def _advised(case: Case) -> Iterator[Claim]:
    """By Oracle's own simulation of a larger cache."""
    part = share(case, *CACHED_READS)
    advice = [one for one in _cache_advice(case) if one.saved >= SAVED_READS]
    if not advice or not case.worth_saying(part):
        return
    best = max(advice, key=lambda one: one.reads)
    ms = mean_ms([case.waits[event] for event in CACHED_READS if event in case.waits])
    yield Claim(
        phrase("A larger buffer cache would save {:share} of the reads, by Oracle's own advice", best.saved),
        impact=part * best.saved,
        confidence=0.8,
        for_=[
            *waited(case, *CACHED_READS),
            Evidence("statistic", f"name = '{ADVICE}.estd_physical_reads' and entity = '{best.larger}'",
                     phrase("{:share} fewer reads with {} MB", best.saved, best.larger),
                     phrase("{:share} fewer", SAVED_READS),
                     phrase("it is {} MB now", best.now), "at_least"),
        ],
        severity=reads_severity(ms, part),
        first_steps=to_begin_with(case, "reads_share"),
    )  # fmt: skip


def _tiny(case: Case) -> Iterator[Claim]:
    """By a setting that nobody can have meant for a server that works."""
    for db in case.dbs:
        blocks, reads = case.setting("shared_buffers", db), case.common("physical reads", db)
        if not (blocks or "").isdigit() or reads is None:
            continue
        size = int(blocks or 0) * BLOCK_BYTES["postgresql"]
        if size >= TINY_BYTES or reads < TINY_READS:
            continue
        part = case.time.kind_share(*READS)
        yield Claim(
            phrase("shared_buffers is {:bytes}: {:,.0f blocks/s} are read anew", size, reads),
            impact=at_most(case.time.share("CPU") + part + case.time.share("Commit")),
            confidence=0.9,
            severity="warning",
            for_=[
                Evidence("setting", f"name = 'shared_buffers' and db = '{db}'", phrase("{:bytes}", size),
                         phrase("{:bytes}", TINY_BYTES), "what a single statement looks at does not fit", "at_most"),
                Evidence("statistic", case.rows_of("physical reads"),
                         phrase("{:,.0f blocks/s}, {:bytes/s}", reads, reads * BLOCK_BYTES["postgresql"]),
                         phrase("{:,.0f blocks/s}", TINY_READS),
                         "copied out of the page cache at best; a session that needs room writes a changed block "
                         "itself, and the log before it", "at_least"),
            ],
            first_steps=[DEFAULT],
            explains=("commits_slow", "statement_dominates", "device_saturated", "few_rows_of_many_blocks"),
            database=db,
        )  # fmt: skip


def _beside_free_memory(case: Case) -> Iterator[Claim]:
    """By reads that take time while memory is free."""
    part, blocks, free = case.time.kind_share(*READS), case.common("physical reads"), _free_memory(case)
    if not case.worth_with_locks(part, *READS) or blocks is None or free is None or free < FREE_MEMORY:
        return
    read_bytes = blocks * _block_bytes(case)
    yield Claim(
        phrase("{:share of database} reads blocks, with {:share} of memory available", part, free),
        impact=part,
        confidence=0.75,
        for_=[
            _time_in_reads(case, part),
            Evidence(
                "statistic",
                case.rows_of("physical reads"),
                phrase("{:,.0f blocks/s}, {:bytes/s}", blocks, read_bytes),
                "",
                _pool(case),
            ),
            Evidence(
                "memory",
                "available_bytes",
                phrase("{:share}", free),
                phrase("{:share}", FREE_MEMORY),
                "memory to give",
                "at_least",
            ),
            *_double_buffering(case, read_bytes),
            *_tables(case),
        ],
        severity="note" if _are_copies(case, part, blocks) else None,
        first_steps=to_begin_with(case, "reads_share"),
    )


def _time_in_reads(case: Case, part: float) -> Evidence:
    figure, threshold = phrase("{:share}", part), phrase("{:share}", WORTH_SAYING_SHARE)
    events = case.time.events_of(*READS)
    if events and events[0] == MISSED_PAGES.event:
        why = "pages that were missed, and the disks' mean time of a read: too short to be met by samples"
        return Evidence("statistic", f"name = '{MISSED}'", figure, threshold, why, "at_least")
    table = "wait" if case.active.is_empty() else "session"
    named = ", ".join(repr(event) for event in events)
    return Evidence(table, f"event in ({named})", figure, threshold, "waited for reads", "at_least")


def _are_copies(case: Case, part: float, blocks: float) -> bool:
    """Whether a read takes so little, and all of them less than half of the time, that nothing is ill."""
    return part < MOST_OF_TIME and part * case.time.seconds_per_second * 1000 < COPIED_MS * blocks


def _tables(case: Case) -> list[Evidence]:
    """The tables that would be worth keeping: most of the reads are theirs, again and again, and they would fit."""
    available = case.mean("memory", "available_bytes") or 0.0
    worthy = [
        table
        for table in table_reads(case.dataset)
        if table.share >= WORTH_KEEPING and table.read_whole_s <= SOON_READ_AGAIN_S and table.size_bytes <= available
    ]
    return [
        Evidence("statistic", f"name like 'pg_statio_user_tables.%' and entity = '{table.name}'",
                 phrase("{}: {:share} of what is read", table.name, table.share), phrase("{:share}", WORTH_KEEPING),
                 phrase("as much as all of its {:bytes} every {:time}: worth keeping (pg_prewarm brings it back)",
                        table.size_bytes, table.read_whole_s), "at_least")
        for table in worthy[:3]
    ]  # fmt: skip


def _block_bytes(case: Case) -> int:
    page = case.setting_of_any("innodb_page_size")
    if page and page.isdigit():
        return int(page)
    return BLOCK_BYTES["mysql" if case.components == {"mysql"} else "postgresql"]


def _pool(case: Case) -> Words:
    """What the pool holds: PostgreSQL's setting is in blocks, MySQL's in bytes."""
    shared, innodb = case.setting_of_any("shared_buffers"), case.setting_of_any("innodb_buffer_pool_size")
    if shared:
        return phrase("shared_buffers holds {:bytes}", int(shared) * BLOCK_BYTES["postgresql"])
    if innodb and innodb.isdigit():
        return phrase("innodb_buffer_pool_size is {:bytes}", int(innodb))
    return "the size of the buffer pool is unknown"


def _free_memory(case: Case) -> float | None:
    available, total = case.mean("memory", "available_bytes"), case.mean("memory", "total_bytes")
    return None if available is None or not total else available / total


def _double_buffering(case: Case, server_bytes: float) -> list[Evidence]:
    read = case.dataset.frame("disk")["read_bytes_per_s"].drop_nulls()
    if read.is_empty() or not case.seconds:
        return []
    per_s = sum(
        case_mean
        for (_,), rows in case.dataset.frame("disk").partition_by("device", as_dict=True).items()
        if (case_mean := rows["read_bytes_per_s"].mean()) is not None and isinstance(case_mean, float)
    )
    if per_s > FROM_DEVICE * server_bytes:
        return []
    return [
        Evidence(
            "disk",
            "read_bytes_per_s",
            phrase("the devices deliver {:bytes/s}", per_s),
            phrase("the server reads {:bytes/s}", server_bytes),
            "the page cache serves the rest: the same pages are held twice and copied each time",
        )
    ]


def _cache_advice(case: Case) -> list[CacheAdvice]:
    """What the largest size up to twice the present one would save, for each instance and pool that reads."""
    reads = {(f.db, f.instance, f.entity): f.mean for f in case.figures(f"{ADVICE}.estd_physical_reads")}
    pools: dict[tuple[str | None, ...], dict[str, float]] = {}
    for factor in case.figures(f"{ADVICE}.size_factor"):
        pool = (factor.entity or "").partition(" ")[0]
        pools.setdefault((factor.db, factor.instance, pool), {})[factor.entity or ""] = factor.mean
    found = []
    for (db, instance, _), sizes in pools.items():
        now = min(sizes, key=lambda size: abs(sizes[size] - 1))
        larger = max((size for size in sizes if 1 < sizes[size] <= LARGER_CACHE), key=sizes.__getitem__, default=now)
        before, after = reads.get((db, instance, now)), reads.get((db, instance, larger))
        if before and after is not None:
            found.append(CacheAdvice(now, larger, before, 1 - after / before))
    return found
