"""Address translation: pages too small for the memory that is used, and faults that need I/O."""

from collections.abc import Iterator

from doctord.analyse.host import translation
from doctord.analyse.host.translation import Faults, Translation
from doctord.analyse.sizing.tlb import TSB_ENTRY_BYTES
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
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

    Looks like: a fifth of the time and more in misses of the translation buffers (TLB, TSB), mostly of data.
    Hurts because: each access to memory that is not covered waits for one or several others; it counts as time on CPU,
        so that no wait shows it.
    Speaks for it: time in misses by trapstat -t or -T, and the page sizes in which it is spent.
    Speaks against it: less than a fifth of the time; misses in large pages already.
    Remedy: Larger pages where the misses are: for shared memory huge pages for all of it (Linux) or intimate shared
        memory in 4 MB and larger (Solaris); for private memory the heap's page size (ppgsz, _realfree_heap_pagesize).
        Translations needed are memory / page size, 16 bytes each in a TSB: 12 GB in 4 MB pages need 3072, or 48 KB, of
        which the default of 8 KB holds 512; 16 GB in 8 KB pages need 2 million.
    Verify: trapstat -T again: time in misses under a tenth, and in the larger pages; the same work takes less CPU.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008: 20 % or more of time in TLB and TSB misses.
    """
    lost = translation.share(case.dataset)
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
