"""Settings of MariaDB and MySQL that share out the memory of the host."""

import re
from collections.abc import Iterator
from typing import Final

from doctord.diagnose.finding import Evidence, NotMeasured
from doctord.diagnose.phrase import Words, phrase
from doctord.lint.mysql.measured import STATEMENTS, evidence, figure, is_felt, latest, read_s, share
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

SHARED: Final = (
    "innodb_buffer_pool_size",
    "innodb_log_buffer_size",
    "key_buffer_size",
    "aria_pagecache_buffer_size",
    "query_cache_size",
)
# What one session may take for one statement, each buffer once; a join of many tables takes some several times.
OF_A_SESSION: Final = (
    "sort_buffer_size",
    "join_buffer_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "binlog_cache_size",
    "thread_stack",
)
_CACHED: Final = frozenset({"", "fsync", "fdatasync", "o_dsync", "null"})  # methods that go through the page cache
_PIECE_BYTES: Final = 128 << 20  # by so much the server changes the size of its buffer pool
_FULL: Final = 0.9


@rule("mysql")
def buffer_pool_exceeds_memory(subject: Subject) -> Iterator[Violation]:
    """The server's caches are larger than the memory of the host.

    Why: the caches fill over hours; then the kernel swaps, or ends the server.
    Evidence: the sum of the shared caches, and the host's memory.
    Fix: Make innodb_buffer_pool_size so small that caches, sessions and the rest of the host fit.
    Verify: the server's resident memory (RSS) stays below the host's; nothing is swapped.
    Source: MySQL Reference Manual, 10.12.3.1 How MySQL Uses Memory.
    """
    memory, caches = subject.machine.memory_bytes, _sum_of(subject, SHARED)
    pool = subject.number("innodb_buffer_pool_size")
    if memory is None or pool is None or caches <= memory:
        return
    yield subject.violation(
        phrase("innodb_buffer_pool_size = {:bytes}: the caches do not fit into memory", pool),
        *SHARED,
        cost=phrase("{:bytes} of caches in {:bytes}: the host swaps, then the kernel ends the server", caches, memory),
        severity=Severity.ERROR,
        evidence=[_of_memory(memory, phrase("{:bytes} of caches", caches))],
        changes=[subject.change("innodb_buffer_pool_size", _rounded(memory / 2))],
    )


@rule("mysql")
def sessions_exceed_memory(subject: Subject) -> Iterator[Violation]:
    """All sessions together may ask for more memory than there is.

    Why: buffers for sorts, joins and reads are taken by each session anew, whole. They are small enough on an ordinary
        day; on the day when all connections are busy the kernel ends the server.
    Evidence: caches + max_connections x (sort, join, read, random read, binary log cache, stack), each buffer once,
        against the host's memory; the most connections that were in use.
    Fix: Lower the largest of these buffers globally, and set it in the few sessions that need it; or lower
        max_connections.
    Verify: the sum is below the host's memory; Max_used_connections stays below max_connections.
    Source: MySQL Reference Manual, 10.12.3.1 How MySQL Uses Memory.
    """
    memory, caches = subject.machine.memory_bytes, _sum_of(subject, SHARED)
    connections, each = subject.number("max_connections"), _sum_of(subject, OF_A_SESSION)
    if memory is None or connections is None or caches > memory or caches + connections * each <= memory:
        return
    largest = max(OF_A_SESSION, key=lambda name: subject.number(name) or 0)
    most = latest(subject, "max_used_connections")
    allowed = phrase("{:.0f} allowed", connections)
    used = [evidence("max_used_connections", phrase("{:.0f}", most), allowed, "so many there were")] if most else []
    yield subject.violation(
        phrase("max_connections = {:.0f} sessions of {:bytes} each do not fit into memory", connections, each),
        "max_connections",
        largest,
        "innodb_buffer_pool_size",
        cost=phrase(
            "{:bytes} of caches + {:.0f} x {:bytes} = {:bytes} of {:bytes}: the server can be ended "
            "for want of memory; {} is the largest part",
            caches,
            connections,
            each,
            caches + connections * each,
            memory,
            largest,
        ),
        severity=Severity.WARNING,
        evidence=[_of_memory(memory, phrase("{:bytes}", caches + connections * each)), *used],
    )


@rule("mysql")
def buffer_pool_small(subject: Subject) -> Iterator[Violation]:
    """Sessions wait for pages that a larger buffer pool would hold.

    Why: a page that is not in the buffer pool is read from disk while the statement waits. How many of all pages that
        are (the hit ratio) says nothing: the time of the reads does.
    Evidence: Innodb_buffer_pool_reads a second (but for those read ahead) x the time of a read, as a share of the
        statements' time; memory that is available.
    Fix: Double innodb_buffer_pool_size, as long as that memory is available; it may be changed while the server runs.
    Verify: Innodb_buffer_pool_reads a second and the time of the same statements fall.
    Source: MySQL Reference Manual, 17.8.3.1 Configuring InnoDB Buffer Pool Size; Cary Millsap: Optimizing Oracle
        Performance, 2003, on hit ratios.
    """
    pool, memory = subject.number("innodb_buffer_pool_size"), subject.machine.memory_bytes
    if pool is None or (memory is not None and pool > memory):
        return
    reads, each_s = _reads_waited_for(subject), read_s(subject)
    if reads is None or (reads and each_s is None):
        yield from _pool_unjudged(subject, pool, memory, reads)
        return
    spent = reads * (each_s or 0.0)
    room = subject.machine.memory("available_bytes")
    if not is_felt(subject, spent) or (room is not None and room < _PIECE_BYTES):
        return
    why = "statements wait for these"
    yield subject.violation(
        phrase("innodb_buffer_pool_size = {:bytes}: sessions wait for reads", pool),
        "innodb_buffer_pool_size",
        cost=phrase("{:rate reads} x {:time} = {:.2f} sessions wait all the time", reads, each_s or 0.0, spent),
        impact=share(subject, spent),
        evidence=[evidence("innodb_buffer_pool_reads", phrase("{:rate}", reads), "as few as the data allow", why)],
        changes=[subject.change("innodb_buffer_pool_size", _rounded(min(2 * pool, pool + room / 2)))] if room else [],
    )


@rule("mysql")
def pages_cached_twice(subject: Subject) -> Iterator[Violation]:
    """The same pages are in the buffer pool and in the kernel's page cache.

    Why: without O_DIRECT each page that InnoDB reads is copied through the page cache and stays there: memory that
        holds nothing new, and that the kernel frees under pressure by swapping others.
    Evidence: innodb_flush_method; the page cache beside the buffer pool.
    Fix: Set innodb_flush_method = O_DIRECT, and give the memory to the buffer pool.
    Verify: the page cache (Cached in /proc/meminfo) shrinks after a restart; the time of reads does not grow.
    Source: MySQL Reference Manual, 17.14, innodb_flush_method; MariaDB documentation, InnoDB System Variables.
    """
    method = subject.text("innodb_flush_method")
    pool, cached = subject.number("innodb_buffer_pool_size"), subject.machine.memory("page_cache_bytes")
    memory = subject.machine.memory_bytes
    if method is None or method.lower() not in _CACHED or pool is None or cached is None or memory is None:
        return
    if pool + cached < _FULL * memory or cached < pool / 4:
        return
    yield subject.violation(
        f"innodb_flush_method = {method or 'fsync'}: pages are in memory twice",
        "innodb_flush_method",
        "innodb_buffer_pool_size",
        cost=phrase("up to {:bytes} of {:bytes} hold copies of what the buffer pool has", min(pool, cached), memory),
        severity=Severity.WARNING,
        evidence=[
            Evidence(
                "memory", "", phrase("page cache {:bytes}", cached), phrase("pool {:bytes}", pool), "memory is full"
            )
        ],
        changes=[subject.change("innodb_flush_method", "O_DIRECT")],
    )


@rule("mysql")
def large_pages_missing(subject: Subject) -> Iterator[Violation]:
    """Huge pages were asked for, and there are not enough: all of the buffer pool is in small pages.

    Why: the server asks for the whole buffer pool in huge pages; where the pool of them is too small it warns in its
        log and takes small pages, while the huge pages lie idle.
    Evidence: large_pages, innodb_buffer_pool_size, and HugePages_Total of the host.
    Fix: Set vm.nr_hugepages to the number that is needed (and vm.hugetlb_shm_group to the server's group), or
        large_pages = OFF.
    Verify: HugePages_Free falls when the server starts; no warning in its log.
    Source: MySQL Reference Manual, 10.12.3.3 Enabling Large Page Support; kernel documentation, hugetlbpage.
    """
    pool, size = subject.number("innodb_buffer_pool_size"), subject.machine.memory("huge_page_bytes")
    held = subject.machine.memory("huge_pages_total")
    if subject.flag("large_pages") is not True or pool is None or held is None or not size or held * size >= pool:
        return
    needed = -(-pool // size)
    yield subject.violation(
        phrase("large_pages = ON: {:.0f} huge pages of {:bytes} do not hold the buffer pool", held, size),
        "large_pages",
        "innodb_buffer_pool_size",
        cost=phrase("{:.0f} are needed: {:bytes} are in small pages, and {:bytes} lie idle", needed, pool, held * size),
        severity=Severity.WARNING,
        evidence=[
            Evidence(
                "memory",
                "",
                phrase("huge_pages_total = {:.0f}", held),
                phrase("{:.0f}", needed),
                "the pool is asked for whole",
            )
        ],
    )


@rule("mysql")
def buffer_pool_on_one_node(subject: Subject) -> Iterator[Violation]:
    """The buffer pool is larger than the memory of a NUMA node, and not spread over them.

    Why: the thread that fills the buffer pool fills its own node first, and swaps there while other nodes have free
        memory; threads on the others reach all pages remotely.
    Evidence: NUMA nodes as lscpu or the kernel counts them, memory, innodb_numa_interleave.
    Fix: Set innodb_numa_interleave = ON.
    Verify: numastat -p of the server shows about the same on each node.
    Source: MySQL Reference Manual, 17.14, innodb_numa_interleave; J. Cole: The MySQL "swap insanity" problem and the
        effects of the NUMA architecture, 2010.
    """
    nodes = _numa_nodes(subject)
    pool, memory = subject.number("innodb_buffer_pool_size"), subject.machine.memory_bytes
    if (
        nodes is None
        or nodes < 2
        or subject.flag("innodb_numa_interleave") is not False
        or pool is None
        or memory is None
    ):
        return
    if pool > memory / nodes:
        yield subject.violation(
            f"innodb_numa_interleave = OFF: the buffer pool is larger than one of {nodes} NUMA nodes",
            "innodb_numa_interleave",
            "innodb_buffer_pool_size",
            cost=phrase("{:bytes} in nodes of {:bytes}: one node swaps while others have room", pool, memory / nodes),
            severity=Severity.WARNING,
            changes=[subject.change("innodb_numa_interleave", "ON", "restart")],
        )


def _numa_nodes(subject: Subject) -> int | None:
    """How many NUMA nodes there are: as lscpu counts them, or as the kernel lists them (`0-1,3`)."""
    told, listed = (subject.case.setting(name) for name in ("lscpu.NUMA node(s)", "cpu.numa_nodes"))
    if told and told.isdigit():
        return int(told)
    if not listed or not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", listed):
        return None
    ranges = [part.partition("-") for part in listed.split(",")]
    return sum(int(last or first) - int(first) + 1 for first, _, last in ranges)


def _reads_waited_for(subject: Subject) -> float | None:
    """Pages a second that statements waited for: MariaDB counts those that were read ahead among the reads."""
    reads, pages = figure(subject, "innodb_buffer_pool_reads"), figure(subject, "innodb_pages_read")
    ahead = figure(subject, "innodb_buffer_pool_read_ahead")
    if reads is None or pages is None or ahead is None:
        return reads
    return max(min(reads, pages - ahead), 0.0)


def _pool_unjudged(subject: Subject, pool: float, memory: float | None, reads: float | None) -> Iterator[Violation]:
    """Where reads or their time are not known, only a pool that leaves most of the memory to nobody is worth a word."""
    if memory is None or pool > memory / 10:
        return
    of_a_read = NotMeasured("the time of a read", "no disk was timed", "doctord lint on the host")
    yield subject.violation(
        phrase("innodb_buffer_pool_size = {:bytes}: {:share} of this host's memory", pool, pool / memory),
        "innodb_buffer_pool_size",
        cost=f"{CANNOT_JUDGE}: collect SHOW GLOBAL STATUS twice under load, and the disks' times",
        severity=Severity.NOTE,
        not_measured=[STATEMENTS if reads is None else of_a_read],
    )


def _sum_of(subject: Subject, names: tuple[str, ...]) -> float:
    """What these settings sum up to; those that are not known count nothing."""
    return sum(subject.number(name) or 0.0 for name in names)


def _of_memory(memory: float, figure: Words) -> Evidence:
    return Evidence("memory", "total_bytes", figure, phrase("{:bytes} in all", memory), "it does not fit")


def _rounded(count: float) -> str:
    """Bytes in whole pieces of 128 MiB, as the server takes them."""
    return f"{max(int(count // _PIECE_BYTES), 1) * 128}M"
