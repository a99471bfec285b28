"""Page tables: what it costs that every session maps the shared memory for itself."""

from typing import Final

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Input, Question, Sizing, given_lines, known, uneven
from doctord.analyse.sizing.working import Number, Quantity, round_up

D12: Final = 'J. Doelle and S. Langer, "Analyzing BI Oracle workloads", 2012'
PAGE_TABLE_ENTRY_BYTES: Final = 8
ENTRY: Final = Number(PAGE_TABLE_ENTRY_BYTES, "bytes")
HUGE: Final = Number(2 * 2**20, "bytes")

INPUTS: Final = (
    Input("sessions", "sessions", "count", "Server processes that map it: sessions at the busiest."),
    Input("shared", "mapped memory", "bytes", "What each of them maps: the SGA or shared_buffers, 8GiB."),
    Input(
        "page",
        "page size",
        "bytes",
        "Size of a page: 4KiB.",
        assumed=4096,
        because="the kernel's small page on x86-64 and s390x",
    ),
    Input("total", "memory of the host", "bytes", "Memory of the host: 64GiB.", needed=False),
    Input("measured", "page tables", "bytes", "PageTables of /proc/meminfo now.", needed=False),
)


def page_tables(
    *,
    sessions: Quantity,
    shared: Quantity,
    page: Quantity,
    total: Quantity | None = None,
    measured: Quantity | None = None,
) -> Sizing:
    """Page tables = sessions x mapped memory / page size x 8 bytes, when each session touches all of it."""
    each = (round_up(shared / page) * ENTRY).step("page tables of a session", "bytes", D12)
    small = (sessions * each).step("of all sessions", "bytes", D12)
    huge = (sessions * round_up(shared / HUGE) * ENTRY).step("with huge pages of 2 MiB", "bytes", D12)
    saved = (small - huge).step("huge pages save", "bytes")
    part = (small / total).step("of the memory", "share") if total else None
    reached = (measured / small).step("of all processes now, of that", "share") if measured else None
    return Sizing(
        f"Up to {amount(small.value, 'bytes')} of page tables; {amount(huge.value, 'bytes')} with huge pages.",
        known(each, small, huge, saved, part, reached),
        cautions=given_lines(
            "They grow to this when every session touches all of the shared memory; PageTables in /proc/meminfo tells "
            "what they take now.",
            uneven(shared),
            "A pool makes the sessions fewer; huge pages make each of them cheap (doctord size huge-pages).",
        ),
    )


QUESTION: Final = Question(
    "page-tables", "How much memory do the page tables of many sessions take?", INPUTS, page_tables
)
