"""Where requests wait: in the host, before the device, or at the device itself."""

from typing import NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset

# Less than one request on average waiting in the host is chance, and a shorter wait is not felt.
WAITING = 1.0
FELT_MS = 4.0


class Waiting(NamedTuple):
    """A device for which requests wait in the host, over the reports in which they did.

    `part` is the share (0 to 1) of the device's time; `host_queue` and `device_queue` are mean numbers of requests,
    `held` the most the device was ever given at a time (on average over a report), the times are means per request;
    `full_per_s` is how often the device's queue was found full. Null is what was not measured.
    """

    device: str
    part: float
    reports: int
    host_queue: float
    device_queue: float
    held: float
    host_queue_ms: float
    device_ms: float | None
    full_per_s: float | None


def waiting_in_host(dataset: Dataset) -> list[Waiting]:
    """Devices for which at least one request waited in the host, each for 4 ms and more; the longest queue first.

    Sources: iostat(1M) of Solaris (wait, actv, wsvc_t), AIX' iostat -D (avgwqsz, avgsqsz, sqfull).
    """
    both = (
        dataset.frame("disk")
        .filter(pl.all_horizontal(pl.col("host_queue", "device_queue", "host_queue_ms").is_not_null()))
        .with_columns(seconds=pl.col("interval_s").fill_null(1.0))
    )
    everything = both.group_by("device", maintain_order=True).agg(
        pl.col("seconds").sum().alias("all"), pl.col("device_queue").max().alias("held")
    )
    full = (
        dataset.frame("statistic")
        .filter(pl.col("name") == "iostat.queue.sqfull")
        .group_by(pl.col("entity").alias("device"), maintain_order=True)
        .agg(pl.col("value").mean().alias("full_per_s"))
    )
    grouped = (
        both.filter((pl.col("host_queue") >= WAITING) & (pl.col("host_queue_ms") >= FELT_MS))
        .group_by("device", maintain_order=True)
        .agg(
            pl.len().alias("reports"),
            pl.col("seconds").sum(),
            pl.col("host_queue", "device_queue", "host_queue_ms", "device_ms").mean(),
        )
        .join(everything, on="device", maintain_order="left")
        .join(full, on="device", how="left", maintain_order="left")
        .with_columns((pl.col("seconds") / pl.col("all")).alias("part"))
        .drop("all", "seconds")
        .sort("host_queue", descending=True, maintain_order=True)
    )
    return [Waiting(**row) for row in grouped.iter_rows(named=True)]
