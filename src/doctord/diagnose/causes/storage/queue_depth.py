"""Queue depth: requests that wait in the host because the device, or a disk of IBM Z, is given no more at a time."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.storage import disks
from doctord.analyse.storage.dasds import ControlUnit, control_units
from doctord.analyse.storage.queues import Waiting, waiting_in_host
from doctord.dataset.waits.kinds import STORAGE
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.storage.way_to_disk import path_to
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import phrase

# What the investigator of 2008 ended with, for one LUN and for all LUNs of a target port: 5 to 10 waited at peak.
DEPTH_OF_LUN = 30
DEPTH_OF_TARGET = 256
# A burst fills any queue; what lasts a quarter of the reports is no burst.
LASTING = 0.25
# A device that takes longer than this with what it has is not short of requests: a disk drive at low load takes less.
SLOW_MS = 30.0
# A cap shows as a queue that is as full as it ever is whenever somebody waits.
AT_CAP = 0.8
# What the investigators of 2012 ended with for volumes that a database scans; with 3 aliases each they were slow.
ALIASES_A_VOLUME = 7.0
# Of HyperPAV any volume of the control unit may use each.
ALIASES_A_UNIT = 20.0
WAITING = 1.0
WAITS = ("User I/O", "System I/O", "Commit", "I/O")


@cause(explains=("device_saturated",), waits=STORAGE)
def queue_depth_low(case: Case) -> Iterator[Claim]:
    """Requests wait in the host while the device is allowed only a few at a time.

    Looks like: wait above one, and actv that never goes above some number, 8 say.
    Hurts because: a storage array serves many requests at once and sorts them; it never sees those that the host keeps.
    Speaks for it: requests in the host's queue, a device queue that stands at its cap whenever they wait, how often a
        request found that queue full.
    Speaks against it: a queue that was hardly ever full. No finding where the cap is 30 and more already, where the
        device's settings allow it more than it ever held, or where it takes long with the few it is given: then
        waiting would only move from the host into the device.
    Remedy: Raise the number of requests that the device is given: sd_max_throttle or ssd_max_throttle (Solaris),
        queue_depth of the hdisk (AIX), scsictl or queue_depth (HP-UX), /sys/block/X/device/queue_depth and nr_requests
        (Linux). Begin with 30 for a LUN and 256 for all LUNs behind one target port, the array's own limit permitting:
        too many bring resets and QUEUE FULL. Or spread the data over more LUNs and paths.
    Verify: wait falls to nearly none at the same requests per second, and asvc_t does not rise by as much.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008: host queue and device queue; 30 per LUN, 256 per target.
    """
    for waiting in waiting_in_host(case.dataset):
        if waiting.part < LASTING or not _is_capped(waiting) or _takes_more(case, waiting):
            continue
        where = f"device = '{waiting.device}'"
        impact = sum(map(case.time.share, WAITS)) * waiting.part
        if case.time.shares and not case.worth_saying(impact):
            continue  # nobody waits for it
        for_, against = weigh(_signs(waiting, where))
        yield Claim(
            phrase("{:.0f} requests to {} wait in the host, which gives it {:.0f} at a time",
                   waiting.host_queue, waiting.device, waiting.held),
            impact=case.felt(impact),
            confidence=0.6 if against or waiting.reports < 2 else 0.85,
            for_=[
                Evidence("disk", where, phrase("{:.1f} requests waiting in the host", waiting.host_queue),
                         phrase("{:.0f}", 1),
                         phrase("in {:share} of the time, each for {:.0f ms}", waiting.part, waiting.host_queue_ms),
                         "at_least"),
                Evidence("disk", where, phrase("{:.1f} at the device meanwhile, {:.1f} at most", waiting.device_queue,
                                waiting.held),
                         phrase("{} for a LUN", DEPTH_OF_LUN), "it is given no more"),
                *for_,
                *path_to(case, waiting.device),
            ],
            against=against,
        )  # fmt: skip


def _is_capped(waiting: Waiting) -> bool:
    """Whether the device's queue stands at a low cap, and the device is not slow with what it has."""
    is_full = waiting.device_queue >= AT_CAP * waiting.held and waiting.held < DEPTH_OF_LUN
    return is_full and (waiting.device_ms or 0.0) < SLOW_MS


def _takes_more(case: Case, waiting: Waiting) -> bool:
    """Whether its settings let the device have more than it ever held: then it is short of no depth."""
    names = (f"block.{waiting.device}.queue_depth", f"block.{waiting.device}.nr_requests")
    told = next((value for name in names if (value := case.setting(name)) and value.isdigit()), None)
    return told is not None and waiting.held < AT_CAP * int(told)


def _signs(waiting: Waiting, where: str) -> Iterator[Sign]:
    full = f"name = 'iostat.queue.sqfull' and entity = '{waiting.device}'"
    yield Sign("statistic", full, waiting.full_per_s, 1.0, "its queue was found full {:.0f times per s}",
               "the system counts it itself", "its queue was hardly ever full")  # fmt: skip
    yield Sign("disk", where, waiting.device_ms, SLOW_MS, "{:.1f ms} per request at the device",
               "the device itself is quick enough to take more", below=True)  # fmt: skip


@cause(explains=("device_saturated", "device_slow", "queue_depth_low", "reads_slow", "slow_file"))
def dasd_aliases_few(case: Case) -> Iterator[Claim]:
    """Disks of IBM Z have too few parallel access volumes: one request to a volume waits for the other.

    Looks like: requests queue in the host for dasd devices, each of which is given one at a time and one for each
        alias.
    Hurts because: a volume without aliases serves one request at a time, however many disks of the storage server it is
        spread over.
    Speaks for it: aliases against volumes of a control unit (less than 7 for each volume, and less than 20 of HyperPAV
        for the unit); requests that wait.
    Speaks against it: as many aliases as requests that wait, where any volume may use each. Nothing is said where none
        waits.
    Remedy: Define more aliases in the storage server and in the I/O configuration, and set them online (chccwdev -e);
        in z/VM attach them, or let minidisks use HyperPAV. Or spread the data over more volumes (striped logical
        volumes).
    Verify: lsdasd -u names the aliases of each control unit; the queue of the dasd devices (aqu-sz) falls at the same
        load.
    Source: J. Doelle and S. Langer, "Analyzing BI Oracle workloads", IBM 2012: 3 PAV aliases against 7; IBM, "Device
        Drivers, Features, and Commands", DASD.
    """
    for unit in control_units(case.dataset):
        if unit.aliases >= ALIASES_A_UNIT or unit.aliases >= ALIASES_A_VOLUME * unit.volumes:
            continue
        waiting, device = _waiting_for_dasd(case)
        if waiting is not None and waiting < WAITING:
            continue
        for_, against = weigh(
            [
                Sign("statistic", f"name = '{unit.told_by}'", unit.aliases / unit.volumes, ALIASES_A_VOLUME,
                     "{:.1f aliases for each volume}", _counted(unit), below=True),
                Sign("disk", f"device = '{device}'", waiting, WAITING, "{:.1f requests} that wait",
                     phrase("for {}, the busiest", device)),
            ]
        )  # fmt: skip
        yield Claim(
            phrase(
                "{:count volume has/volumes have} {:count alias/aliases}{}",
                round(unit.volumes),
                round(unit.aliases),
                _of_unit(unit),
            ),
            impact=NONE_YET if waiting is None else case.felt(sum(map(case.time.share, WAITS))),
            confidence=0.6 if waiting is None else 0.85,
            for_=for_,
            against=[*against, *_aliases_would_do(unit, waiting)],
        )


def _waiting_for_dasd(case: Case) -> tuple[float | None, str | None]:
    """How many requests wait at the busiest dasd device, which works on one; null where none was measured."""
    rows = disks.intervals(case.dataset).filter(pl.col("device").str.starts_with("dasd"))
    means = rows.group_by("device", maintain_order=True).agg(pl.col("queue").mean()).drop_nulls()
    if means.is_empty():
        return None, None
    device, queue = means.sort("queue", descending=True, maintain_order=True).row(0)
    return float(queue) - 1.0, device


def _counted(unit: ControlUnit) -> str:
    return "of all control units together" if unit.name is None else f"of control unit {unit.name}"


def _of_unit(unit: ControlUnit) -> str:
    return "" if unit.name is None else f" in control unit {unit.name}"


def _aliases_would_do(unit: ControlUnit, waiting: float | None) -> list[Evidence]:
    """Aliases that are as many as the requests that wait: they serve whichever volume needs them, if they may."""
    if waiting is None or unit.aliases < waiting:
        return []
    figure = phrase("{:.0f aliases} for {:.1f requests} that wait", unit.aliases, waiting)
    return [
        Evidence("statistic", f"name = '{unit.told_by}'", figure, "", "enough, if any volume may use each (HyperPAV)")
    ]
