"""Reading the profile of a year of hours, of one host and of many; and what one host's sums take on disk.

The rollups are written as `doctord.lake.rollups` writes them: daily and weekly rhythm, noise, sixty figures a host; the
buckets of each day count a value a minute. The peer is Polars merely reading the same columns of the same files.
"""

import argparse
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import polars as pl

from doctord.analyse.capacity.profile import DAYS_AGO, NEEDS_DAYS, Profile, days_to, profile
from doctord.app.capacity.history import data_quality_in, series_in, spread_in
from doctord.app.capacity.profile import DOUBTED
from doctord.dataset.buckets import bucket_of
from doctord.dataset.figure import Figure
from doctord.lake import rollup_files
from doctord.lake.history import History
from doctord.lake.query import Lake
from doctord.lake.summaries import ending, fingerprint_of

END = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 365
HOUR = timedelta(hours=1)
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
            lake = year(Path(folder), figures, hosts)
            measure(lake, figures, hosts)


def measure(lake: Lake, figures: list[Figure], hosts: int) -> None:
    """Print what the profile, all hours of the year, and the bytes come to."""
    wanted = ["series", "ts", "value", "low", "high", "last"]
    since = END - timedelta(days=NEEDS_DAYS)
    hours = size_of(lake, "1h", "1d")
    print(f"{hosts} hosts, {len(figures)} figures, {DAYS} days of hours: {hours / hosts / 1e6:.1f} MB a host")
    if hosts == 1:
        print(f"  a day of minutes and of buckets by hour: {size_of(lake, '1m') / 1e6:.2f} MB and ", end="")
        print(f"{size_of(lake, '1h-buckets') / len(DAYS_AGO) / 1e6:.2f} MB")
    print(f"  profile        {seconds(lambda: page(lake, figures, since)):.2f} s")
    if hosts == 1:
        print(f"  whole year     {seconds(lambda: page(lake, figures, END - timedelta(days=DAYS))):.2f} s")
    files = sorted(lake.path.glob("rollups/1h/*.parquet"))
    recent = [path for path in files if path.name >= f"{since:%Y-%m}"]
    print(f"  Polars alone   {seconds(lambda: [pl.read_parquet(path, columns=wanted) for path in recent]):.2f} s")


def page(lake: Lake, figures: list[Figure], since: datetime) -> Profile:
    """The profile, as `doctord profile` makes it."""
    told = History(lake, figures)
    series = series_in(told, figures, since, END)
    data_quality = list(data_quality_in(lake, told, figures, END - DOUBTED, END))
    return profile(
        series, figures, END, spread=spread_in(told, figures, days_to(END), whole_days=True), data_quality=data_quality
    )


def size_of(lake: Lake, *names: str) -> int:
    """Bytes of some rollups."""
    return sum(path.stat().st_size for name in names for path in lake.path.glob(f"rollups/{name}/*"))


def seconds(what: Callable[[], object]) -> float:
    """The median time of some rounds."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        what()
        times.append(time.perf_counter() - begun)
    return median(times)


def year(folder: Path, figures: list[Figure], hosts: int) -> Lake:
    """A lake with a year of sums and no rows; of many hosts, with those buckets alone that a profile reads."""
    (folder / "sealed").mkdir()
    (folder / "rollups").mkdir()
    index = rollup_files.Index(
        [(fingerprint_of(figure), f"host{host}", None, "") for host in range(hosts) for figure in figures]
    )
    random, series = np.random.default_rng(1), hosts * len(figures)

    def write(rollup: str, rows: pl.DataFrame) -> None:
        for period, part in rollup_files.by_period(rollup, rows):
            index.files[rollup][period] = rollup_files.write_period(folder, index, rollup, period, part)

    day = END - timedelta(days=DAYS)
    while day < END:
        until = min((day.replace(day=1) + timedelta(days=32)).replace(day=1), END)
        write("1h", sums(random, day, np.arange(1, (until - day) // HOUR + 1), series))
        if hosts == 1:
            write("1d", counted(random, day, (until - day).days, series, "1d"))
        day = until
    for days in DAYS_AGO:
        write("1h-buckets", counted(random, END - timedelta(days=days + 1), 1, series, "1h"))
    if hosts == 1:
        write("1m", sums(random, END - timedelta(days=1), np.arange(1, 24 * 60 + 1), series, "m"))
    rollup_files.write_index(folder, index)
    return Lake(folder)


def sums(
    random: np.random.Generator, begin: datetime, hours: np.ndarray, series: int, unit: Literal["h", "m"] = "h"
) -> pl.DataFrame:
    """Hours, or minutes, of each series: a rhythm with noise."""
    rhythm = 100 + 40 * np.sin(hours * 2 * np.pi / 24) + 15 * np.sin(hours * 2 * np.pi / 168)
    values = (rhythm * random.lognormal(0, 0.1, (series, hours.size))).ravel()
    moments = np.datetime64(begin.replace(tzinfo=None), "us") + hours.astype(f"timedelta64[{unit}]")
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
    ).cast(rollup_files.ROLLUPS["1h"].columns)


def counted(random: np.random.Generator, begin: datetime, days: int, series: int, step: str) -> pl.DataFrame:
    """Buckets by hour or day of each series, of a value a minute."""
    minutes = np.arange(days * 1440)
    values = (100 + 55 * np.sin(minutes * 2 * np.pi / 1440)) * random.lognormal(0, 0.2, (series, minutes.size))
    moments = np.datetime64(begin.replace(tzinfo=None), "us") + (minutes + 1).astype("timedelta64[m]")
    return (
        pl.DataFrame(
            {
                "series": np.repeat(np.arange(series, dtype=np.uint32), minutes.size),
                "ts": np.tile(moments, series),
                "value": values.ravel(),
            }
        )
        .group_by("series", ending(step), bucket_of(pl.col("value")).alias("bucket"))
        .agg(pl.len().alias("count"))
        .cast(rollup_files.ROLLUPS["1h-buckets"].columns)
    )


if __name__ == "__main__":
    main()
