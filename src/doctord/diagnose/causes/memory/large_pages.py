"""Large pages: reserved and not used, and what it costs the kernel to find memory in one piece for them."""

from collections.abc import Iterator

from doctord.analyse.host.mappings import SHARED, Pool, mappings, pools
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.memory.host import memory_wait_share
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence, at_most
from doctord.diagnose.phrase import phrase

# A pool is made for one server: what is left of it beside a server that took it is a remainder.
IDLE_PART = 0.5
# Less than a hundredth of the memory is nothing to be had back.
IDLE_SHARE = 0.01
# Shared memory of a server without a buffer pool to speak of, and that of its smallest default.
SHARED_BYTES = 64 * 2**20
# Whoever compacts memory moves pages for 1 to 50 ms: one a second can cost a session a twentieth of its time.
STALLS_PER_S = 1.0
# What is lost to memory on a host with room is 0.0; a twentieth is felt.
LOST_PCT = 5.0
LOW_AVAILABLE_PCT = 10.0
# Of free memory that was never in small pieces nearly all lies in the largest blocks.
IN_LARGE_BLOCKS = 0.1
FREE_SHARE = 0.05
# Of the large pages that were asked for; below it a request now and then met a bad moment.
FALLBACKS = 0.1
# Whoever compacts does so on a CPU: where the kernel takes as much of it as the programs, it is the kernel's work.
MOST_OF_CPU = 0.5
CPU_SYMPTOMS = ("cpu_few_statements", "statement_dominates", "cpu_saturated", "cpu_full", "cpu_other_processes")
SETTINGS = ("huge_pages", "huge_pages_status", "large_pages", "use_large_pages")


@cause(explains=("huge_pages_unused",))
def huge_pages_not_used(case: Case) -> Iterator[Claim]:
    """Memory is reserved for huge pages, and nobody uses it.

    Looks like: HugePages_Total is set, HugePages_Free stays near it after the server was started.
    Hurts because: reserved memory is lost for everything else, the page cache too; and the server that it was meant for
        runs on small pages all the same: many page tables, many misses of the processor's translation buffers.
    Speaks for it: pages that are free and promised to nobody; a server whose shared memory lies in pages of 4 KiB, its
        setting (huge_pages = try falls back without a word), a pool that is smaller than what it asks for.
    Speaks against it: pages that are promised (HugePages_Rsvd): they are taken when they are touched first. A server
        that has its shared memory in huge pages: then the pool is only too large.
    Remedy: A server that was started before the pages were reserved, or found too few, takes none: make the pool as
        large as all of its shared memory, and restart it. Where no server is to use them, give them back
        (vm.nr_hugepages = 0).
        PostgreSQL: `postgres -C shared_memory_size_in_huge_pages` computes the number; huge_pages = on refuses to start
        without them.
        Oracle: use_large_pages = only; no memory_target.
        MySQL: large_pages, CAP_IPC_LOCK or vm.hugetlb_shm_group, and memlock for its user.
    Verify: HugePages_Free less HugePages_Rsvd is near 0 after the start, and smaps of the server has KernelPageSize:
        2048 kB for its shared memory.
    Source: Kernel documentation, "HugeTLB Pages"; PostgreSQL documentation, "Linux Huge Pages" and huge_pages.
    """
    total = case.mean("memory", "total_bytes")
    for pool in pools(case.dataset):
        size = pool.total * pool.page_bytes
        if total is None or pool.idle_bytes < max(IDLE_PART * size, IDLE_SHARE * total):
            continue
        for_, against = _shared_memory(case)
        yield Claim(
            phrase("{:bytes} are reserved for huge pages, and nobody uses {:bytes} of it", size, pool.idle_bytes),
            impact=NOT_MEASURED,
            confidence=0.6 if against else 0.9 if for_ else 0.75,
            for_=[_idle(pool, total), *for_],
            against=[*([_promised(pool)] if pool.rsvd else []), *against],
        )


def _idle(pool: Pool, total: float) -> Evidence:
    return Evidence(
        "memory", "huge_pages_free is not null",
        phrase("{:.0f} of {:.0f} pages of {:bytes} are free", pool.free, pool.total, pool.page_bytes),
        phrase("{:.0f}", IDLE_PART * pool.total), phrase("{:share} of memory, for nothing", pool.idle_bytes / total),
        "at_least",
    )  # fmt: skip


def _promised(pool: Pool) -> Evidence:
    return Evidence("memory", "huge_pages_rsvd > 0", phrase("{:.0f} pages are promised", pool.rsvd), "",
                    "they are taken when they are first touched")  # fmt: skip


def _shared_memory(case: Case) -> tuple[list[Evidence], list[Evidence]]:
    """Servers whose shared memory is in small pages, with what they were told; and those that have it in huge ones."""
    for_, against = [], []
    for mapping in mappings(case.dataset, SHARED):
        if mapping.size_bytes < SHARED_BYTES:
            continue
        where = f"name = 'smaps.huge_bytes' and entity = '{mapping.pid} {SHARED}'"
        figure = phrase("{:bytes} in huge pages of {:bytes} shared memory (pid {})", mapping.huge_bytes,
                        mapping.size_bytes, mapping.pid)  # fmt: skip
        if mapping.huge_bytes < mapping.size_bytes / 2:
            for_.append(Evidence("statistic", where, figure, "", "this server runs on small pages"))
        else:
            against.append(Evidence("statistic", where, figure, "", "this server has its huge pages"))
    return for_[:2] + (_settings(case) if for_ else []), against[:2]


def _settings(case: Case) -> list[Evidence]:
    why = {"try": "falls back to small pages without a word", "off": "it was told not to use them", "0": "likewise"}
    told = [(name, db, value) for db in case.dbs for name in SETTINGS if (value := case.setting(name, db)) is not None]
    return [
        Evidence("setting", f"name = '{name}' and db = '{db}'", phrase("{} = {}", name, value), "",
                 why.get(value.lower(), "as it was told"))
        for name, db, value in told
    ]  # fmt: skip


@cause()
def compaction_stalls(case: Case) -> Iterator[Claim]:
    """Tasks stop to move pages about, because memory in one piece is wanted and there is none.

    Looks like: time lost to memory although much is available; direct compactions (compact_stall) every second.
    Hurts because: who asks for a large page moves other pages out of the way first, for milliseconds each time, in the
        middle of a statement; when that fails it gets small pages after all.
    Speaks for it: stalls per second while tasks wait for memory, how many fail, free memory that lies in small pieces,
        transparent huge pages that are always asked for. It is work on a CPU: where the kernel takes most of the CPU
        time, statements that hold CPUs do so for this reason.
    Speaks against it: little memory available: then it is short, and in pieces for that reason.
    Remedy: Let nobody wait for a huge page: transparent_hugepage/defrag = defer+madvise or never, enabled = madvise;
        databases take explicit huge pages, reserved at boot. Raise vm.min_free_kbytes, so that the kernel compacts
        before somebody waits (vm.compaction_proactiveness from 5.9 on).
    Verify: compact_stall of /proc/vmstat stands still and the memory pressure is 0 at the same load.
    Source: Kernel documentation, "Transparent Hugepage Support" and sysctl/vm: compaction_proactiveness; PostgreSQL and
        Oracle advise against transparent huge pages for this reason.
    """
    stalls, failed = case.total("vmstat.compact_stall"), case.total("vmstat.compact_fail")
    lost_pct = _lost_pct(case)
    if stalls is None or stalls < STALLS_PER_S or lost_pct is None or lost_pct < LOST_PCT:
        return
    available, total, kernel = case.mean("memory", "available_bytes"), case.mean("memory", "total_bytes"), _kernel(case)
    available_pct = None if available is None or not total else 100 * available / total
    for_, against = weigh(
        [
            Sign("statistic", "name = 'vmstat.compact_stall'", stalls, STALLS_PER_S, "{:.1f compactions/s} waited for",
                 "each takes milliseconds" if failed is None else phrase("{:.1f per s} of them in vain", failed)),
            Sign("memory", "pressure_some_pct is not null", lost_pct, LOST_PCT, "{:.1f %} of the time lost to memory",
                 "somebody waits for it"),
            Sign("memory", "available_bytes is not null", available_pct, LOW_AVAILABLE_PCT,
                 "{:.0f %} of memory available", "there is memory, but not in one piece", "memory is short"),
            Sign("cpu", "cpu is null", kernel, MOST_OF_CPU, "{:share} of the CPU time is the kernel's",
                 "it moves pages about on a CPU"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("Tasks stop {:.1f times a second} to make large pages", stalls),
        impact=at_most(lost_pct / 100),
        confidence=0.6 if against else 0.85,
        for_=[*for_, *_pieces(case), *_always(case)],
        against=against,
        explains=CPU_SYMPTOMS if kernel is not None and kernel >= MOST_OF_CPU else (),
    )


def _kernel(case: Case) -> float | None:
    """The kernel's share of the CPU time; null where one of both was not measured."""
    programs, kernel = case.mean("cpu", "usr_pct"), case.mean("cpu", "sys_pct")
    if programs is None or kernel is None or not programs + kernel:
        return None
    return kernel / (programs + kernel)


def _lost_pct(case: Case) -> float | None:
    """Share of the time that tasks lost to memory, %: the kernel's own account, else that of the sessions."""
    pressure, waited = case.mean("memory", "pressure_some_pct"), memory_wait_share(case)
    return waited * 100 if pressure is None and waited is not None else pressure


def _pieces(case: Case) -> list[Evidence]:
    free, large = case.total("buddyinfo.free_bytes"), case.total("buddyinfo.free_huge_bytes")
    if not free or large is None:
        return []
    return [
        Evidence("statistic", "name = 'buddyinfo.free_huge_bytes'",
                 phrase("{:share} of {:bytes} free memory lies in large blocks", large / free, free),
                 phrase("{:share}", IN_LARGE_BLOCKS), "a huge page fits into these only", "at_most")
    ]  # fmt: skip


def _always(case: Case) -> list[Evidence]:
    names = ("transparent_hugepage.enabled", "transparent_hugepage.defrag")
    told = [(name, value) for name in names if (value := case.setting(name)) is not None]
    return [
        Evidence("setting", f"name = '{name}'", phrase("{} = {}", name, value), "",
                 "everybody asks for them, and waits" if value == "always" else "who asks for them, waits")
        for name, value in told
        if value in ("always", "defer+madvise", "madvise")
    ]  # fmt: skip


@cause()
def memory_fragmented(case: Case) -> Iterator[Claim]:
    """Free memory lies in small pieces: who asks for large pages gets small ones.

    Looks like: much memory is free, hardly any of it in blocks of 2 MiB and more; huge pages that are asked for fail.
    Hurts because: a server that is started now gets no huge pages, or fewer than it asks for, and falls back to small
        ones; large pages of processes are made of small ones in their place.
    Speaks for it: the share of free memory in large blocks, large pages asked for and not given.
    Speaks against it: nobody asked for any; little is free at all: what is left is always in pieces.
    Remedy: Reserve huge pages at boot (hugepages= on the kernel's command line), not later. Before a restart of the
        server compact by hand (`echo 1 > /proc/sys/vm/compact_memory`, at a quiet time), and drop what fills memory in
        small pieces: slab (slabtop).
    Verify: /proc/buddyinfo shows blocks in its last columns; vm.nr_hugepages reads as it was set.
    Source: Kernel documentation, /proc/buddyinfo and "HugeTLB Pages" (pages are likely to be had at boot only).
    """
    free, large = case.total("buddyinfo.free_bytes"), case.total("buddyinfo.free_huge_bytes")
    total, fallbacks = case.mean("memory", "total_bytes"), case.total("vmstat.thp_fault_fallback")
    given = case.total("vmstat.thp_fault_alloc")
    if free is None or large is None or not total or not fallbacks:
        return
    refused = fallbacks / (fallbacks + (given or 0.0))
    if free < FREE_SHARE * total or large > IN_LARGE_BLOCKS * free or refused < FALLBACKS:
        return
    unreclaimable = case.total("meminfo.SUnreclaim")
    for_, against = weigh(
        [
            Sign("statistic", "name = 'vmstat.thp_fault_fallback'", refused * 100, FALLBACKS * 100,
                 "{:.0f %} of the large pages asked for were not given", phrase("{:.1f per s}", fallbacks)),
            Sign("statistic", "name = 'vmstat.compact_stall'", case.total("vmstat.compact_stall"), STALLS_PER_S,
                 "{:.1f compactions/s} waited for", "tasks wait for it", "nobody waits for it"),
        ]
    )  # fmt: skip
    slab = phrase("{:bytes} of slab cannot be moved", unreclaimable)
    yield Claim(
        phrase("Free memory is in pieces: {:share} of {:bytes} lies in large blocks", large / free, free),
        impact=NONE_YET,
        confidence=0.75,
        for_=[
            *_pieces(case),
            *for_,
            *([Evidence("statistic", "name = 'meminfo.SUnreclaim'", slab, "", "the kernel's own small pieces")]
              if unreclaimable else []),
        ],
        against=against,
    )  # fmt: skip
