"""How the kernel deals out memory: swap, overcommit, what is kept free, shared memory."""

from collections.abc import Iterator

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.kernel.databases import databases, memory_of, shared_bytes
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

KEPT_FREE = 0.05
SWAPS_PER_S = 1.0


@rule("kernel")
def swappiness_high(subject: Subject) -> Iterator[Violation]:
    """The kernel swaps out memory of the database to keep file pages.

    Why: what a session touches next is on disk; a page of the buffer cache that was swapped out costs two reads.
    Evidence: vm.swappiness, pages swapped out.
    Fix: Set vm.swappiness to 1 (0 lets the OOM killer come first on kernels since 3.5).
    Verify: Pages swapped out at the same load (vmstat so).
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012; Linux,
        Documentation/admin-guide/sysctl/vm.rst.
    """
    found, swap = subject.number("vm.swappiness"), subject.machine.memory("swap_total_bytes")
    if found is None or found <= 10 or not swap:
        return
    out = subject.case.mean("memory", "swap_out_per_s")
    if out is not None and out < SWAPS_PER_S:
        return
    seen = (
        Evidence(
            "memory",
            "swap_out_per_s",
            phrase("{:.0f} pages a second swapped out", out),
            phrase("{:.0f}", SWAPS_PER_S),
            "",
        )
        if out
        else None
    )
    yield subject.violation(
        phrase("vm.swappiness = {:.0f} with {:bytes} of swap", found, swap),
        "vm.swappiness",
        cost=phrase("{:.0f} pages a second go to swap", out)
        if out
        else f"{CANNOT_JUDGE}: pages swapped out (vmstat so)",
        severity=Severity.WARNING if out else None,
        evidence=[seen] if seen else [],
        changes=[subject.change("vm.swappiness", "1", "now")],
    )


@rule("kernel")
def overcommit_without_limit(subject: Subject) -> Iterator[Violation]:
    """The kernel promises any amount of memory (vm.overcommit_memory = 1).

    Why: no allocation fails; when the memory is really used the OOM killer ends a process, mostly the database.
    Evidence: the setting.
    Fix: Set vm.overcommit_memory = 2 with an overcommit_ratio that covers the databases, or 0.
    Verify: Committed_AS against CommitLimit in /proc/meminfo.
    Source: PostgreSQL documentation, 19.4.4 Linux Memory Overcommit.
    """
    if subject.number("vm.overcommit_memory") == 1:
        yield subject.violation(
            "vm.overcommit_memory = 1: memory is promised without limit",
            "vm.overcommit_memory",
            cost="availability: the OOM killer chooses who ends when memory runs out",
            severity=Severity.WARNING,
            changes=[subject.change("vm.overcommit_memory", "2", "now")],
        )


@rule("kernel")
def commit_limit_below_databases(subject: Subject) -> Iterator[Violation]:
    """With strict overcommit the kernel may promise less than the databases take at their start.

    Why: with vm.overcommit_memory = 2 allocations fail beyond swap + ratio x (memory - huge pages).
    Evidence: that sum against shared_buffers, SGAs and buffer pools.
    Fix: Raise vm.overcommit_ratio, or set vm.overcommit_kbytes.
    Verify: CommitLimit in /proc/meminfo.
    Source: Linux, Documentation/mm/overcommit-accounting.rst.
    """
    machine, ratio = subject.machine, subject.number("vm.overcommit_ratio")
    memory, swap = machine.memory_bytes, machine.memory("swap_total_bytes")
    needed = sum(memory_of(server) or 0.0 for server in databases(subject))
    if subject.number("vm.overcommit_memory") != 2 or ratio is None or memory is None or swap is None or not needed:
        return
    huge = (machine.memory("huge_pages_total") or 0.0) * (machine.memory("huge_page_bytes") or 0.0)
    kept = (subject.number("vm.overcommit_kbytes") or 0.0) * 1024
    limit = swap + (kept or ratio / 100 * (memory - huge))
    if huge < needed and needed > limit:
        yield subject.violation(
            phrase("the commit limit is {:bytes}, and the databases take {:bytes}", limit, needed),
            "vm.overcommit_memory",
            "vm.overcommit_ratio",
            cost=phrase("{:bytes} cannot be had: the servers do not start, or fail with out of memory", needed - limit),
            severity=Severity.ERROR,
        )


@rule("kernel")
def much_memory_kept_free(subject: Subject) -> Iterator[Violation]:
    """The kernel keeps so much memory free that it is missing elsewhere.

    Why: vm.min_free_kbytes is never given to anybody but the kernel in need.
    Evidence: the setting against the memory.
    Fix: A few hundred MiB, at most a twentieth of the memory.
    Verify: MemFree at load; no allocation stalls in /proc/vmstat.
    Source: Linux, Documentation/admin-guide/sysctl/vm.rst, min_free_kbytes.
    """
    kept, memory = subject.number("vm.min_free_kbytes"), subject.machine.memory_bytes
    if kept and memory and kept * 1024 >= KEPT_FREE * memory:
        yield subject.violation(
            phrase("vm.min_free_kbytes = {:.0f}: {:bytes} are kept free", kept, kept * 1024),
            "vm.min_free_kbytes",
            cost=phrase("{:bytes} of {:bytes} ({:share}) serve nobody", kept * 1024, memory, kept * 1024 / memory),
            severity=Severity.WARNING,
        )


@rule("kernel")
def shared_memory_limit_small(subject: Subject) -> Iterator[Violation]:
    """The kernel allows less shared memory than an SGA takes.

    Why: ORA-27102 (out of memory) at the start with shmall; with shmmax an SGA in several segments.
    Evidence: kernel.shmmax in bytes and kernel.shmall in pages against the SGA.
    Fix: shmall x 4096 above all SGAs together, shmmax above the largest.
    Verify: ipcs -l; the instance starts with one segment (ipcs -m).
    Source: Oracle Database Installation Guide for Linux, Minimum Parameter Settings.
    """
    for server in databases(subject):
        shared = shared_bytes(server) if server.component == "oracle" else None
        for name, size in (("kernel.shmmax", 1), ("kernel.shmall", 4096)):
            limit = subject.number(name)
            if shared and limit and limit * size < shared:
                refused = name == "kernel.shmall"
                yield subject.violation(
                    phrase("{} = {:.0f} ({:bytes}) for an SGA of {:bytes}", name, limit, limit * size, shared),
                    name,
                    cost=f"{server.name} does not start (ORA-27102)"
                    if refused
                    else "the SGA is cut into several segments",
                    severity=Severity.ERROR if refused else Severity.WARNING,
                    changes=[subject.change(name, str(int(shared // size) + 1), "now")],
                )
