"""Memory of several nodes."""

from collections.abc import Iterator

from doctord.diagnose.phrase import phrase
from doctord.lint.kernel.databases import databases, memory_of
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation


@rule("kernel")
def zone_reclaim_on(subject: Subject) -> Iterator[Violation]:
    """A node frees its own file pages before it takes memory of another node.

    Why: the page cache holds what fits into one node, and reads go to disk while memory is free elsewhere.
    Evidence: vm.zone_reclaim_mode, and more than one node.
    Fix: Set vm.zone_reclaim_mode = 0.
    Verify: Page cache and reads at the same load; zone_reclaim_failed in /proc/vmstat.
    Source: Linux, Documentation/admin-guide/sysctl/vm.rst (not for file servers and databases).
    """
    nodes = numa_nodes(subject)
    if subject.number("vm.zone_reclaim_mode") and nodes and nodes > 1 and databases(subject):
        part = phrase("{:bytes} of ", subject.machine.memory_bytes / nodes) if subject.machine.memory_bytes else ""
        yield subject.violation(
            f"vm.zone_reclaim_mode = {subject.text('vm.zone_reclaim_mode')} on {nodes} nodes",
            "vm.zone_reclaim_mode",
            cost=phrase("the page cache is kept to {}one node's memory while others are free", part),
            severity=Severity.WARNING,
            changes=[subject.change("vm.zone_reclaim_mode", "0", "now")],
        )


@rule("kernel")
def numa_balancing_on(subject: Subject) -> Iterator[Violation]:
    """The kernel moves pages between nodes after the processes that touch them.

    Why: shared memory is touched from everywhere: its pages are unmapped and faulted in again for nothing.
    Evidence: kernel.numa_balancing, more than one node, shared memory of databases.
    Fix: Set kernel.numa_balancing = 0, and interleave the buffer cache (numactl, innodb_numa_interleave).
    Verify: numa_hint_faults and numa_pages_migrated in /proc/vmstat; system CPU time.
    Source: Linux, Documentation/admin-guide/sysctl/kernel.rst, numa_balancing.
    """
    nodes = numa_nodes(subject)
    if subject.number("kernel.numa_balancing") and nodes and nodes > 1 and any(map(memory_of, databases(subject))):
        yield subject.violation(
            f"kernel.numa_balancing on {nodes} nodes",
            "kernel.numa_balancing",
            cost=f"{CANNOT_JUDGE}: numa_hint_faults in /proc/vmstat, twice",
            changes=[subject.change("kernel.numa_balancing", "0", "now")],
        )


def numa_nodes(subject: Subject) -> int | None:
    """How many nodes of memory there are; null where it is not known."""
    told = subject.text("lscpu.NUMA node(s)")
    if told and told.isdigit():
        return int(told)
    online = subject.text("cpu.numa_nodes")
    return None if online is None else int(online.rpartition("-")[2].rpartition(",")[2]) + 1
