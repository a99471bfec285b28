"""What several of Oracle's rules look at: the SGA, where files lie, and shares of the measured time."""

from math import ceil

from doctord.diagnose.common.waited import share
from doctord.lint.subject import Subject

POOLS = ("shared_pool_size", "java_pool_size", "large_pool_size", "streams_pool_size", "db_cache_size")
SMALL_PAGE_BYTES = 4096
ENTRY_BYTES = 8  # of a page table on x86-64 and System z


def sga_bytes(subject: Subject) -> float | None:
    """What the SGA takes: the largest of its targets, else the sum of its pools; null where nothing says it."""
    targets = [subject.number(name) or 0.0 for name in ("sga_target", "sga_max_size", "memory_target")]
    pools = sum(subject.number(name) or 0.0 for name in POOLS)
    return max(*targets, pools) or None


def is_on_asm(subject: Subject) -> bool:
    """Whether its files lie in ASM, which opens devices without any file system."""
    names = ("control_files", "db_create_file_dest", "spfile")
    return any((subject.text(name) or "").strip("'\" ").startswith("+") for name in names)


def page_table_bytes(subject: Subject) -> float | None:
    """What page tables take when every process maps the whole SGA in small pages; null where one is not known.

    Source: J. Doelle and S. Langer, 2012: sessions x mapped SGA / 4 KB x 8.
    """
    processes, sga = subject.number("processes"), sga_bytes(subject)
    return processes * ceil(sga / SMALL_PAGE_BYTES) * ENTRY_BYTES if processes and sga else None


def waited(subject: Subject, *events: str) -> float | None:
    """Share (0 to 1) of database time that was waited for these events; null where the time was not measured."""
    return share(subject.case, *events) if subject.is_measured else None
