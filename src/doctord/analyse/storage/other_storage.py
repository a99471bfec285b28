"""Whether the disks that were seen are those of the database: what it reads must come from somewhere.

An iostat of a node of Exadata, of a client of NFS, or of the wrong host shows disks that serve others: they say nothing
of the database's own, be they idle or full.
"""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from doctord.analyse.figures import figures, mean
from doctord.analyse.waits import Wait
from doctord.dataset.common_statistics import names_of
from doctord.dataset.dataset import Dataset

# Fewer reads a second than this a quiet disk has of its own, by chance as many.
LEAST_READS_PER_S = 100.0
# So much less than the database asks for (0 to 1) is no readahead and no merging of requests.
MOST_SERVED = 0.1
# What is quicker may come from the file system's cache: then the disks may be the database's all the same.
CACHED_MS = 0.2
READ_KINDS = ("single read", "multi-block read")
READ_REQUESTS = "v$sysstat.physical read total IO requests"
WRITE_REQUESTS = "v$sysstat.physical write total IO requests"


class OtherStorage(NamedTuple):
    """Requests a second that the database reads, and that all disks that were seen read, by their number."""

    reads_per_s: float
    seen_per_s: float
    devices: int


def other_storage(dataset: Dataset, waits: Mapping[str, Wait]) -> OtherStorage | None:
    """Where the disks serve less than a tenth of the database's reads at the same time; null where they may be its own.

    Args:
        dataset: holds the disks, and what the database counts of its requests.
        waits: what its sessions waited for, as counted.
    """
    reading = [wait for wait in waits.values() if wait.wait_kind in READ_KINDS and wait.per_second]
    waited_for = sum(wait.per_second or 0.0 for wait in reading)
    reads, seen = max(waited_for, _counted(dataset, READ_REQUESTS)), _seen(dataset, "reads_per_s")
    if reads < LEAST_READS_PER_S or seen is None or seen > MOST_SERVED * reads or not _at_one_time(dataset):
        return None
    waited_ms = sum(wait.seconds_per_second for wait in reading) * 1000 / waited_for if waited_for else 0.0
    if waited_ms < CACHED_MS and not _writes_elsewhere(dataset):
        return None
    return OtherStorage(reads, seen, dataset.frame("disk")["device"].n_unique())


def _counted(dataset: Dataset, *names: str) -> float:
    return sum(figure.mean for name in names for figure in figures(dataset, name) if figure.entity is None)


def _seen(dataset: Dataset, column: str) -> float | None:
    """Requests a second of all devices together; null where none was measured over some time."""
    rows = dataset.frame("disk").filter(pl.col("interval_s") > 0)
    rates = [mean(of, column) for of in rows.partition_by("host", "device", maintain_order=True)]
    measured = [rate for rate in rates if rate is not None]
    return sum(measured) if measured else None


def _at_one_time(dataset: Dataset) -> bool:
    """Whether disks and waits were measured at the same time, for a part of it at least."""
    if not {"disk", "wait"} <= dataset.tables.keys():
        return False
    disks, waits = (Dataset({table: dataset.tables[table]}) for table in ("disk", "wait"))
    if not (disks.since and disks.until and waits.since and waits.until):
        return False
    return max(disks.since, waits.since) < min(disks.until, waits.until)


def _writes_elsewhere(dataset: Dataset) -> bool:
    """Whether what the database writes does not come to these disks either."""
    writes = _counted(dataset, WRITE_REQUESTS) or _counted(dataset, *names_of("log writes"))
    seen = _seen(dataset, "writes_per_s")
    return bool(writes) and seen is not None and seen <= MOST_SERVED * writes
