"""Disks: latency, queues and throughput of devices, weighted by what they served."""

from typing import NamedTuple

import polars as pl

from doctord.analyse.spells import longest
from doctord.dataset.dataset import Dataset

QUEUES = ("host_queue", "device_queue")
# Where neither latency nor queue is told, only that there is hardly a moment without a request says something.
ALWAYS_BUSY_PCT = 90.0
MOST_OF_THE_TIME = 0.5  # less may be a backup, which is meant to keep it busy
LASTING_S = 30.0
# A queue half as long again is a different load; less is chance.
VARIED = 1.5


class Spell(NamedTuple):
    """The time in which a condition held for a device, and its figures in that time.

    `part` is the share (0 to 1) of the device's observed time, `longest_s` the longest of it on end, `ms` the mean over
    its requests, `queue` the mean number outstanding, of which `host_queue` waited in the host; null is what was not
    measured.
    """

    device: str
    part: float
    longest_s: float
    requests_per_s: float
    bytes_per_s: float | None
    ms: float | None
    queue: float | None
    host_queue: float | None
    util_pct: float | None


def intervals(dataset: Dataset) -> pl.DataFrame:
    """One row per device and interval, reads and writes together.

    Columns: device, ts, interval_s, requests_per_s, bytes_per_s, ms (mean over the requests), queue (outstanding
    requests, in host and device), host_queue, device_queue, util_pct. Where a source gives no queue, Little's law does:
    requests per second times seconds each (J. D. C. Little, "A proof for the queuing formula L = lambda W", 1961).
    """
    return dataset.derived("disk", _intervals)


def _intervals(disk: pl.DataFrame) -> pl.DataFrame:
    reads, writes = pl.col("reads_per_s").fill_null(0.0), pl.col("writes_per_s").fill_null(0.0)
    waited = pl.col("read_ms").fill_null(0.0) * reads + pl.col("write_ms").fill_null(0.0) * writes
    timed = pl.col("read_ms").is_not_null() | pl.col("write_ms").is_not_null()
    whole = pl.coalesce(_sum("host_queue_ms", "device_ms"), "request_ms")
    queue = pl.col("device_queue") + pl.col("host_queue").fill_null(0.0)
    # Reports without times are as long as each other; a single one is since boot.
    length = pl.coalesce("interval_s", pl.when(pl.col("ts").n_unique().over("device") > 1).then(1.0))
    return (
        disk.filter(
            (length > 0)
            & pl.any_horizontal(pl.col("reads_per_s", "writes_per_s", "requests_per_s", "util_pct").is_not_null())
        )
        .with_columns(
            length.alias("interval_s"),
            pl.coalesce(_sum("reads_per_s", "writes_per_s"), "requests_per_s").alias("requests_per_s"),
            (pl.col("read_bytes_per_s") + pl.col("write_bytes_per_s")).alias("bytes_per_s"),
            pl.when(timed & (reads + writes > 0)).then(waited / (reads + writes)).alias("ms"),
        )
        .with_columns(pl.coalesce("ms", pl.when(pl.col("requests_per_s") > 0).then(whole)).alias("ms"))
        .with_columns(pl.coalesce(queue, "queue", pl.col("requests_per_s") * pl.col("ms") / 1000).alias("queue"))
        .select("device", "ts", "interval_s", "requests_per_s", "bytes_per_s", "ms", "queue", *QUEUES, "util_pct")
    )


def _sum(one: str, other: str) -> pl.Expr:
    """Both together; what one of them lacks counts nothing, null only where both do."""
    return pl.when(pl.any_horizontal(pl.col(one, other).is_not_null())).then(pl.sum_horizontal(one, other))


def spells(rows: pl.DataFrame, condition: pl.Expr) -> list[Spell]:
    """For each device (in rows of `intervals`) the time in which a condition held, longest first."""
    found = rows.filter(condition)
    if found.is_empty():
        return []
    total = rows.group_by("device", maintain_order=True).agg(pl.col("interval_s").sum().alias("seconds"))
    weight, requests = pl.col("interval_s"), pl.col("requests_per_s") * pl.col("interval_s")
    timed = pl.col("ms").is_not_null()
    means = [_mean(column) for column in ("bytes_per_s", "queue", "host_queue", "util_pct")]
    grouped = (
        found.group_by("device", maintain_order=True)
        .agg(
            weight.sum().alias("held"),
            (requests.sum() / weight.sum()).alias("requests_per_s"),
            pl.when(timed.any()).then((pl.col("ms") * requests).sum() / requests.filter(timed).sum()).alias("ms"),
            *means,
        )
        .join(total, on="device", maintain_order="left")
        .join(longest(rows, condition, "device"), on="device", maintain_order="left")
        .with_columns((pl.col("held") / pl.col("seconds")).alias("part"))
        .sort("part", "requests_per_s", descending=True, maintain_order=True)
        .drop("held", "seconds")
    )
    return [Spell(**row) for row in grouped.iter_rows(named=True)]


def busy_untold(rows: pl.DataFrame) -> list[Spell]:
    """Devices (of rows of `intervals`) that were always busy for most of the time, or for half a minute on end.

    Only while neither queue nor latency is told: such a device may have room, where it serves many requests at a time;
    or be saturated, or hang.
    """
    untold = pl.all_horizontal(pl.col("ms", "queue").is_null())
    found = spells(rows, untold & (pl.col("util_pct") >= ALWAYS_BUSY_PCT))
    return [spell for spell in found if spell.part >= MOST_OF_THE_TIME or spell.longest_s >= LASTING_S]


def rise(rows: pl.DataFrame, device: str) -> float | None:
    """How many times longer a request takes in the half of the time with the longer queue than in the other half.

    Null when the queue hardly varied: then the dataset cannot tell whether latency rises with load.
    """
    measured = pl.col("queue").is_not_null() & pl.col("ms").is_not_null()
    mine = rows.filter((pl.col("device") == device) & measured & (pl.col("requests_per_s") > 0)).sort(
        "queue", maintain_order=True
    )
    requests = pl.col("requests_per_s").sum()
    half = mine.height // 2
    halves = [
        part.select(pl.col("queue").mean(), ((pl.col("ms") * pl.col("requests_per_s")).sum() / requests).alias("ms"))
        for part in (mine.head(half), mine.tail(half))
    ]
    (quiet, quiet_ms), (loaded, loaded_ms) = halves[0].row(0), halves[1].row(0)
    if not half or not quiet_ms or loaded < VARIED * quiet:
        return None
    return float(loaded_ms / quiet_ms)


def _mean(column: str) -> pl.Expr:
    """Mean over time of what was measured."""
    seconds = pl.col("interval_s").filter(pl.col(column).is_not_null())
    return ((pl.col(column) * pl.col("interval_s")).sum() / seconds.sum()).fill_nan(None).alias(column)
