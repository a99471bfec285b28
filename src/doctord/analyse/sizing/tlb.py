"""Address translation: entries for so much memory, and the Solaris TSB that holds them."""

from typing import Final

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Input, Question, Setting, Sizing, given_lines, known, uneven
from doctord.analyse.sizing.working import Number, Quantity, Step, larger, log2, round_down, round_up

M08: Final = "K. Manoharan's notes on address translation, 2008"
SOLARIS: Final = "Oracle Solaris Tunable Parameters Reference Manual, default_tsb_size"
HIGH_WATER: Final = "Oracle Solaris Tunable Parameters Reference Manual, tsb_alloc_hiwater_factor"
TSB_ENTRY_BYTES: Final = 16
DEFAULT_TSB: Final = Number(8192, "bytes")
ENTRY: Final = Number(TSB_ENTRY_BYTES, "bytes")
LARGEST_CODE: Final = 7
# All tables together may take a 32nd of memory; a table grows when it is filled to 384 of 512 parts.
DEFAULT_FACTOR: Final = 32
DEFAULT_FILL: Final = 384
MUCH_TRANSLATION: Final = 0.20
MAJOR_FAULTS: Final = 0.005

INPUTS: Final = (
    Input("memory", "memory", "bytes", "What a process maps: its SGA or shared buffers, 12GiB."),
    Input("page", "page size", "bytes", "Size of its pages: 8KiB, 4MiB."),
    Input("private", "private memory", "bytes", "What it maps besides: its PGA, 700MiB.", needed=False),
    Input("processes", "processes", "count", "Processes that map it: sessions and background.", needed=False),
    Input("host-memory", "host's memory", "bytes", "The memory of the whole host.", needed=False),
    Input("tlb-entries", "TLB entries", "count", "Entries of the processor's TLB for that page size.", needed=False),
    Input("translating", "time in translation", "share", "Share of the CPUs' time in misses: 12%.", needed=False),
    Input("minor-faults", "minor faults", "count", "Page faults served from memory, since boot.", needed=False),
    Input("major-faults", "major faults", "count", "Page faults that needed I/O, since boot.", needed=False, zero=True),
)


def tlb(
    *,
    memory: Quantity,
    page: Quantity,
    private: Quantity | None = None,
    processes: Quantity | None = None,
    host_memory: Quantity | None = None,
    tlb_entries: Quantity | None = None,
    translating: Quantity | None = None,
    minor_faults: Quantity | None = None,
    major_faults: Quantity | None = None,
) -> Sizing:
    """Entries = memory / page size; a TSB entry is 16 bytes; what a TLB reaches = its entries x page size.

    A process has a TSB of its own; all of them together are held below the host's memory / tsb_alloc_hiwater_factor.
    """
    shared = round_up(memory / page).step("entries", "count", M08)
    more = round_up(private / page).step("entries for private memory", "count", M08) if private else None
    entries = (shared + more).step("entries together", "count", M08) if more else shared
    tsb = (entries * ENTRY).step("TSB for all of them", "bytes", M08)
    default = (DEFAULT_TSB / ENTRY).step("entries of the default TSB", "count", M08)
    code = larger(Number(0), round_up(log2(tsb / DEFAULT_TSB))).step("default_tsb_size", "count", SOLARIS)
    reach = (tlb_entries * page).step("the TLB reaches", "bytes", M08) if tlb_entries else None
    major = (
        (major_faults / minor_faults).step("major over minor faults", "share", M08)
        if minor_faults and major_faults
        else None
    )
    possible = code.value <= LARGEST_CODE
    tables = _tables(code, processes) if possible and processes else None
    factor = (
        round_down(host_memory / tables).step("tsb_alloc_hiwater_factor", "count", HIGH_WATER)
        if (host_memory and tables)
        else None
    )
    return Sizing(
        f"{amount(entries.value, 'count')} entries of {amount(page.value, 'bytes')} pages; on Solaris a TSB of "
        f"{amount(tsb.value, 'bytes')} holds them all (the default holds {amount(default.value, 'count')}).",
        known(shared, more, entries if more else None, tsb, default, code, tables, factor, reach, major),
        _settings(code, factor) if possible else (),
        (*_cautions(code, translating, major), *_too_many(factor), *given_lines(uneven(memory))),
        reach.value >= memory.value if reach else None,
    )


def _tables(code: Step, processes: Quantity) -> Step:
    """What the TSBs of all processes take, each of the size that the code says."""
    size = Number(DEFAULT_TSB.value * 2**code.value, "bytes")
    return (processes * size).step("TSBs of all processes", "bytes", M08)


def _settings(code: Step, factor: Step | None) -> tuple[Setting, ...]:
    """The four tunables of /etc/system, on SPARC."""
    told = [
        Setting("default_tsb_size", f"{code.value:.0f}", "in /etc/system; 8 KB x 2^n; Solaris on SPARC"),
        Setting("enable_tsb_rss_sizing", "1", "the default: a TSB grows with its process"),
        Setting("tsb_rss_factor", f"{DEFAULT_FILL}", "the default: it grows once 384/512 of its entries are in use"),
    ]
    if factor is not None and factor.value >= 1:
        enough = min(factor.value, DEFAULT_FACTOR)
        note = "the default" if enough == DEFAULT_FACTOR else "the default, 32, leaves them less memory than they need"
        told.append(Setting("tsb_alloc_hiwater_factor", f"{enough:.0f}", f"{note}; all TSBs: memory / this"))
    return tuple(told)


def _too_many(factor: Step | None) -> tuple[str, ...]:
    return given_lines(
        factor is not None
        and factor.value < 1
        and "So many TSBs do not fit the host's memory: larger pages, or fewer processes."
    )


def _cautions(code: Step, translating: Quantity | None, major: Step | None) -> tuple[str, ...]:
    return given_lines(
        code.value > LARGEST_CODE and "No TSB is that large (1 MB is the largest): larger pages are the way.",
        code.value == 3 and "The manual prints 32 KB beside 3, out of the row of its doublings: 4 (128 KB) is safe.",
        translating is not None
        and f"{amount(translating.value, 'share')} of the CPUs' time goes into translation: "
        + (
            "20 % and more: revisit the page sizes."
            if translating.value >= MUCH_TRANSLATION
            else "below the 20 % from which page sizes are to be revisited."
        ),
        major is not None
        and f"Major faults are {amount(major.value, 'share')} of minor ones: "
        + ("above" if major.value > MAJOR_FAULTS else "under")
        + " the 0.5 % of a well configured host.",
    )


QUESTION: Final = Question(
    "tlb", "How many address translations does memory need, and how large a TSB (default_tsb_size)?", INPUTS, tlb
)
