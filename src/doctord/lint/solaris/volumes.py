"""Veritas Volume Manager: the threads that do its I/O."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import phrase
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

# What is made when the module is loaded: 16, and two more for each CPU above eight; 64 at the most before version 7.
FIRST: Final = 16
FIRST_CPUS: Final = 8
FOR_EACH_MORE: Final = 2
MOST: Final = 64


@rule("vxvm")
def vxiod_few(subject: Subject) -> Iterator[Violation]:
    """There are fewer of Veritas' I/O threads than CPUs.

    Why: writes to mirrors with a log of dirty regions, recovery and replication go through these threads: where each of
        them is busy the next request waits for one, whatever the disks could do.
    Evidence: what vxiod prints; number of CPUs.
    Fix: vxiod set to at least one thread for each CPU: 16 and two for each CPU above eight, as the module makes itself
        when it is loaded on so many CPUs; 64 at the most (128 in later versions).
    Verify: vxiod prints the number; vxstat's times of reads and writes come nearer to those of the disks below.
    Source: vxiod(1M) of VxVM 5.1; Veritas Storage Foundation Installation Guide 5.0, "Starting the volume I/O daemon"
        (at least one for each CPU).
    """
    threads, cpus = subject.number("vxiod"), subject.machine.cpus
    if threads is None or not cpus or threads >= min(cpus, MOST):
        return
    wanted = min(FIRST + FOR_EACH_MORE * max(cpus - FIRST_CPUS, 0), MOST)
    yield subject.violation(
        phrase("vxiod: {:.0f} threads for {} CPUs", threads, cpus),
        "vxiod",
        cost="requests to mirrored volumes may wait for a thread while disks and CPUs have room",
        severity=Severity.WARNING if threads == 0 else Severity.NOTE,
        changes=[subject.change("vxiod", f"{wanted}", "reload")],
    )
