"""Huge pages for an SGA or shared_buffers: all of it or nothing."""

from typing import Final

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Input, Question, Setting, Sizing, given_lines, known, uneven
from doctord.analyse.sizing.working import Number, Quantity, Step, round_up
from doctord.errors import UserError

KERNEL: Final = "Linux kernel documentation, admin-guide/mm/hugetlbpage"
D12: Final = 'J. Doelle and S. Langer, "Analyzing BI Oracle workloads", 2012'
POSTGRESQL: Final = 'PostgreSQL documentation, "Linux Huge Pages"'
# The pool cannot be used for anything else: what is left must hold sessions, page cache and the kernel.
MUCH_OF_MEMORY: Final = 0.75

INPUTS: Final = (
    Input("shared", "shared memory", "bytes", "The SGA, or PostgreSQL's shared_memory_size: 12GiB.", needed=False),
    Input("shared-buffers", "shared_buffers", "bytes", "Or PostgreSQL's shared_buffers alone: 8GiB.", needed=False),
    Input(
        "besides",
        "besides, by buffers",
        "share",
        "Part of shared_buffers that PostgreSQL's other shared memory takes.",
        assumed=0.03,
        because="PostgreSQL 15 takes 2 to 3 %; postgres -C shared_memory_size tells",
    ),
    Input(
        "besides-fixed",
        "besides, fixed",
        "bytes",
        "What it takes besides, whatever shared_buffers is.",
        assumed=64 * 2**20,
        because="PostgreSQL 15 takes up to 55 MB with up to 1,000 connections",
    ),
    Input(
        "segments",
        "shared segments",
        "count",
        "Shared memory segments: each begins a page of its own (ipcs -m).",
        assumed=1,
        because="PostgreSQL and most instances of Oracle have one; ipcs -m counts them",
    ),
    Input(
        "page",
        "huge page",
        "bytes",
        "Size of a huge page (Hugepagesize in /proc/meminfo): 2MiB.",
        assumed=2 * 2**20,
        because="that of x86-64 and most others; Hugepagesize in /proc/meminfo tells",
    ),
    Input("total", "memory of the host", "bytes", "Memory of the host: 64GiB.", needed=False),
    Input("have", "huge pages there", "count", "vm.nr_hugepages now.", needed=False, zero=True),
    Input(
        "memlock",
        "memlock",
        "bytes",
        "Limit of locked memory of the server's user (ulimit -l is in KiB): 12GiB.",
        needed=False,
    ),
)


def huge_pages(
    *,
    segments: Quantity,
    page: Quantity,
    besides: Quantity,
    besides_fixed: Quantity,
    shared: Quantity | None = None,
    shared_buffers: Quantity | None = None,
    total: Quantity | None = None,
    have: Quantity | None = None,
    memlock: Quantity | None = None,
) -> Sizing:
    """Pages = shared memory / page size, rounded up, and one more for each further segment."""
    whole = _whole(shared_buffers, besides, besides_fixed) if shared_buffers and not shared else None
    shared = shared or whole
    if shared is None:
        raise UserError(
            "size huge-pages lacks: shared memory", "give --shared, or --shared-buffers; or files or a lake"
        )
    pages = (round_up(shared / page) + (segments - 1)).step("pages", "count", KERNEL)
    pool = (pages * page).step("pool", "bytes")
    limit = (pool / Number(1024, "bytes")).step("memlock in KiB", "count", D12)
    part = (pool / total).step("pool of the memory", "share") if total else None
    missing = (pages - have).step("pages missing", "count") if have and have.value < pages.value else None
    locked = memlock is None or memlock.value >= pool.value
    held = [have.value >= pages.value] if have else []
    held += [locked] if memlock else []
    held += [part.value <= MUCH_OF_MEMORY] if part else []
    return Sizing(
        f"{amount(pages.value, 'count')} huge pages, {amount(pool.value, 'bytes')} in all.",
        known(whole, pages, pool, limit, part, missing),
        (
            Setting("vm.nr_hugepages", f"{pages.value:.0f}", "for this server alone: add what others need"),
            Setting("memlock", f"{limit.value:.0f}", "KiB, soft and hard, in limits.conf (LimitMEMLOCK of a unit)"),
        ),
        (*_cautions(missing, part, locked=locked), *given_lines(uneven(shared))),
        all(held) if held else None,
    )


def _whole(shared_buffers: Quantity, besides: Quantity, besides_fixed: Quantity) -> Step:
    """All shared memory of PostgreSQL: a pool for shared_buffers alone would be too small, and all of it unused."""
    return (shared_buffers * (1 + besides) + besides_fixed).step("shared memory", "bytes", POSTGRESQL)


def _cautions(missing: Step | None, part: Step | None, *, locked: bool) -> tuple[str, ...]:
    return given_lines(
        missing is not None
        and f"{amount(missing.value, 'count')} pages too few: shared memory is all in huge pages or none of it, and "
        "what the pool holds then is lost to everybody. Oracle takes a part of it only with use_large_pages=true "
        "(11.2.0.3 and later).",
        not locked and "memlock is below the pool: Oracle falls back to small pages, for all of it.",
        part is not None
        and part.value > MUCH_OF_MEMORY
        and "The pool takes most of the memory: sessions, page cache and kernel must live in the rest. Make the shared "
        "memory smaller.",
        "Oracle: not with memory_target (AMM). PostgreSQL: shared memory is more than shared_buffers; "
        "shared_memory_size_in_huge_pages (15 and later) tells the pages to the number.",
    )


QUESTION: Final = Question(
    "huge-pages",
    "How many huge pages does the shared memory of a server need (vm.nr_hugepages, memlock)?",
    INPUTS,
    huge_pages,
)
