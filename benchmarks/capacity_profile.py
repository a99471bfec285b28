"""Reading the profile of a year of hours, of one host and of many; and what one host's sums take on disk.

The tiers are written as `doctord.lake.tiers` writes them: daily and weekly rhythm, noise, sixty figures a host; the
buckets of each day count a value a minute. The peer is Polars merely reading the same columns of the same files.
"""

import argparse
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from doctord.analyse.capacity.figure import Figure
from doctord.analyse.capacity.profile import NEEDS_DAYS, profile
from doctord.cli._history import history
from doctord.lake import tier_files
from doctord.lake.buckets import GROWTH, ZERO_AT
from doctord.lake.query import Lake
from doctord.lake.summaries import mark_of

END = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 365
ROUNDS = 3


def main() -> None:
    """Measure, and print one line for each figure."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--hosts", type=int, default=100)
    options.add_argument("--figures", type=int, default=60)
    given = options.parse_args()
    figures = [
        Figure(f"figure_{n}", f"figure {n}", "workload", "statistic", f"value + {n}", "per_s")
        for n in range(given.figures)
    ]
    for hosts in sorted({1, given.hosts}):
        with TemporaryDirectory() as folder:
            lake = year(Path(folder), figures, hosts, buckets=hosts == 1)
            measure(lake, figures, hosts)


def measure(lake: Lake, figures: list[Figure], hosts: int) -> None:
    """Print what the profile, all hours of the year, and the bytes come to."""
    size = sum(path.stat().st_size for tier in ("1h", "1d") for path in lake.path.glob(f"tiers/{tier}/*"))
    wanted = ["series", "ts", "value", "low", "high", "last"]
    since = END - timedelta(days=NEEDS_DAYS)
    print(f"{hosts} hosts, {len(figures)} figures, {DAYS} days of hours: {size / hosts / 1e6:.1f} MB a host")
    print(f"  profile        {seconds(lambda: profile(history(lake, figures, since, END), figures, END)):.2f} s")
    if hosts == 1:
        whole = END - timedelta(days=DAYS)
        print(f"  whole year     {seconds(lambda: profile(history(lake, figures, whole, END), figures, END)):.2f} s")
    files = sorted(lake.path.glob("tiers/1h/*.parquet"))
    recent = [path for path in files if path.name >= f"{since:%Y-%m}"]
    print(f"  Polars alone   {seconds(lambda: [pl.read_parquet(path, columns=wanted) for path in recent]):.2f} s")


def seconds(what: Callable[[], object]) -> float:
    """The median time of some rounds."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        what()
        times.append(time.perf_counter() - begun)
    return median(times)


def year(folder: Path, figures: list[Figure], hosts: int, *, buckets: bool) -> Lake:
    """A lake with a year of sums and no rows."""
    (folder / "sealed").mkdir()
    (folder / "tiers").mkdir()
    index = tier_files.Index(
        [(mark_of(figure), f"host{host}", None, "") for host in range(hosts) for figure in figures]
    )
    random = np.random.default_rng(1)
    day = END - timedelta(days=DAYS)
    while day < END:
        until = min((day.replace(day=1) + timedelta(days=32)).replace(day=1), END)
        month = f"{day:%Y-%m}"
        hours = np.arange(1, (until - day) // timedelta(hours=1))
        index.files["1h"][month] = tier_files.write_period(
            folder, index, "1h", month, sums(random, day, hours, len(index.series))
        )
        if buckets:
            counts = counted(random, day, (until - day).days, len(index.series))
            index.files["1d"][month] = tier_files.write_period(folder, index, "1d", month, counts)
        day = until
    tier_files.write_index(folder, index)
    return Lake(folder)


def sums(random: np.random.Generator, begin: datetime, hours: np.ndarray, series: int) -> pl.DataFrame:
    """Hours of each series: a rhythm of days and weeks with noise."""
    rhythm = 100 + 40 * np.sin(hours * 2 * np.pi / 24) + 15 * np.sin(hours * 2 * np.pi / 168)
    values = (rhythm * random.lognormal(0, 0.1, (series, hours.size))).ravel()
    moments = np.datetime64(begin.replace(tzinfo=None), "us") + hours.astype("timedelta64[h]")
    return pl.DataFrame(
        {
            "series": np.repeat(np.arange(series, dtype=np.uint32), hours.size),
            "ts": np.tile(moments, series),
            "count": np.full(values.size, 60, np.uint32),
            "weight": np.full(values.size, 3600, np.float32),
            "value": values,
            "low": (values * random.uniform(0.6, 0.9, values.size)).astype(np.float32),
            "high": (values * random.uniform(1.1, 1.6, values.size)).astype(np.float32),
            "last": (values * random.uniform(0.9, 1.1, values.size)).astype(np.float32),
        }
    ).cast(tier_files.TIERS["1h"].columns)


def counted(random: np.random.Generator, begin: datetime, days: int, series: int) -> pl.DataFrame:
    """Buckets of each day of each series, of a value a minute."""
    minutes = np.arange(1440)
    values = (100 + 55 * np.sin(minutes * 2 * np.pi / 1440)) * random.lognormal(0, 0.2, (series, days, 1440))
    found = (ZERO_AT + np.ceil(np.log(values) / np.log(GROWTH))).astype(np.int32)
    return (
        pl.DataFrame(
            {
                "series": np.repeat(np.arange(series, dtype=np.uint32), days * 1440),
                "day": np.tile(np.repeat(np.arange(days, dtype=np.int64), 1440), series),
                "bucket": found.ravel(),
            }
        )
        .group_by("series", "day", "bucket")
        .agg(pl.len().alias("count"))
        .with_columns((pl.lit(begin.replace(tzinfo=None)) + pl.duration(days=pl.col("day"))).alias("ts"))
        .select("series", "ts", "bucket", "count")
        .cast(tier_files.TIERS["1d"].columns)
    )


if __name__ == "__main__":
    main()
