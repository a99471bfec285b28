"""Address translation: entries for so much memory, and the Solaris TSB that holds them."""

from typing import Final

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Input, Question, Setting, Sizing, given_lines, known, uneven
from doctord.analyse.sizing.working import Number, Quantity, Step, larger, log2, round_up

M08: Final = "K. Manoharan's notes on address translation, 2008"
SOLARIS: Final = "Oracle Solaris Tunable Parameters Reference Manual, default_tsb_size"
TSB_ENTRY_BYTES: Final = 16
DEFAULT_TSB: Final = Number(8192, "bytes")
ENTRY: Final = Number(TSB_ENTRY_BYTES, "bytes")
LARGEST_CODE: Final = 7
MUCH_TRANSLATION: Final = 0.20
MAJOR_FAULTS: Final = 0.005

INPUTS: Final = (
    Input("memory", "memory", "bytes", "What a process maps: its SGA or shared buffers, 12GiB."),
    Input("page", "page size", "bytes", "Size of its pages: 8KiB, 4MiB."),
    Input("private", "private memory", "bytes", "What it maps besides: its PGA, 700MiB.", needed=False),
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
    tlb_entries: Quantity | None = None,
    translating: Quantity | None = None,
    minor_faults: Quantity | None = None,
    major_faults: Quantity | None = None,
) -> Sizing:
    """Entries = memory / page size; a TSB entry is 16 bytes; what a TLB reaches = its entries x page size."""
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
    return Sizing(
        f"{amount(entries.value, 'count')} entries of {amount(page.value, 'bytes')} pages; on Solaris a TSB of "
        f"{amount(tsb.value, 'bytes')} holds them all (the default holds {amount(default.value, 'count')}).",
        known(shared, more, entries if more else None, tsb, default, code, reach, major),
        (Setting("default_tsb_size", f"{code.value:.0f}", "in /etc/system; 8 KB x 2^n; Solaris on SPARC"),)
        if possible
        else (),
        (*_cautions(code, translating, major), *given_lines(uneven(memory))),
        reach.value >= memory.value if reach else None,
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
