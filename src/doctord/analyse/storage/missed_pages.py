"""How long threads of InnoDB waited for pages that were not in the buffer pool, by how many they missed.

A quick disk gives a page in a tenth of a millisecond. Whoever samples finds the thread at work, in a state that tells
nothing, and by the time that the kernel is asked the read is over: such waits are in no sample. The server counts the
pages, and the kernel how long the disk took for each.
"""

from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.figures import figures, setting
from doctord.dataset.dataset import Dataset
from doctord.dataset.mysql_names import SERVER_PID

# Logical reads that had to go to the files, by the thread that wanted the page (MySQL Reference Manual, "Server Status
# Variables"); what is read ahead is not among them.
MISSED: Final = "global_status.innodb_buffer_pool_reads"


class _Reads(NamedTuple):
    per_s: float
    ms: float


def missed_pages_s(dataset: Dataset, db: str | None) -> float | None:
    """Seconds a second (sessions, on average) that one server's threads waited for pages they missed.

    By Little's law: pages a second times the mean time of a read, of the disk with most reads; devices that lie on each
    other count the same ones. Of pages that it did not deliver, for they were in the page cache, none is counted. Null
    where either is not told, and of a server that is not known to run on this host: its disks are others.
    """
    missed = [figure.mean for figure in figures(dataset, MISSED) if figure.db == db]
    reads = _of_busiest_disk(dataset.frame("disk")) if missed and setting(dataset, SERVER_PID, db) else None
    return None if reads is None else min(sum(missed), reads.per_s) * reads.ms / 1000


def _of_busiest_disk(disk: pl.DataFrame) -> _Reads | None:
    seconds = pl.col("interval_s").fill_null(1.0)
    count = pl.col("reads_per_s") * seconds
    by_device = disk.group_by("device", maintain_order=True).agg(
        count.sum().alias("count"), seconds.sum().alias("seconds"), (count * pl.col("read_ms")).sum().alias("took_ms")
    )
    most = max(by_device.iter_rows(named=True), key=lambda one: one["count"], default=None)
    return _Reads(most["count"] / most["seconds"], most["took_ms"] / most["count"]) if most and most["count"] else None
