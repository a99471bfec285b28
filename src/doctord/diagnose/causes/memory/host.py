"""Memory: too little of it, a limit on it, or too many small pages to describe it."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.host import translation
from doctord.analyse.host.cgroups import MemoryGroup, in_group, memory_groups
from doctord.analyse.host.other_processes import consumers
from doctord.analyse.spells import longest
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.memory.swapped import grown, swapped
from doctord.diagnose.evidence import Sign, past, weigh
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, listed, phrase

# The kernel's background reclaim starts well above this; what is left cannot absorb one more large sort.
LOW_AVAILABLE_PCT = 10.0
# 1 MB/s of 4 KiB pages coming back: memory that is in use, not leftovers of a start-up being put away.
SWAP_IN_PER_S = 256.0
# Time lost by any task: a healthy host with room shows 0.0.
# Where nobody's wait was measured, half a minute on end of such reads is told, as it is of devices.
LASTING_S = 30.0
PRESSURE_PCT = 5.0
MAJOR_FAULTS_PER_S = 50.0
# A group is at its limit when the next charges must push something out.
AT_LIMIT = 0.9
FAILURES_PER_S = 5.0
# Within a group the time is lost in the few sessions that read, so that the whole host's pressure stays small.
GROUP_PRESSURE_PCT = 0.2
REFAULTS_PER_S = 50.0
# Of the limit: what a neighbour in the group has to hold to be worth moving out.
NEIGHBOUR_SHARE = 0.1
# It sleeps while there is room; half of a CPU is a search that does not end.
RECLAIMING_PCT = 50.0
RECLAIMS = r"^\[?kswapd\d"
PAGE_TABLES_SHARE = 0.01
PAGE_TABLES_BYTES = 2**30
LARGE_SHARED_BYTES = 2**30
SMALL_PAGE_BYTES = 4096
# From here on address translation is worth a change of page size.
TRANSLATION_SHARE = 0.2
UNKNOWN_TRANSLATION = NotMeasured(
    "how much time address translation takes",
    "no counters of the processor were read; a virtual machine seldom has them",
    "perf stat -e cycles,dTLB-load-misses,dtlb_load_misses.walk_active -p PID, where the processor counts them",
)
READS = ("DataFileRead", "DataFilePrefetch", "BufFileRead", "BuffileRead")


@cause(explains=("device_saturated", "queue_depth_low", "io_by_others", "tasks_blocked"))
def memory_short(case: Case) -> Iterator[Claim]:
    """The host has too little memory for what runs on it.

    Looks like: little memory is available or pages come back from swap, and tasks wait for memory.
    Hurts because: a session that needs a page waits until another page is written or dropped; what was dropped is read
        again soon.
    Speaks for it: memory pressure (time lost waiting for memory), pages swapped in, major faults, kswapd at work all
        the time, little available; how much of the database's own memory is in swap, and whose memory grew meanwhile.
    Speaks against it: available memory; swap that is filled but still, as it holds what nobody needs. Little free
        memory says nothing: the page cache takes what is free.
    Remedy: Find the largest processes; fewer sessions at once, or move others away; keep the database's memory within
        what there is; then add memory.
        PostgreSQL: lower work_mem and maintenance_work_mem, then shared_buffers.
        Oracle: lower pga_aggregate_target (and pga_aggregate_limit), then sga_target.
        MySQL: lower the buffers of each session (sort, join, read, tmp_table_size), then innodb_buffer_pool_size.
    Verify: Memory pressure and pages swapped in fall to zero at the same load.
    Source: Kernel documentation, "PSI - Pressure Stall Information" and "Delay accounting"; J. Doelle and S. Langer,
        2012: overcommitted memory was the first cause of slow consolidated databases.
    """
    signs = _shortage(case)
    pains = _pains(case)
    if not any(sign.speaks_for for sign in signs) or not any(sign.speaks_for for sign in pains):
        yield from _short_for_a_while(case)
        return
    lost = _time_lost(case)
    is_felt = lost is not None and (case.time.of != "database" or case.worth_saying(lost))
    for_, against = weigh([*signs, *pains, *past(case, "memory pressure")])
    yield Claim(
        phrase("Memory is short: {}", _available(case)),
        impact=NOT_MEASURED if lost is None else lost if is_felt else NONE_YET,
        severity="warning" if lost is not None and not is_felt and not against else None,
        confidence=0.6 if against else 0.85,
        for_=[*for_, *swapped(case.dataset), *_largest(case), *grown(case.dataset)],
        against=against,
    )


@cause(
    explains=(
        "memory_short",
        "page_cache_evicted",
        "device_saturated",
        "device_slow",
        "buffer_pool_small",
        "reads_slow",
        "commits_slow",
        "log_writer_starved",
    )
)
def cgroup_memory_limit(case: Case) -> Iterator[Claim]:
    """The control group's memory limit squeezes the database.

    Looks like: the group is at its limit and keeps failing to get memory, the host has plenty, and sessions wait for
        reads that memory would have saved.
    Hurts because: page cache counts against the group: at the limit each page read pushes out another, which is read
        again soon; what cannot be pushed out ends in the out-of-memory killer.
    Speaks for it: failures to charge memory, pages read again (refaults), memory pressure, major faults and the
        sessions' time in reads, all while the host has memory available; who else holds memory of the group.
    Speaks against it: no failures, refaults or pressure: every group fills its limit with page cache in time and is
        well.
    Remedy: Give a neighbour that holds memory of the group a group of its own. Raise the group's limit (memory.max;
        memory.limit_in_bytes in version 1; the limit in the container's definition), or make the database smaller: its
        buffer pool, the memory of each session, the sessions.
    Verify: Failures per second and the share of reads fall at the same load.
    Source: Kernel documentation, "Control Group v2", memory.max and memory.events; "Memory Resource Controller".
    """
    for group in memory_groups(case.dataset):
        if round(group.kills or 0.0) and not group.is_above:
            yield _killed(group)
        elif (finding := _squeezed(case, group)) is not None:
            yield finding


@cause()
def huge_pages_unused(case: Case) -> Iterator[Claim]:
    """Shared memory is mapped in small pages, and describing them takes much memory.

    Looks like: PageTables in /proc/meminfo is large, shared memory is large, no huge pages are reserved or used.
    Hurts because: each session has its own page tables for the whole shared memory (8 bytes for 4 KiB), and the
        processor's translation buffer covers ever less of it.
    Speaks for it: size of the page tables; sessions times mapped memory / 4 KiB x 8 bytes; time in translation, where
        it was measured.
    Speaks against it: measured translation time under 20 %.
    Remedy: Reserve huge pages for the whole shared memory (vm.nr_hugepages), have the server refuse to start without
        them, and restart. A pool that is too small for all of it is not used at all.
        PostgreSQL: `postgres -C shared_memory_size_in_huge_pages` computes the number; huge_pages = on.
        Oracle: use_large_pages = only; no memory_target.
        MySQL: large_pages, and memlock for its user.
    Verify: HugePages_Free falls when the server starts, page tables shrink to a few MiB.
    Source: J. Doelle and S. Langer, 2012 (0.5 GB up to several GB of page tables); K. Manoharan, 2008 (20 % of time in
        translation); PostgreSQL documentation, "Linux Huge Pages".
    """
    tables, shared = (
        case.mean("memory", "page_tables_bytes"),
        case.mean("memory", "shmem_bytes"),
    )
    total, pool = case.mean("memory", "total_bytes"), case.mean("memory", "huge_pages_total")
    if tables is None or shared is None or total is None or pool is None or shared < LARGE_SHARED_BYTES:
        return
    used = pool - (case.mean("memory", "huge_pages_free") or 0.0)
    if used > 0 or tables < min(PAGE_TABLES_BYTES, PAGE_TABLES_SHARE * total):
        return
    by_cpu, by_process = translation.share(case.dataset), translation.walk_share(case.dataset)
    translating = by_process if by_cpu is None else by_cpu
    told = (
        ("translation", "page_bytes is not null")
        if by_process is None
        else ("statistic", f"name = '{translation.WALKS}'")
    )
    lost = None if translating is None else translating * case.time.share("CPU")
    full = translation.page_table_bytes(1, shared)
    for_, against = weigh(
        [
            Sign(*told, None if translating is None else translating * 100,
                 TRANSLATION_SHARE * 100, "{:.0f %} of CPU time in address translation", "larger pages pay",
                 "the processor copes"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("Page tables take {:bytes} because no huge pages are used", tables),
        impact=NOT_MEASURED if lost is None else case.felt(lost),
        confidence=0.9,
        for_=[
            Evidence("memory", "page_tables_bytes is not null", phrase("{:share} of memory", tables / total),
                     phrase("{:share} of memory or {:bytes}", PAGE_TABLES_SHARE, PAGE_TABLES_BYTES),
                     "memory lost", "at_least"),
            Evidence("memory", "shmem_bytes is not null", phrase("{:bytes} of shared memory in pages of 4 KiB", shared),
                     phrase("{:bytes} of page tables for each session that touches all of it", full),
                     phrase("enough for {:.0f} such sessions; 2 MiB pages need {:bytes}", tables / full, full / 512)),
            Evidence("memory", "huge_pages_total is not null", phrase("{:.0f} huge pages, {:.0f} in use", pool, used),
                     phrase("{:.0f} of 2 MiB would hold the shared memory", shared / 2**21), "the pool is not used"),
            *for_,
        ],
        against=against,
        not_measured=() if translating is not None else (UNKNOWN_TRANSLATION,),
    )  # fmt: skip


def _host(case: Case, column: str, threshold: float, words: str, why: str, *, why_not: str = "") -> Sign:
    return Sign("memory", f"{column} is not null", case.mean("memory", column), threshold, words, why, why_not)


def _shortage(case: Case) -> list[Sign]:
    """Whether memory is short at all: pressure alone may be one group's own limit."""
    return [
        Sign("memory", "available_bytes is not null", _available_pct(case), LOW_AVAILABLE_PCT,
             "{:.1f %} of memory available", "nothing is left to give", "there is memory to give", below=True),
        _host(case, "swap_in_per_s", SWAP_IN_PER_S, "{:.0f} pages swapped in per s", "what was swapped out is needed"),
    ]  # fmt: skip


def _pains(case: Case) -> list[Sign]:
    """Whether anybody waits because of it."""
    waited = memory_wait_share(case)
    return [
        _host(case, "pressure_some_pct", PRESSURE_PCT,
              "pressure: some task waited for memory {:.1f} % of the time", "time lost",
              why_not="nobody waits for memory"),
        Sign("process", "memory_wait_pct > 0", None if waited is None else waited * 100, PRESSURE_PCT,
             "{:.1f %} of the sessions' time waiting for memory", "the database itself waits"),
        _host(case, "swap_in_per_s", SWAP_IN_PER_S, "{:.0f} pages swapped in per s", ""),
        _host(case, "major_faults_per_s", MAJOR_FAULTS_PER_S, "{:.0f} major faults per s", "each waits for a read"),
        Sign("process", "command like '%kswapd%'", _reclaiming_pct(case), RECLAIMING_PCT,
             "kswapd takes {:.0f %} of a CPU", "the kernel looks for pages that it may drop, and finds hardly any"),
    ]  # fmt: skip


def _reclaiming_pct(case: Case) -> float | None:
    """How much of a CPU the busiest of the kernel's threads takes that reclaim memory, one for each node."""
    columns = ("pid", "usr_pct", "sys_pct", "cpu_pct")
    threads = case.dataset.rows("process", pl.col("command").str.contains(RECLAIMS), *columns)
    used = threads.select("pid", used=pl.coalesce(pl.col("usr_pct") + pl.col("sys_pct"), "cpu_pct")).drop_nulls("used")
    most = used.group_by("pid", maintain_order=True).agg(pl.col("used").mean())["used"].max()
    return most if isinstance(most, float) else None


def _short_for_a_while(case: Case) -> Iterator[Claim]:
    """Pages that came back from swap for a part of the time, where nobody's wait was measured."""
    if case.is_time_measured:
        return
    memory = case.dataset.frame("memory")
    faults = pl.col("major_faults_per_s")
    thrashes = (pl.col("swap_in_per_s") >= SWAP_IN_PER_S) & (faults.is_null() | (faults >= MAJOR_FAULTS_PER_S))
    lasted = longest(memory.filter(pl.col("interval_s") > 0), thrashes)["longest_s"].item()
    if lasted is None or lasted < LASTING_S:
        return
    then = memory.filter(thrashes)
    most, worst_faults = then.select(pl.col("swap_in_per_s").max(), pl.col("major_faults_per_s").max()).row(0)
    for_, against = weigh(
        [
            Sign("memory", "swap_in_per_s is not null", most, SWAP_IN_PER_S, "{:.0f} pages swapped in per s at worst",
                 phrase("for {:.0f s} on end", lasted)),
            Sign("memory", "major_faults_per_s is not null", worst_faults, MAJOR_FAULTS_PER_S,
                 "{:.0f} major faults per s at worst", "each waits for a read"),
            *_shortage(case)[:1],
        ]
    )  # fmt: skip
    yield Claim(
        phrase("Memory was short for {:.0f s} on end: {:.0f pages swapped in per s} at worst", lasted, most),
        impact=NOT_MEASURED,
        confidence=0.6,
        for_=[*for_, *swapped(case.dataset), *_largest(case), *grown(case.dataset)],
        against=against,
    )


def _time_lost(case: Case) -> float | None:
    """Share of the time lost to memory: what the sessions' processes waited, or what nobody at all could use.

    While pressure is `full` no task gets on: at least that share of anyone's time is lost.
    """
    full = case.mean("memory", "pressure_full_pct")
    measured = [value for value in (memory_wait_share(case), None if full is None else full / 100) if value is not None]
    return max(measured, default=None)


def memory_wait_share(case: Case) -> float | None:
    """Time that the sessions' processes waited for memory as a share of database time; null when not accounted."""
    total = case.database_time_s()
    pids = case.active["pid"].unique(maintain_order=True).implode()
    waited = case.processes.filter(pl.col("pid").is_in(pids))["memory_wait_s"].drop_nulls()
    return min(float(waited.sum()) / total, 1.0) if waited.len() and total else None


def _available_pct(case: Case) -> float | None:
    available, total = case.mean("memory", "available_bytes"), case.mean("memory", "total_bytes")
    return None if available is None or not total else 100 * available / total


def _available(case: Case) -> Phrase:
    available = case.mean("memory", "available_bytes")
    swapped = case.mean("memory", "swap_in_per_s") or 0.0
    known = "" if available is None else phrase("{:bytes} available", available)
    return listed(known, phrase("{:.0f pages swapped in per s}", swapped) if swapped else "")


def _largest(case: Case) -> list[Evidence]:
    top = case.processes.filter(pl.col("rss_bytes") > 0).sort("rss_bytes", descending=True, maintain_order=True).head(1)
    return [
        Evidence("process", f"pid = {row['pid']}",
                 phrase("{} (pid {}): {:bytes} resident", row["command"], str(row["pid"]), row["rss_bytes"]), "",
                 "the largest process, shared pages included")
        for row in top.iter_rows(named=True)
    ]  # fmt: skip


def _killed(group: MemoryGroup) -> Claim:
    kills = round(group.kills or 0.0)
    limit = "unknown" if group.limit_bytes is None else phrase("{:bytes}", group.limit_bytes)
    return Claim(
        phrase("Out of memory in control group {}: {:count process/processes} killed", group.path, kills),
        impact=NOT_MEASURED,
        confidence=0.95,
        for_=[
            Evidence("statistic", f"name = 'memory.oom_kills_per_s' and entity = '{group.path}'",
                     phrase("{} killed", kills), "none",
                     phrase("the limit is {}; a killed backend makes all sessions restart", limit)),
        ],
    )  # fmt: skip


def _squeezed(case: Case, group: MemoryGroup) -> Claim | None:
    limit, usage, failures = group.limit_bytes, group.usage_bytes, group.failures_per_s
    if not limit or usage is None or failures is None or usage < AT_LIMIT * limit or failures < FAILURES_PER_S:
        return None
    reads = case.time.share(None, *READS)
    share = max(reads * _read_again(case, group), memory_wait_share(case) or 0.0, case.time.share("Memory"))
    signs = _group_pains(case, group)
    if not case.worth_saying(share) or not any(sign.speaks_for for sign in signs):
        return None
    for_, against = weigh(
        [
            Sign("statistic", f"name = 'memory.failures_per_s' and entity = '{group.path}'", failures, FAILURES_PER_S,
                 "{:.0f failures to get memory per s}", phrase("{:bytes} used of a limit of {:bytes}", usage, limit)),
            Sign("session", f"event in {READS}", reads * 100, 5.0, "{:.0f %} of the time in reads",
                 "reads that memory would have saved"),
            *signs,
            Sign("memory", "available_bytes is not null", _available_pct(case), LOW_AVAILABLE_PCT,
                 "{:.0f %} of the host's memory available", "the host has what the limit denies",
                 "the host is short as well"),
        ]
    )  # fmt: skip
    return Claim(
        phrase("Control group {} squeezes the database into {:bytes} of memory", group.path, limit),
        impact=share,
        confidence=0.8 if group.refaults_per_s is None else 0.95,
        for_=[*for_, *_neighbours(case, group, limit)],
        against=against,
    )


def _neighbours(case: Case, group: MemoryGroup, limit: float) -> list[Evidence]:
    """Who is in the group, is not the database's, and holds a good part of what it may have."""
    inside = case.other_processes.filter(in_group(group.path))
    return [
        Evidence("process", f"command = '{other.command}'", phrase("{} holds {:bytes}", other.name, other.amount),
                 phrase("{:share} of the limit", NEIGHBOUR_SHARE), "in the group, and not a process of the database",
                 "at_least")
        for other in consumers(inside, pl.col("rss_bytes").fill_null(0))[:2]
        if other.amount >= NEIGHBOUR_SHARE * limit
    ]  # fmt: skip


def _read_again(case: Case, group: MemoryGroup) -> float:
    """Of what the database reads, the share (0 to 1) that memory had held shortly before.

    All of it where refaults were not counted: then pressure has to tell. A group that reads large tables once has
    failures and some pressure, but no refaults, and its limit costs it nothing.
    """
    read = float(case.processes.filter("database")["read_bytes"].sum() or 0.0)
    if group.refaults_per_s is None or not read or not case.seconds:
        return 1.0
    return min(group.refaults_per_s * SMALL_PAGE_BYTES * case.seconds / read, 1.0)


def _group_pains(case: Case, group: MemoryGroup) -> list[Sign]:
    """What tells a squeezed group from one that merely filled its limit with pages nobody asks for again."""
    faults = case.processes.filter("database")["major_faults"].drop_nulls()
    per_s = float(faults.sum()) / case.seconds if faults.len() and case.seconds else None
    waited = memory_wait_share(case)
    pressure = case.mean("memory", "pressure_some_pct") if group.pressure_some_pct is None else group.pressure_some_pct
    return [
        Sign("statistic", "name = 'memory.refaults_per_s'", group.refaults_per_s, REFAULTS_PER_S,
             "{:.0f pages read again per s} soon after they were dropped", "the limit drops what is in use",
             "what is dropped is not needed again"),
        Sign("memory", "pressure_some_pct is not null", pressure, GROUP_PRESSURE_PCT,
             "pressure: some task waited for memory {:.1f %} of the time", "time lost in reclaim",
             "nobody waits for memory"),
        Sign("process", "major_faults_per_s > 0", per_s, MAJOR_FAULTS_PER_S,
             "{:.0f major faults of the database per s}", "even programs are read again"),
        Sign("process", "memory_wait_pct > 0", None if waited is None else waited * 100, PRESSURE_PCT,
             "{:.1f %} of the sessions' time waiting for memory", "the database itself waits"),
    ]  # fmt: skip
