"""How many requests a host hands to a device at a time."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

# Working values of K. Manoharan, 2008, under which 5 to 10 requests queued in the host at the peak.
PER_LUN: Final = 30.0
PER_TARGET: Final = 256.0
THROTTLES: Final = ("sd:sd_max_throttle", "ssd:ssd_max_throttle")
WAITING: Final = 1.0  # requests that wait in the host on average


@rule("solaris")
def max_throttle_low(subject: Subject) -> Iterator[Violation]:
    """The disk driver hands fewer requests to a LUN than it could work on at a time.

    Why: what is above the throttle waits in the host, while the disks behind the LUN have nothing to do.
    Evidence: sd_max_throttle, ssd_max_throttle; requests that wait in the host (wait of iostat -x, avque of sar -d).
    Fix: About 30 for a LUN: the array's queue divided by the LUNs and hosts on it. Too much brings QUEUE FULL and
        resets.
    Verify: wait falls, actv and the throughput rise; no resets in /var/adm/messages.
    Source: K. Manoharan, 2008 (a throttle of 8; 30 for each LUN, 256 for each target); Solaris Tunable Parameters
        Reference Manual, sd_max_throttle.
    """
    yield from _low(subject, THROTTLES, PER_LUN, "a LUN")


@rule("lpfc")
def queue_depth_low(subject: Subject) -> Iterator[Violation]:
    """The adapter's driver hands fewer requests to a LUN or target than it could work on at a time.

    Why: what is above the depth waits in the host, whatever the disk driver's throttle allows.
    Evidence: lun-queue-depth, tgt-queue-depth; requests that wait in the host.
    Fix: lun-queue-depth=30 and tgt-queue-depth=256, no more than the array's port takes from all its hosts. Too much
        brings QUEUE FULL and resets.
    Verify: wait of iostat -x falls, actv and the throughput rise; no resets in /var/adm/messages.
    Source: K. Manoharan, 2008 (30 for each LUN, 256 for each target); Emulex driver for Solaris, User Manual.
    """
    yield from _low(subject, ("lun-queue-depth",), PER_LUN, "a LUN")
    yield from _low(subject, ("tgt-queue-depth",), PER_TARGET, "a target")


def _low(subject: Subject, names: tuple[str, ...], wanted: float, whose: str) -> Iterator[Violation]:
    for name in names:
        found = subject.explicit(name)
        # 0 is the driver's own choice: no limit for a target.
        if found is None or not found.number or found.number >= wanted:
            continue
        waiting = _waiting(subject)
        cost: Words = f"{CANNOT_JUDGE} whether requests wait in the host: iostat -xn, sar -d"
        if waiting is not None:
            cost = phrase("{:.1f} requests wait in the host on average, on the busiest device", waiting)
        yield subject.violation(
            f"{name} = {found.value}: no more requests at a time for {whose}",
            name,
            cost=cost,
            severity=Severity.WARNING if waiting is not None and waiting >= WAITING else Severity.NOTE,
            evidence=[]
            if waiting is None
            else [Evidence("disk", "host_queue", phrase("{:.1f} requests", waiting), phrase("{:.0f}", WAITING), "")],
            changes=[subject.change(name, f"{wanted:.0f}", "restart")],
        )


def _waiting(subject: Subject) -> float | None:
    """Requests that wait in the host, of the device with most of them; null where they were not measured."""
    disks = subject.case.dataset.frame("disk").filter(pl.col("host_queue").is_not_null())
    means = disks.group_by("device", maintain_order=True).agg(pl.col("host_queue").mean())["host_queue"]
    return max(means.to_list(), default=None)
