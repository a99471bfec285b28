"""Address translation: pages too small for the memory that is used, and faults that need I/O."""

from collections.abc import Iterator

from doctord.analyse.host import translation
from doctord.analyse.host.mappings import SHARED, mappings
from doctord.analyse.host.translation import Faults, Translation, Walker
from doctord.analyse.sizing.tlb import TSB_ENTRY_BYTES
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, at_most
from doctord.diagnose.phrase import phrase

# From here on the investigator of 2008 revisited page sizes; below it other costs are larger.
MISSES_SHARE = 0.2
# Major over minor faults: below it he called a host well configured.
MAJOR_SHARE = 0.005
# 1 MB/s of scanned pages of 8 KiB: the page scanner looks for memory now.
SCANNED_PER_S = 128.0
LARGER_PAGES = (64 * 2**10, 4 * 2**20, 256 * 2**20)
DEFAULT_TSB_BYTES = 8192


@cause()
def translation_misses(case: Case) -> Iterator[Claim]:
    """The CPUs spend much of their time on translating addresses: the pages are too small for the memory in use.

    Looks like: a fifth of the time and more in misses of the translation buffers (TLB, TSB), mostly of data; on Linux a
        fifth of the cycles of the database's busiest processes with a walk through the page tables going on.
    Hurts because: each access to memory that is not covered waits for one or several others; it counts as time on CPU,
        so that no wait shows it.
    Speaks for it: time in misses by trapstat -t or -T, and the page sizes in which it is spent; cycles in walks and
        misses of each process by the processor's counters.
    Speaks against it: less than a fifth of the time; misses in large pages already. Cycles in walks are an upper bound:
        the processor goes on with other work meanwhile.
    Remedy: Larger pages where the misses are: for shared memory huge pages for all of it (Linux) or intimate shared
        memory in 4 MB and larger (Solaris); for private memory the heap's page size (ppgsz, _realfree_heap_pagesize).
        Translations needed are memory / page size, 16 bytes each in a TSB: 12 GB in 4 MB pages need 3072, or 48 KB, of
        which the default of 8 KB holds 512; 16 GB in 8 KB pages need 2 million.
    Verify: trapstat -T again, or perf stat -e cycles,dtlb_load_misses.walk_active -p PID: time in misses under a tenth,
        and in the larger pages; the same work takes less CPU.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008: 20 % or more of time in TLB and TSB misses; Intel, event
        lists (perfmon), DTLB_LOAD_MISSES.WALK_ACTIVE.
    """
    lost = translation.share(case.dataset)
    if lost is None:
        yield from _walks(case)
    if lost is None or lost < MISSES_SHARE:
        return
    impact = lost * case.time.share("CPU")
    yield Claim(
        phrase("{:share} of the CPUs' time goes into translating addresses", lost),
        impact=case.felt(impact),
        confidence=0.9,
        for_=[
            Evidence("translation", "true", phrase("{:share} of the time in TLB and TSB misses", lost),
                     phrase("{:share}", MISSES_SHARE), "time on CPU that does no work", "at_least"),
            *(_in_pages(part) for part in translation.by_page(case.dataset)[:3] if part.data_pct + part.code_pct > 1),
            *_sizes(case),
        ],
    )  # fmt: skip


def _walks(case: Case) -> Iterator[Claim]:
    """The same by the processor's counters, for the database's processes."""
    lost = translation.walk_share(case.dataset)
    if lost is None or lost < MISSES_SHARE:
        return
    share, against = lost * case.time.share("CPU"), _in_huge_pages(case)
    yield Claim(
        phrase("The database spends up to {:share} of its cycles on translating addresses", lost),
        impact=at_most(share) if case.worth_saying(share) else case.unfelt,
        confidence=0.6 if against else 0.85,
        for_=[
            Evidence("statistic", f"name = '{translation.WALKS}'", phrase("{:share} of the cycles in walks", lost),
                     phrase("{:share}", MISSES_SHARE), "no buffer holds these translations", "at_least"),
            *(_of_walker(one) for one in translation.walkers(case.dataset)[:3] if one.walk_pct is not None),
        ],
        against=against,
    )  # fmt: skip


def _of_walker(one: Walker) -> Evidence:
    misses = "" if one.misses_per_s is None else phrase("{:,.0f} misses per s", one.misses_per_s)
    figure = phrase("{}: {:.0f %} of its cycles", one.entity, one.walk_pct)
    return Evidence("statistic", f"entity = '{one.entity}'", figure, "", misses)


def _in_huge_pages(case: Case) -> list[Evidence]:
    """Shared memory that is in huge pages already: then the walks are for other memory."""
    return [
        Evidence("statistic", f"name = 'smaps.huge_bytes' and entity = '{one.pid} {SHARED}'",
                 phrase("{:bytes} of {:bytes} shared memory in huge pages (pid {})",
                        one.huge_bytes, one.size_bytes, one.pid), "",
                 "its pages are large already: look at private memory")
        for one in mappings(case.dataset, SHARED)
        if one.size_bytes and one.huge_bytes >= one.size_bytes / 2
    ][:1]  # fmt: skip


@cause()
def major_faults_many(case: Case) -> Iterator[Claim]:
    """More page faults need I/O than on a host with memory to spare.

    Looks like: counters since boot in which major faults are more than 0.5 % of the minor ones.
    Hurts because: a minor fault takes microseconds, a major one waits for a disk.
    Speaks for it: the ratio of the two counters, pages scanned now.
    Speaks against it: no scanning and no paging now: then it was once, at a start or a copy of large files; little time
        in address translation, where it was measured.
    Remedy: Look when they come: vmstat 5 (mf, pi, sr), kstat -p cpu::vm:maj_fault every minute. Then give the database
        memory that is locked (intimate shared memory, huge pages), and file systems that bypass the page cache.
    Verify: The increase of major faults over that of minor ones, under load, stays under 0.5 %.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008: major over minor faults under 0.5 % is well configured.
    """
    counted = [faults for faults in translation.faults(case.dataset) if faults.major_share > MAJOR_SHARE]
    if not counted:
        return
    lost = translation.share(case.dataset)
    for_, against = weigh(
        [
            Sign("memory", "scan_per_s is not null", case.mean("memory", "scan_per_s"), SCANNED_PER_S,
                 "{:.0f pages scanned per s}", "memory is short now", "memory is not short now"),
            Sign("translation", "true", None if lost is None else lost * 100, MISSES_SHARE * 100,
                 "{:.1f %} of the time in TLB and TSB misses", "address translation is slow as well",
                 "address translation itself costs little"),
        ]
    )  # fmt: skip
    worst = max(faults.major_share for faults in counted)
    yield Claim(
        phrase("{:.2f %} of page faults needed I/O since the host was started", worst * 100),
        impact=NOT_MEASURED,
        confidence=0.4 if against else 0.6,
        for_=[*(_counted(faults) for faults in counted), *for_],
        against=against,
    )


def _in_pages(part: Translation) -> Evidence:
    pages = "all page sizes" if part.page_bytes is None else phrase("pages of {:bytes}", part.page_bytes)
    size = "page_bytes is null" if part.page_bytes is None else f"page_bytes = {part.page_bytes}"
    return Evidence(
        "translation",
        f"mode = '{part.mode}' and {size}",
        phrase(
            "{} mode, {}: {:.1f %} of the time for data, {:.1f %} for code",
            part.mode,
            pages,
            part.data_pct,
            part.code_pct,
        ),
        "",
        "mean of the CPUs",
    )


def _sizes(case: Case) -> Iterator[Evidence]:
    """How many translations the host's memory needs in pages of other sizes."""
    memory = case.mean("memory", "total_bytes")
    if memory is None:
        return
    held = DEFAULT_TSB_BYTES // TSB_ENTRY_BYTES
    for page in LARGER_PAGES:
        yield Evidence(
            "memory",
            "total_bytes is not null",
            phrase("{:bytes} in pages of {:bytes}: {:,} translations", memory, page, translation.entries(memory, page)),
            phrase("the default TSB of {:bytes} holds {}", DEFAULT_TSB_BYTES, held),
            phrase("{:bytes} of TSB for all of it", translation.tsb_bytes(memory, page)),
        )


def _counted(faults: Faults) -> Evidence:
    return Evidence(
        "statistic",
        f"name in ('{faults.minor_name}', '{faults.major_name}')",
        phrase("{:.2f %}, {:,.0f} major of {:,.0f} minor faults", faults.major_share * 100, faults.major, faults.minor),
        phrase("{:.1f %}", MAJOR_SHARE * 100),
        "counted since boot",
        "at_least",
    )
