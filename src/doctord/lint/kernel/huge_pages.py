"""Pages of 2 MiB and more: the pool, transparent ones, and the page tables without them."""

from collections.abc import Iterator

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.kernel.databases import databases
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

MUCH_OF_MEMORY = 0.02


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
            phrase("{:bytes} of huge pages are unused", idle),
            "vm.nr_hugepages",
            cost=phrase("{:bytes} of {:bytes} ({:share}) serve nobody", idle, memory, idle / memory),
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
            phrase("page tables take {:bytes}", tables),
            "vm.nr_hugepages",
            cost=phrase("{:bytes} of {:bytes} ({:share}), and time to walk them", tables, memory, tables / memory),
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


def _has(subject: Subject, component: str) -> bool:
    return any(server.component == component for server in databases(subject))
