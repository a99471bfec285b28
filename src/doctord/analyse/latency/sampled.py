"""Waits of sampled sessions as durations: how long a session was seen in the same wait, sample after sample.

A wait that is seen in n samples in a row, each standing for a time p, took about n x p. Shorter ones than p are mostly
missed, and one that is seen counts as p; the time in sum is right on average, as sampling gives it (Little's law).
"""

from functools import lru_cache

import polars as pl

from doctord.dataset.dataset import Dataset

# Columns of one second: several samples each.
COLUMN_US = 1_000_000
CPU = "CPU"
# A sample that comes later than so many intervals after the last one is of another wait.
FOLLOWS = 1.7


@lru_cache(maxsize=2)  # a dataset under examination, and its past: maps and causes begin here
def sampled_waits(dataset: Dataset) -> pl.DataFrame:
    """Rows as those of `latency`, with `name` for the subject: the wait events of the sampled sessions.

    Buckets are powers of two of the time between two samples. A second in which sessions were sampled and no wait of a
    subject ended has a row that counts none.
    """
    seen = _episodes(dataset.frame("session"))
    end = ((pl.col("ts").dt.epoch("us") - 1) // COLUMN_US + 1) * COLUMN_US
    # One period for all of a server: buckets of another would lie across these.
    period_us = pl.col("period_us").median().over("host", "db")
    edge = (2.0 ** (pl.col("samples").log(2) - 1e-9).ceil()) * period_us
    waits = seen.with_columns(ts=pl.from_epoch(end, "us").dt.replace_time_zone("UTC"), le_us=edge)
    held = waits.group_by("ts", "host", "db", "name", "le_us", maintain_order=True).agg(
        count=pl.len().cast(pl.Int64), waited_us=pl.col("seen_us").sum()
    )
    rows = held.with_columns(gt_us=pl.col("le_us") / 2)
    return pl.concat([rows, _idle(rows)], how="diagonal").with_columns(
        interval_s=pl.lit(COLUMN_US / 1e6), instance=pl.lit(None, pl.String)
    )


def _episodes(sessions: pl.DataFrame) -> pl.DataFrame:
    """One row per wait that was seen: its last sample's time, in how many samples, and what each stands for."""
    who = ["host", "db", "sid", "serial"]
    period_us = pl.col("interval_s") * 1e6
    columns = sessions.select(*who, "ts", "event", "interval_s")
    differs = columns.select(pl.col(name).ne_missing(pl.col(name).first()).any() for name in who)
    told_apart = [name for name in who if differs[name].item()]  # of one server neither its name nor its host
    ordered = columns.filter(pl.col("event") != CPU).sort(*told_apart, "ts", maintain_order=True)
    apart_us = (pl.col("ts") - pl.col("ts").shift(1)).dt.total_microseconds().cast(pl.Float64)
    same = pl.all_horizontal([pl.col(name).eq_missing(pl.col(name).shift(1)) for name in (*told_apart, "event")])
    begins = ~(same & (apart_us <= FOLLOWS * period_us)).fill_null(value=False)
    return (
        ordered.with_columns(episode=begins.cum_sum(), period_us=period_us)
        .group_by("episode", maintain_order=True)
        .agg(
            pl.col("ts").last(),
            pl.col("host", "db").first(),
            name=pl.col("event").first(),
            samples=pl.len().cast(pl.Float64),
            period_us=pl.col("period_us").median(),
            seen_us=pl.col("period_us").sum(),
        )
        .drop_nulls("period_us")
    )


def _idle(rows: pl.DataFrame) -> pl.DataFrame:
    """Seconds in which some wait of a server was seen, but none of a subject."""
    seconds = rows.select("ts", "host", "db").unique(maintain_order=True)
    subjects = rows.select("host", "db", "name").unique(maintain_order=True)
    every = seconds.join(subjects, ["host", "db"], nulls_equal=True, maintain_order="left")
    missing = every.join(rows, ["ts", "host", "db", "name"], "anti", nulls_equal=True, maintain_order="left")
    return missing.with_columns(
        gt_us=pl.lit(0.0), le_us=pl.lit(None, pl.Float64), count=pl.lit(0, pl.Int64), waited_us=pl.lit(0.0)
    )
