"""Disks that are not the database's: a note on the host, and no reason for what the database waits for."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from doctord.diagnose.case import Case
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase

OF_DISKS: Final = ("device_saturated", "device_slow", "queue_depth_low", "io_by_others")


def with_storage(case: Case, cause: str, claim: Claim) -> Claim:
    """What a cause claims; where it is of disks that are not the database's, what speaks against it."""
    other = case.other_storage
    if other is None or cause not in OF_DISKS:
        return claim
    against = Evidence(
        "disk",
        "reads_per_s is not null",
        phrase("all disks together read {:.0f requests/s}", other.seen_per_s),
        phrase("the database reads {:,.0f requests/s}", other.reads_per_s),
        "this is not the database's storage",
    )
    return replace(claim, impact=NOT_MEASURED, against=[*claim.against, against], severity="note", explains_waits=False)


def unseen(case: Case) -> Iterable[NotMeasured]:
    """That the database's storage was not seen, where other disks were."""
    other = case.other_storage
    if other is None:
        return ()
    why = phrase(
        "it reads {:,.0f requests/s}, and the disks that were seen ({}) {:.0f}: these are not its own",
        other.reads_per_s,
        other.devices,
        other.seen_per_s,
    )
    grant = (
        "iostat -x of the devices under its files, at the same time (ASM: asmcmd lsdsk; NFS: nfsiostat; Exadata: "
        "cellcli, list metriccurrent)"
    )
    return (NotMeasured("the database's storage", why, grant),)
