"""How the kernel deals out memory: swap, dirty pages, huge pages, nodes."""

from collections.abc import Iterator

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.kernel.databases import databases, memory_of, shared_bytes
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation
from doctord.units import GIB, in_bytes, in_share

MUCH_DIRTY_BYTES = 16 << 30
MUCH_OF_MEMORY = 0.02
KEPT_FREE = 0.05
SWAPS_PER_S = 1.0


@rule("kernel")
def swappiness_high(subject: Subject) -> Iterator[Violation]:
    """The kernel swaps out memory of the database to keep file pages.

    Why: what a session touches next is on disk; a page of the buffer cache that was swapped out costs two reads.
    Evidence: vm.swappiness, pages swapped out.
    Fix: Set vm.swappiness to 1 (0 lets the OOM killer come first on kernels since 3.5).
    Verify: Pages swapped out at the same load (vmstat so).
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012; Linux,
        Documentation/admin-guide/sysctl/vm.rst.
    """
    found, swap = subject.number("vm.swappiness"), subject.machine.memory("swap_total_bytes")
    if found is None or found <= 10 or not swap:
        return
    out = subject.case.mean("memory", "swap_out_per_s")
    if out is not None and out < SWAPS_PER_S:
        return
    seen = (
        Evidence(
            "memory",
            "swap_out_per_s",
            phrase("{:.0f} pages a second swapped out", out),
            phrase("{:.0f}", SWAPS_PER_S),
            "",
        )
        if out
        else None
    )
    yield subject.violation(
        f"vm.swappiness = {found:.0f} with {in_bytes(swap)} of swap",
        "vm.swappiness",
        cost=f"{out:.0f} pages a second go to swap" if out else f"{CANNOT_JUDGE}: pages swapped out (vmstat so)",
        severity=Severity.WARNING if out else None,
        evidence=[seen] if seen else [],
        changes=[subject.change("vm.swappiness", "1", "now")],
    )


@rule("kernel")
def overcommit_without_limit(subject: Subject) -> Iterator[Violation]:
    """The kernel promises any amount of memory (vm.overcommit_memory = 1).

    Why: no allocation fails; when the memory is really used the OOM killer ends a process, mostly the database.
    Evidence: the setting.
    Fix: Set vm.overcommit_memory = 2 with an overcommit_ratio that covers the databases, or 0.
    Verify: Committed_AS against CommitLimit in /proc/meminfo.
    Source: PostgreSQL documentation, 19.4.4 Linux Memory Overcommit.
    """
    if subject.number("vm.overcommit_memory") == 1:
        yield subject.violation(
            "vm.overcommit_memory = 1: memory is promised without limit",
            "vm.overcommit_memory",
            cost="availability: the OOM killer chooses who ends when memory runs out",
            severity=Severity.WARNING,
            changes=[subject.change("vm.overcommit_memory", "2", "now")],
        )


@rule("kernel")
def commit_limit_below_databases(subject: Subject) -> Iterator[Violation]:
    """With strict overcommit the kernel may promise less than the databases take at their start.

    Why: with vm.overcommit_memory = 2 allocations fail beyond swap + ratio x (memory - huge pages).
    Evidence: that sum against shared_buffers, SGAs and buffer pools.
    Fix: Raise vm.overcommit_ratio, or set vm.overcommit_kbytes.
    Verify: CommitLimit in /proc/meminfo.
    Source: Linux, Documentation/mm/overcommit-accounting.rst.
    """
    machine, ratio = subject.machine, subject.number("vm.overcommit_ratio")
    memory, swap = machine.memory_bytes, machine.memory("swap_total_bytes")
    needed = sum(memory_of(server) or 0.0 for server in databases(subject))
    if subject.number("vm.overcommit_memory") != 2 or ratio is None or memory is None or swap is None or not needed:
        return
    huge = (machine.memory("huge_pages_total") or 0.0) * (machine.memory("huge_page_bytes") or 0.0)
    kept = (subject.number("vm.overcommit_kbytes") or 0.0) * 1024
    limit = swap + (kept or ratio / 100 * (memory - huge))
    if huge < needed and needed > limit:
        yield subject.violation(
            f"the commit limit is {in_bytes(limit)}, and the databases take {in_bytes(needed)}",
            "vm.overcommit_memory",
            "vm.overcommit_ratio",
            cost=f"{in_bytes(needed - limit)} cannot be had: the servers do not start, or fail with out of memory",
            severity=Severity.ERROR,
        )


@rule("kernel")
def huge_pages_idle(subject: Subject) -> Iterator[Violation]:
    """Huge pages are set aside that nobody takes.

    Why: the memory can serve nothing else.
    Evidence: free huge pages that nobody has reserved, times their size.
    Fix: Lower vm.nr_hugepages, or find out why the database did not take them (too few for all of its shared memory,
        memlock, huge_pages, use_large_pages).
    Verify: HugePages_Free less HugePages_Rsvd in /proc/meminfo while the databases run.
    Source: Linux, Documentation/admin-guide/mm/hugetlbpage.rst.
    """
    machine = subject.machine
    free, size, memory = machine.memory("huge_pages_free"), machine.memory("huge_page_bytes"), machine.memory_bytes
    if free is None or size is None or memory is None:
        return
    idle = (free - (machine.memory("huge_pages_rsvd") or 0.0)) * size
    if idle >= MUCH_OF_MEMORY * memory:
        yield subject.violation(
            f"{in_bytes(idle)} of huge pages are unused",
            "vm.nr_hugepages",
            cost=f"{in_bytes(idle)} of {in_bytes(memory)} ({in_share(idle / memory)}) serve nobody",
            severity=Severity.WARNING,
        )


@rule("kernel")
def page_tables_large(subject: Subject) -> Iterator[Violation]:
    """Page tables take a good part of the memory.

    Why: many sessions map much shared memory in pages of 4 KiB, each with tables of its own.
    Evidence: PageTables in /proc/meminfo.
    Fix: Huge pages for all of the shared memory; fewer sessions (a pool).
    Verify: PageTables at the same number of sessions.
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012 (0.5 GB up to several GB).
    """
    tables, memory = subject.machine.memory("page_tables_bytes"), subject.machine.memory_bytes
    if tables and memory and tables >= MUCH_OF_MEMORY * memory:
        where = "/proc/meminfo, PageTables"
        yield subject.violation(
            f"page tables take {in_bytes(tables)}",
            "vm.nr_hugepages",
            cost=f"{in_bytes(tables)} of {in_bytes(memory)} ({in_share(tables / memory)}), and time to walk them",
            severity=Severity.WARNING,
            evidence=[
                Evidence(
                    "memory", "page_tables_bytes", phrase("{:bytes}", tables), phrase("{:share}", MUCH_OF_MEMORY), where
                )
            ],
        )


@rule("kernel")
def transparent_huge_pages_always(subject: Subject) -> Iterator[Violation]:
    """Transparent huge pages are made for everybody, at the cost of whoever asks for memory.

    Why: an allocation may wait for memory to be compacted; Oracle asks to turn them off. Shared memory
        does not get them.
    Evidence: transparent_hugepage.enabled and defrag.
    Fix: madvise, or never beside Oracle; real huge pages for shared memory.
    Verify: compact_stall and thp_fault_alloc in /proc/vmstat; system CPU time.
    Source: Oracle Database Installation Guide for Linux, Disabling Transparent HugePages; Linux, transhuge.rst.
    """
    enabled, defrag = subject.text("transparent_hugepage.enabled"), subject.text("transparent_hugepage.defrag")
    if enabled == "always" and databases(subject) and (defrag == "always" or _has(subject, "oracle")):
        yield subject.violation(
            f"transparent huge pages: always, defrag {defrag or 'unknown'}",
            "transparent_hugepage.enabled",
            "transparent_hugepage.defrag",
            cost=f"{CANNOT_JUDGE}: compact_stall in /proc/vmstat, twice",
        )


@rule("kernel")
def dirty_limit_large(subject: Subject) -> Iterator[Violation]:
    """So many dirty pages may gather that one flush takes long.

    Why: an fsync or a checkpoint waits for all of the file's pages; a percentage of a large memory is many
        gigabytes.
    Evidence: vm.dirty_background_ratio and vm.dirty_ratio times the memory.
    Fix: Set vm.dirty_background_bytes to what the disk writes in a second or two, vm.dirty_bytes to a few times that.
    Verify: Dirty and Writeback in /proc/meminfo; sync time of checkpoints; write latency at checkpoints.
    Source: Linux, Documentation/admin-guide/sysctl/vm.rst; G. Smith, PostgreSQL 9.0 High Performance, 2010.
    """
    memory, ratio = subject.machine.memory_bytes, subject.number("vm.dirty_background_ratio")
    if not memory or not ratio or subject.number("vm.dirty_background_bytes") or not databases(subject):
        return
    dirty = ratio / 100 * memory
    if dirty >= MUCH_DIRTY_BYTES:
        yield subject.violation(
            f"vm.dirty_background_ratio = {ratio:.0f}: {in_bytes(dirty)} may be dirty before anything is written",
            "vm.dirty_background_ratio",
            "vm.dirty_ratio",
            cost=f"{dirty / GIB:.0f} s of writing at 1 GiB/s, which a checkpoint's fsync has to wait for",
            severity=Severity.WARNING,
            changes=[subject.change("vm.dirty_background_bytes", str(256 << 20), "now")],
        )


@rule("kernel")
def dirty_limits_contradict(subject: Subject) -> Iterator[Violation]:
    """A limit for dirty pages is written as bytes and as a ratio: the later one wins, the other becomes 0.

    Why: whoever changes the first one changes nothing.
    Evidence: both lines.
    Fix: Keep one of the two.
    Verify: sysctl vm.dirty_bytes vm.dirty_ratio: one of them is 0.
    Source: Linux, Documentation/admin-guide/sysctl/vm.rst.
    """
    written = {one.name: one for one in subject.rows if not one.is_running and one.value.strip() != "0"}
    for kind in ("dirty", "dirty_background"):
        held = [written[name] for name in (f"vm.{kind}_bytes", f"vm.{kind}_ratio") if name in written]
        if len(held) == 2:
            yield subject.violation(
                f"{held[0].name} and {held[1].name}: the later one counts",
                settings=held,
                cost="one of the two is not in force, though it is written",
                severity=Severity.WARNING,
            )


@rule("kernel")
def zone_reclaim_on(subject: Subject) -> Iterator[Violation]:
    """A node frees its own file pages before it takes memory of another node.

    Why: the page cache holds what fits into one node, and reads go to disk while memory is free elsewhere.
    Evidence: vm.zone_reclaim_mode, and more than one node.
    Fix: Set vm.zone_reclaim_mode = 0.
    Verify: Page cache and reads at the same load; zone_reclaim_failed in /proc/vmstat.
    Source: Linux, Documentation/admin-guide/sysctl/vm.rst (not for file servers and databases).
    """
    nodes = numa_nodes(subject)
    if subject.number("vm.zone_reclaim_mode") and nodes and nodes > 1 and databases(subject):
        part = f"{in_bytes(subject.machine.memory_bytes / nodes)} of " if subject.machine.memory_bytes else ""
        yield subject.violation(
            f"vm.zone_reclaim_mode = {subject.text('vm.zone_reclaim_mode')} on {nodes} nodes",
            "vm.zone_reclaim_mode",
            cost=f"the page cache is kept to {part}one node's memory while others are free",
            severity=Severity.WARNING,
            changes=[subject.change("vm.zone_reclaim_mode", "0", "now")],
        )


@rule("kernel")
def numa_balancing_on(subject: Subject) -> Iterator[Violation]:
    """The kernel moves pages between nodes after the processes that touch them.

    Why: shared memory is touched from everywhere: its pages are unmapped and faulted in again for nothing.
    Evidence: kernel.numa_balancing, more than one node, shared memory of databases.
    Fix: Set kernel.numa_balancing = 0, and interleave the buffer cache (numactl, innodb_numa_interleave).
    Verify: numa_hint_faults and numa_pages_migrated in /proc/vmstat; system CPU time.
    Source: Linux, Documentation/admin-guide/sysctl/kernel.rst, numa_balancing.
    """
    nodes = numa_nodes(subject)
    if subject.number("kernel.numa_balancing") and nodes and nodes > 1 and any(map(memory_of, databases(subject))):
        yield subject.violation(
            f"kernel.numa_balancing on {nodes} nodes",
            "kernel.numa_balancing",
            cost=f"{CANNOT_JUDGE}: numa_hint_faults in /proc/vmstat, twice",
            changes=[subject.change("kernel.numa_balancing", "0", "now")],
        )


@rule("kernel")
def much_memory_kept_free(subject: Subject) -> Iterator[Violation]:
    """The kernel keeps so much memory free that it is missing elsewhere.

    Why: vm.min_free_kbytes is never given to anybody but the kernel in need.
    Evidence: the setting against the memory.
    Fix: A few hundred MiB, at most a twentieth of the memory.
    Verify: MemFree at load; no allocation stalls in /proc/vmstat.
    Source: Linux, Documentation/admin-guide/sysctl/vm.rst, min_free_kbytes.
    """
    kept, memory = subject.number("vm.min_free_kbytes"), subject.machine.memory_bytes
    if kept and memory and kept * 1024 >= KEPT_FREE * memory:
        yield subject.violation(
            f"vm.min_free_kbytes = {kept:.0f}: {in_bytes(kept * 1024)} are kept free",
            "vm.min_free_kbytes",
            cost=f"{in_bytes(kept * 1024)} of {in_bytes(memory)} ({in_share(kept * 1024 / memory)}) serve nobody",
            severity=Severity.WARNING,
        )


@rule("kernel")
def cache_pressure_zero(subject: Subject) -> Iterator[Violation]:
    """Names of files are never thrown out of memory.

    Why: they grow until the OOM killer comes.
    Evidence: vm.vfs_cache_pressure.
    Fix: Set vm.vfs_cache_pressure = 50 or more.
    Verify: SReclaimable in /proc/meminfo stops growing.
    Source: Linux, Documentation/admin-guide/sysctl/vm.rst, vfs_cache_pressure.
    """
    if subject.number("vm.vfs_cache_pressure") == 0:
        yield subject.violation(
            "vm.vfs_cache_pressure = 0",
            "vm.vfs_cache_pressure",
            cost="availability: inodes and dentries fill the memory, and the OOM killer ends the database",
            severity=Severity.WARNING,
            changes=[subject.change("vm.vfs_cache_pressure", "100", "now")],
        )


@rule("kernel")
def shared_memory_limit_small(subject: Subject) -> Iterator[Violation]:
    """The kernel allows less shared memory than an SGA takes.

    Why: ORA-27102 (out of memory) at the start with shmall; with shmmax an SGA in several segments.
    Evidence: kernel.shmmax in bytes and kernel.shmall in pages against the SGA.
    Fix: shmall x 4096 above all SGAs together, shmmax above the largest.
    Verify: ipcs -l; the instance starts with one segment (ipcs -m).
    Source: Oracle Database Installation Guide for Linux, Minimum Parameter Settings.
    """
    for server in databases(subject):
        shared = shared_bytes(server) if server.component == "oracle" else None
        for name, size in (("kernel.shmmax", 1), ("kernel.shmall", 4096)):
            limit = subject.number(name)
            if shared and limit and limit * size < shared:
                refused = name == "kernel.shmall"
                yield subject.violation(
                    f"{name} = {limit:.0f} ({in_bytes(limit * size)}) for an SGA of {in_bytes(shared)}",
                    name,
                    cost=f"{server.name} does not start (ORA-27102)"
                    if refused
                    else "the SGA is cut into several segments",
                    severity=Severity.ERROR if refused else Severity.WARNING,
                    changes=[subject.change(name, str(int(shared // size) + 1), "now")],
                )


def numa_nodes(subject: Subject) -> int | None:
    """How many nodes of memory there are; null where it is not known."""
    told = subject.text("lscpu.NUMA node(s)")
    if told and told.isdigit():
        return int(told)
    online = subject.text("cpu.numa_nodes")
    return None if online is None else int(online.rpartition("-")[2].rpartition(",")[2]) + 1


def _has(subject: Subject, component: str) -> bool:
    return any(server.component == component for server in databases(subject))
