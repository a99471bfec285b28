"""Huge pages of PostgreSQL: all of the shared memory lies in them, or none of it."""

from collections.abc import Iterator
from math import ceil
from typing import Final

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

SMALL_PAGE_BYTES: Final = 4096
ENTRY_BYTES: Final = 8
# A twentieth of memory is the least that is worth a change that needs a restart.
MUCH_OF_MEMORY: Final = 0.05


@rule("postgresql")
def huge_pages_not_there(subject: Subject) -> Iterator[Violation]:
    """The server insists on huge pages that the kernel does not have.

    Why: with huge_pages = on it does not start without them: a restart becomes an outage.
    Evidence: pages needed for the shared memory against vm.nr_hugepages.
    Fix: Reserve them (vm.nr_hugepages in /etc/sysctl.d, and at boot), or set huge_pages = try.
    Verify: postgres -C shared_memory_size_in_huge_pages (15 and later) against HugePages_Total.
    Source: PostgreSQL documentation, Linux Huge Pages.
    """
    needed, there = _needed(subject), subject.machine.memory("huge_pages_total")
    if subject.flag("huge_pages") and needed is not None and there is not None and there < needed:
        yield subject.violation(
            phrase("huge_pages = on, and the kernel has {:,.0f} of the {:,.0f} pages needed", there, needed),
            "huge_pages",
            "shared_buffers",
            cost="the server does not start again",
            severity=Severity.ERROR,
            evidence=_evidence(needed, there),
            fix=phrase("vm.nr_hugepages = {:.0f} at the least, or huge_pages = try.", needed),
        )


@rule("postgresql")
def huge_pages_do_not_cover(subject: Subject) -> Iterator[Violation]:
    """Huge pages are reserved, but fewer than all of the shared memory needs: none of them is used.

    Why: the server asks for one piece of shared memory; where that does not fit, all of it lies in small pages, and the
        pages that were reserved lie idle.
    Evidence: pages needed against those reserved; huge_pages_status (17 and later).
    Fix: Raise vm.nr_hugepages to what the shared memory needs, or give them back.
    Verify: HugePages_Free falls when the server starts; SHOW huge_pages_status.
    Source: PostgreSQL documentation, Linux Huge Pages.
    """
    needed, there = _needed(subject), subject.machine.memory("huge_pages_total")
    size = subject.machine.memory("huge_page_bytes")
    if subject.text("huge_pages") != "try" or not needed or not there or not size or there >= needed:
        return
    yield subject.violation(
        phrase("{:,.0f} huge pages are reserved, {:,.0f} are needed: none is used", there, needed),
        "huge_pages",
        "shared_buffers",
        cost=phrase("{:,.0f} x {:bytes} = {:bytes} of memory that nobody can use", there, size, there * size),
        severity=Severity.WARNING,
        evidence=_evidence(needed, there),
        fix=phrase("vm.nr_hugepages = {:.0f} at the least, then restart; or 0.", needed),
    )


@rule("postgresql")
def huge_pages_unused(subject: Subject) -> Iterator[Violation]:
    """Shared memory lies in small pages, and the page tables of all backends take much memory.

    Why: every backend has its own page table of all shared memory that it touches: 8 bytes for each 4 kB.
    Evidence: page tables that were measured; else connections x shared_buffers / 4 kB x 8 bytes.
    Fix: Reserve huge pages for all of the shared memory, and restart.
    Verify: PageTables in /proc/meminfo at the same number of connections.
    Source: PostgreSQL documentation, Linux Huge Pages; J. Doelle and S. Langer, 2012, on page tables.
    """
    pool, clients = subject.number("shared_buffers"), subject.number("max_connections")
    memory, there = subject.machine.memory_bytes, subject.machine.memory("huge_pages_total")
    if not pool or not clients or not memory or there is None or there > 0 or pool > memory:
        return
    if subject.flag("huge_pages"):
        return  # without them this server does not even start
    measured = subject.machine.memory("page_tables_bytes")
    most = clients * ceil(pool / SMALL_PAGE_BYTES) * ENTRY_BYTES
    felt = measured is not None and measured > MUCH_OF_MEMORY * memory
    if felt and measured is not None:
        cost, severity = phrase("{:bytes} of page tables, of {:bytes}", measured, memory), Severity.WARNING
    elif most > MUCH_OF_MEMORY * memory:
        arithmetic = phrase("{:.0f} x {:bytes} / 4 kB x 8 B = {:bytes}", clients, pool, most)
        cost = phrase(
            "{}: up to {} of page tables once every connection has touched all of it", CANNOT_JUDGE, arithmetic
        )
        severity = Severity.NOTE
    else:
        return
    yield subject.violation(
        phrase("no huge pages for {:bytes} of shared_buffers", pool),
        "shared_buffers",
        "huge_pages",
        cost=cost,
        severity=severity,
        evidence=_evidence(_needed(subject), there),
    )


def _needed(subject: Subject) -> float | None:
    """Huge pages for the shared memory: as the server says (15 and later), else for shared_buffers alone."""
    told = subject.number("shared_memory_size_in_huge_pages")
    if told is not None and told > 0:
        return told
    pool, size = subject.number("shared_buffers"), subject.machine.memory("huge_page_bytes")
    return float(ceil(pool / size)) if pool and size else None


def _evidence(needed: float | None, there: float) -> list[Evidence]:
    if needed is None:
        return []
    return [
        Evidence(
            "memory",
            "huge_pages_total",
            phrase("{:,.0f} pages", there),
            phrase("{:,.0f}", needed),
            "all of it, or none",
            "at_most",
        )
    ]
