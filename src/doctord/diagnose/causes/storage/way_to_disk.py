"""The way to the disk: what splits requests on it; and the line that shows it beside any finding about a disk."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from doctord.analyse.storage.device_paths import DevicePath, device_limits, device_paths
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, at_most
from doctord.diagnose.phrase import Phrase, listed, phrase

READS, WRITES = ("User I/O", "I/O"), ("System I/O", "Commit")
# Pieces of this size and more cost next to nothing: it is what devices take at most.
LARGE_BYTES = 256 * 1024
# A mean that near the largest request is one of hardly anything else.
PINNED = 0.9
# Means over fewer requests than this say little.
LEAST_REQUESTS_PER_S = 50.0
BUSY_PCT = 50.0
# What each vendor reads and writes at a time, at least.
BLOCK_BYTES = {"postgresql": 8192, "mysql": 16384, "oracle": 8192}
LIMITS = (
    ("max_sectors_kb", "requests of at most {} KiB"),
    ("nr_requests", "{} of them"),
    ("queue_depth", "queue depth {}"),
    ("scheduler", "scheduler {}"),
)


class _Split(NamedTuple):
    """Requests of one direction that are as large as the device takes them, all of them."""

    device: str
    direction: str
    mean_bytes: float
    per_s: float
    limit_bytes: int
    util_pct: float | None


def path_to(case: Case, device: str) -> list[Evidence]:
    """How a folder of a database leads to a device, with the limits on the way; empty where none is known to."""
    return [shown(case, way) for way in device_paths(case.dataset) if device in way.devices][:2]


def shown(case: Case, way: DevicePath) -> Evidence:
    """A way, with the limits of each device on it."""
    limits = device_limits(case.dataset)
    told = [_told(device, limits[device]) for device in way.devices if limits.get(device)]
    devices = phrase("{} > {} on {} > {}", way.folder, way.filesystem, way.mount, " > ".join(way.devices))
    return Evidence("setting", f"name like 'path.{way.folder}.%'", devices, "", listed(*told, by="; "))


def _told(device: str, limits: dict[str, str]) -> Phrase:
    return phrase("{}: {}", device, listed(*(phrase(words, limits[name]) for name, words in LIMITS if name in limits)))


@cause(explains=("reads_slow", "slow_file", "device_saturated", "commits_slow", "buffer_pool_small"))
def requests_split(case: Case) -> Iterator[Claim]:
    """A device takes only small requests: what the database reads or writes at a time is split into several.

    Looks like: the mean size of requests stands at the largest that the device is given (max_sectors_kb), and that is
        less than a block of the database, or than a device takes at no extra cost.
    Hurts because: each piece has the cost of a request: a read of one block waits for several, a large one for dozens.
    Speaks for it: mean request size against the limit; how many there are; a limit that the device itself does not
        need.
    Speaks against it: a device with time to spare.
    Remedy: Raise max_sectors_kb of the device that is named towards max_hw_sectors_kb (/sys/block/X/queue), and of all
        devices above it in the stack; keep it with a udev rule. Where the device takes no more itself: another driver
        or bus setting (virtio seg_max, an old HBA), or another device.
    Verify: The mean request size rises (iostat -x: rareq-sz, wareq-sz) and requests per second fall at the same bytes.
    Source: Kernel documentation, Documentation/ABI/stable/sysfs-block: max_sectors_kb, max_hw_sectors_kb; K. Manoharan,
        notes on Oracle on Solaris, 2008: what splits a request.
    """
    limits = device_limits(case.dataset)
    for split in _splits(case, limits):
        share = sum(map(case.time.share, READS if split.direction == "read" else WRITES))
        if case.time.shares and not case.worth_saying(share):
            continue
        where = f"device = '{split.device}'"
        takes = limits[split.device].get("max_hw_sectors_kb")
        for_, against = weigh(
            [
                Sign("disk", where, split.mean_bytes / 1024, PINNED * split.limit_bytes / 1024,
                     f"{{:.1f KiB}} per {split.direction}",
                     phrase("max_sectors_kb is {:.0f}; {:.0f requests/s}", split.limit_bytes / 1024, split.per_s)),
                Sign("disk", where, split.util_pct, BUSY_PCT, "busy {:.0f %} of the time",
                     "the pieces keep it busy", "it has time for the pieces"),
            ]
        )  # fmt: skip
        could = phrase("the device itself would take {} KiB", takes)
        yield Claim(
            phrase("{}s of {} are split into pieces of {:bytes}",
                   split.direction.title(), split.device, split.limit_bytes),
            impact=at_most(share) if case.time.shares else NOT_MEASURED,
            confidence=0.75 if against else 0.9,
            for_=[
                *for_,
                *([Evidence("setting", f"name = 'block.{split.device}.max_hw_sectors_kb'", could, "",
                            "the limit was set by somebody, or by default")]
                  if takes and takes.isdigit() and int(takes) * 1024 > split.limit_bytes else []),
                *path_to(case, split.device),
            ],
            against=against,
        )  # fmt: skip


def _splits(case: Case, limits: dict[str, dict[str, str]]) -> Iterator[_Split]:
    block = max((BLOCK_BYTES[vendor] for vendor in case.components if vendor in BLOCK_BYTES), default=8192)
    for device, told in limits.items():
        limit = told.get("max_sectors_kb", "")
        if not limit.isdigit() or int(limit) * 1024 >= LARGE_BYTES:
            continue
        rows = case.dataset.frame("disk").filter(pl.col("device") == device)
        util = rows["util_pct"].mean()
        for direction in ("read", "write"):
            means = rows.select(f"{direction}s_per_s", f"{direction}_bytes_per_s").drop_nulls().mean().row(0)
            per_s, bytes_per_s = means
            if not per_s or per_s < LEAST_REQUESTS_PER_S:
                continue
            mean = bytes_per_s / per_s
            is_pinned = mean >= PINNED * int(limit) * 1024
            if is_pinned and (int(limit) * 1024 < block or mean > block):
                pct = util if isinstance(util, float) else None
                yield _Split(device, direction, mean, per_s, int(limit) * 1024, pct)
