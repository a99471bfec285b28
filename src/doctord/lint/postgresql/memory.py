"""Settings of PostgreSQL that say how much memory it takes."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import listed, phrase
from doctord.diagnose.words import ordinal
from doctord.lint.postgresql.figures import (
    BLOCK_BYTES,
    READS,
    as_setting,
    connections,
    counted,
    hash_multiplier,
    in_waits,
    is_felt,
    is_strict,
    largest,
    memory_limit_bytes,
    total,
    waited,
)
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

# One sequential scan passes through so much (src/backend/storage/buffer/README): less for each connection, and
# a single scan takes the pages of others.
RING_BYTES: Final = 256 << 10
FREE_MEMORY: Final = 0.25
SPILLS: Final = ("BufFileRead", "BufFileWrite", "BufFileTruncate")
SPILL_BYTES_PER_S: Final = 1 << 20
QUERIES_PER_CPU: Final = 2
DEAD_IDS_MOST: Final = 1 << 30  # of one vacuum before version 17


@rule("postgresql")
def shared_buffers_above_memory(subject: Subject) -> Iterator[Violation]:
    """shared_buffers is more than the machine has.

    Why: the server does not start, or the machine swaps or ends processes as soon as the buffers fill.
    Evidence: shared_buffers against memory and swap.
    Fix: A quarter of memory to begin with.
    Verify: The server starts; no swapping under load.
    Source: PostgreSQL documentation, Memory, shared_buffers.
    """
    pool, memory = subject.number("shared_buffers"), subject.machine.memory_bytes
    setting = subject.get("shared_buffers")
    in_pages = setting is not None and not setting.is_running and setting.value.isdigit()  # unit_mistaken names it
    if pool and memory and pool > memory and not in_pages:
        yield subject.violation(
            phrase("shared_buffers = {:bytes}, more than the memory of this machine", pool),
            "shared_buffers",
            cost=phrase("{:bytes} asked of {:bytes}: it cannot start, or swaps as the buffers fill", pool, memory),
            severity=Severity.ERROR,
            changes=[subject.change("shared_buffers", as_setting(memory / 4), "restart")],
        )


@rule("postgresql")
def shared_buffers_tiny(subject: Subject) -> Iterator[Violation]:
    """The buffer pool does not hold what is read, while memory is free.

    Why: each page that is not in the pool costs a system call and a copy, from the page cache at best.
    Evidence: time waited for reads with memory available; else what is left for each connection, against the 256 kB
        that one sequential scan passes through. A hit ratio says nothing.
    Fix: A quarter of memory to begin with; more where the page cache serves the reads, as it then holds them twice.
    Verify: Blocks read a second, and the share of DataFileRead, at the same load.
    Source: PostgreSQL documentation, Memory, shared_buffers; src/backend/storage/buffer/README, ring buffers.
    """
    pool, clients = subject.number("shared_buffers"), subject.number("max_connections")
    if pool is None:
        return
    memory, share = subject.machine.memory_bytes, waited(subject, *READS)
    read, available = total(subject, "pg_stat_database.blks_read"), subject.machine.memory("available_bytes")
    to_give = bool(memory and available and available / memory >= FREE_MEMORY and available > pool)
    starved = clients is not None and pool < clients * RING_BYTES
    missed = to_give and bool(read) and share is not None and is_felt(subject, share)
    if not starved and not missed:
        return
    each = phrase("{:bytes} / {:.0f} connections = {:bytes} each", pool, clients, pool / clients) if clients else ""
    costs = [phrase("{}; one sequential scan passes through {:bytes}", each, RING_BYTES)] if starved else []
    evidence = []
    if missed and share is not None and read and available:
        costs.append(phrase("{:bytes/s} read, {:share of database} waits for it", read * BLOCK_BYTES, share))
        evidence = [
            in_waits(share, *READS),
            Evidence("memory", "available_bytes", phrase("{:bytes}", available), "", "is available to give it"),
        ]
    yield subject.violation(
        phrase("shared_buffers = {:bytes} is too small for what is read", pool),
        "shared_buffers",
        "max_connections",
        cost=listed(*costs, by="; "),
        impact=share if read else None,
        severity=max(Severity.WARNING if starved else Severity.NOTE, Severity.of(share)),
        evidence=evidence,
        changes=[subject.change("shared_buffers", as_setting(memory / 4), "restart")] if memory else [],
    )


@rule("postgresql")
def work_mem_overcommitted(subject: Subject) -> Iterator[Violation]:
    """All connections together may take more memory than there is.

    Why: nothing limits the sum of work_mem: the kernel ends a backend, and the server restarts under all clients; with
        vm.overcommit_memory = 2 statements fail for want of memory.
    Evidence: connections x work_mem x hash_mem_multiplier (one sort or hash each) against memory less shared_buffers;
        and how many connections were seen.
    Fix: Lower work_mem for all, and raise it for the role that needs it; or fewer connections with a pool before them.
    Verify: The arithmetic again; no "out of memory" in the log.
    Source: PostgreSQL documentation, Memory, work_mem and hash_mem_multiplier; Linux Memory Overcommit.
    """
    limit, clients = memory_limit_bytes(subject), connections(subject)
    work_mem, pool = subject.number("work_mem"), subject.number("shared_buffers")
    if limit is None or clients is None or work_mem is None or pool is None:
        return
    times, left = hash_multiplier(subject), limit - pool
    each = work_mem * times
    if left <= 0 or clients * each <= left:
        return
    seen, handful = largest(subject, "pg_stat_activity.connections"), QUERIES_PER_CPU * (subject.machine.cpus or 1)
    fits_seen = seen is not None and seen * each <= left
    then = "statements fail" if is_strict(subject) else "the kernel ends a backend and the server restarts"
    yield subject.violation(
        phrase("work_mem = {:bytes} for {:.0f} connections is more than there is", work_mem, clients),
        "work_mem",
        "max_connections",
        "shared_buffers",
        cost=phrase(
            "{:.0f} x {:bytes} x {:g} = {:bytes}, of {:bytes} - {:bytes} = {:bytes}: {} from the {} "
            "query on that takes it",
            clients,
            work_mem,
            times,
            clients * each,
            limit,
            pool,
            left,
            then,
            ordinal(int(left / each) + 1),
        ),
        severity=Severity.ERROR if handful * each > left else Severity.NOTE if fits_seen else Severity.WARNING,
        evidence=[]
        if seen is None
        else [counted("pg_stat_activity.connections", phrase("{:.0f} at the most", seen), "", "were open at once")],
        changes=[subject.change("work_mem", as_setting(left / clients / times), "reload")],
    )


@rule("postgresql")
def work_mem_small(subject: Subject) -> Iterator[Violation]:
    """Sorts and hashes go to disk for want of work_mem.

    Why: what would be one pass in memory becomes several over temporary files.
    Evidence: temporary bytes a second, and the time waited for these files.
    Fix: Raise work_mem for the role or statement that sorts (ALTER ROLE ... SET), within what memory allows.
    Verify: pg_stat_database.temp_bytes stands still; EXPLAIN (ANALYZE) says quicksort.
    Source: PostgreSQL documentation, Memory, work_mem; pg_stat_database.
    """
    written, work_mem = total(subject, "pg_stat_database.temp_bytes"), subject.number("work_mem")
    if work_mem is None or written is None or written < SPILL_BYTES_PER_S or not subject.is_measured:
        return
    spilling = sum(one.share for one in subject.case.statements if (one.temp_bytes_per_s or 0.0) > 0)
    share = max(waited(subject, *SPILLS) or 0.0, min(spilling, 1.0))
    limit, clients, pool = memory_limit_bytes(subject), connections(subject), subject.number("shared_buffers")
    room = (limit - pool) / clients / hash_multiplier(subject) if limit and clients and pool is not None else None
    yield subject.violation(
        phrase("work_mem = {:bytes}: sorts and hashes write {:bytes/s} of temporary files", work_mem, written),
        "work_mem",
        cost=phrase("{:share of database} is that of statements that spill, or waits for their files", share),
        impact=share,
        evidence=[
            counted(
                "pg_stat_database.temp_bytes", phrase("{:bytes/s}", written), phrase("{:bytes/s}", SPILL_BYTES_PER_S)
            ),
            *(
                [Evidence("setting", "work_mem", phrase("{:bytes}", room), "", "would fit for all connections")]
                if room
                else []
            ),
        ],
    )


@rule("postgresql")
def maintenance_work_mem_overcommitted(subject: Subject) -> Iterator[Violation]:
    """Autovacuum's workers together may take more memory than there is.

    Why: each worker takes autovacuum_work_mem, else maintenance_work_mem, and nobody planned for all at once.
    Evidence: workers x memory of each (before version 17 a vacuum takes 1 GB at the most) against memory less
        shared_buffers.
    Fix: Set autovacuum_work_mem, and leave maintenance_work_mem to those who build indexes.
    Verify: The arithmetic again.
    Source: PostgreSQL documentation, Memory, maintenance_work_mem and autovacuum_work_mem.
    """
    limit, workers = memory_limit_bytes(subject), subject.number("autovacuum_max_workers")
    own, general = subject.number("autovacuum_work_mem"), subject.number("maintenance_work_mem")
    each = own if own is not None and own >= 0 else general
    pool = subject.number("shared_buffers")
    if limit is None or workers is None or each is None or pool is None:
        return
    takes = each if subject.version is None or subject.version >= (17,) else min(each, DEAD_IDS_MOST)
    if workers * takes > limit - pool > 0:
        yield subject.violation(
            phrase("autovacuum's {:.0f} workers may take {:bytes}", workers, workers * takes),
            "maintenance_work_mem",
            "autovacuum_work_mem",
            "autovacuum_max_workers",
            cost=phrase(
                "{:.0f} x {:bytes} = {:bytes}, of {:bytes} that shared_buffers leaves",
                workers,
                takes,
                workers * takes,
                limit - pool,
            ),
            severity=Severity.WARNING,
            changes=[subject.change("autovacuum_work_mem", as_setting((limit - pool) / 8 / workers), "reload")],
        )
