"""How long threads of InnoDB waited for pages that were not in the buffer pool, by how many they missed.

A quick disk gives a page in a tenth of a millisecond. Whoever samples finds the thread at work, in a state that tells
nothing, and by the time that the kernel is asked the read is over: such waits are in no sample. The server counts the
pages, and the kernel how long the disk took for each.
"""

from typing import Final

import polars as pl

from doctord.analyse.figures import figures
from doctord.dataset.dataset import Dataset

# Logical reads that had to go to the files, by the thread that wanted the page (MySQL Reference Manual, "Server Status
# Variables"); what is read ahead is not among them.
MISSED: Final = "global_status.innodb_buffer_pool_reads"


def missed_pages_s(dataset: Dataset, db: str | None) -> float:
    """Seconds a second (sessions, on average) that one server's threads waited for pages they missed.

    By Little's law: pages a second times the disks' mean time of a read. Of pages that the disks did not deliver, for
    they were in the page cache, none is counted. 0 where either is not told.
    """
    missed_per_s = sum(figure.mean for figure in figures(dataset, MISSED) if figure.db == db)
    seconds, reads = pl.col("interval_s").fill_null(1.0), pl.col("reads_per_s") * pl.col("interval_s").fill_null(1.0)
    disks = dataset.frame("disk").filter(pl.col("reads_per_s") > 0, pl.col("read_ms").is_not_null())
    if not missed_per_s or disks.is_empty():
        return 0.0
    told = dataset.frame("disk").group_by("device", maintain_order=True).agg(seconds.sum())
    read, took_ms = disks.select(reads.sum(), (reads * pl.col("read_ms")).sum().alias("took")).row(0)
    per_s = float(read) / float(told["interval_s"].max() or 1.0)  # type: ignore[arg-type]
    return min(missed_per_s, per_s) * float(took_ms) / float(read) / 1000
