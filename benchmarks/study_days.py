"""How long `doctord study` takes for two recorded days: host and processes each second, sessions ten times a second.

A minute of a private server under 20 clients of pgbench, with 340 processes alive, is recorded by `doctord record`, and
repeated through two days, each hour sealed as the recorder seals it; on the second day waits are a tenth shorter.

    .venv/bin/python benchmarks/study_days.py [--lake FOLDER] [--runs 3]

The lake takes some minutes and gigabytes to make; `--lake` keeps it, and uses it where it is there. Needs root, as the
lab's servers do.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parent / "cost"))
sys.path.insert(0, str(Path(__file__).parent / "lake"))

from paired import private_server

from doctord.dataset.dataset import Dataset, arrow_schema
from doctord.dataset.tables import LASTING, TABLES
from doctord.lake.parquet_file import write_checked
from doctord.lake.place import LakePaths, new_name
from doctord.lake.query import Lake
from lake import sleepers

DOCTORD = Path(sys.executable).with_name("doctord")
BEGIN = datetime(2026, 11, 2, tzinfo=UTC)
HOURS = 24
A_MINUTE = timedelta(minutes=1)
SHORTER = 0.9
SPREAD = 0.1  # of values from row to row


def main() -> None:
    """Make the lake where it is not there, then study its days."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lake", type=Path, help="where it is, or is to be kept")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--processes", type=int, default=340)
    arguments = parser.parse_args()
    with place(arguments.lake) as lake:
        if not lake.exists():
            repeat(recorded_minute(arguments.processes), lake)
        study(lake, arguments.runs)


@contextmanager
def place(kept: Path | None) -> Iterator[Path]:
    """Where the lake is: the named folder, or one that is thrown away."""
    if kept:
        yield kept
        return
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder) / "lake"


def recorded_minute(processes: int) -> Dataset:
    """A minute of a server under load, as `doctord record` keeps it."""
    with private_server() as server, tempfile.TemporaryDirectory() as folder, sleepers(processes):
        load = [server.binaries / "pgbench", "--client=20", "--no-vacuum", "--time=75", server.dsn]
        with subprocess.Popen(load, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as clients:
            time.sleep(5)  # until they are connected
            lake = Path(folder) / "lake"
            command = [DOCTORD, "record", "--lake", lake, "--dsn", server.dsn, "--quiet", "--for", "66s"]
            subprocess.run(command, check=True)
            clients.terminate()
        span = Lake(lake).span()
        assert span, "nothing was recorded"
        begin = span[0] + timedelta(seconds=4)  # the recorder's start is no part of a usual minute
        return Lake(lake).dataset(begin, begin + A_MINUTE)


def repeat(minute: Dataset, lake: Path) -> None:
    """Two days of that minute, a sealed file for each table and hour."""
    rng = np.random.default_rng(1)
    begun = min(minute.frame(name)["ts"].min() for name in minute.tables)
    first = datetime.fromtimestamp(begun.timestamp() // 60 * 60, UTC)
    for name in minute.tables:
        rows = minute.frame(name)
        if name in LASTING:  # told when a recorder starts
            seal(lake, name, shifted(rows, BEGIN - first), is_second=False)
            continue
        shifts = [BEGIN - first + number * A_MINUTE for number in range(60)]
        hour = pl.concat([shifted(rows, shift) for shift in shifts]).sort([*TABLES[name].entity, "ts"])
        for number in range(2 * HOURS):
            moved = shifted(hour, timedelta(hours=number))
            seal(lake, name, moved if name == "process" else noisy(moved, rng), is_second=number >= HOURS)
        print(f"{name}: {2 * HOURS * hour.height:,} rows", file=sys.stderr)


def shifted(rows: pl.DataFrame, by: timedelta) -> pl.DataFrame:
    """The same rows at another time."""
    return rows.with_columns(pl.col("ts") + by)


def noisy(rows: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """The same rows with values that differ, as no minute is like another; no study reads processes, which are not."""
    names = [
        name
        for name, kind in rows.schema.items()
        if kind == pl.Float64 and name not in {"interval_s", "gt_us", "le_us"}
    ]
    factors = {name: pl.Series(np.exp(SPREAD * rng.normal(size=rows.height))) for name in names}
    return rows.with_columns(pl.col(name) * factor for name, factor in factors.items())


def seal(lake: Path, table: str, rows: pl.DataFrame, *, is_second: bool) -> None:
    """An hour of a table as the recorder seals it; on the second day sessions wait for less long."""
    if is_second and table == "wait":
        rows = rows.with_columns(pl.col("average_active_sessions") * SHORTER)
    begun = rows["ts"].min()
    assert isinstance(begun, datetime), "every row has a time"
    schema = arrow_schema(TABLES[table])
    zoneless = [pa.timestamp("us") if pa.types.is_timestamp(kind) else kind for kind in schema.types]
    told = rows.to_arrow().cast(schema).cast(pa.schema(list(zip(schema.names, zoneless, strict=True))))
    folder = LakePaths(lake).sealed / table / begun.date().isoformat()
    folder.mkdir(parents=True, exist_ok=True)
    write_checked(folder / f"{new_name(begun)}.parquet", told)


def study(lake: Path, runs: int) -> None:
    """Time the study of both days, and print what it took."""
    days = [BEGIN + timedelta(days=number) for number in range(3)]
    periods = [f"{since:%FT%TZ}..{until:%FT%TZ}" for since, until in pairwise(days)]
    command = [DOCTORD, "study", "--lake", lake, "--before", periods[0], "--after", periods[1], "--json"]
    took = []
    for _ in range(runs):
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        took.append(time.monotonic() - began)
        assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)
    size = sum(file.stat().st_size for file in lake.rglob("*.parquet"))
    most_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        "| lake | study of two days, median | least to most | most memory of a child | verdict |\n|---|---|---|---|---|"
    )
    print(
        f"| {size / 1e9:.2f} GB | {statistics.median(took):.1f} s | {min(took):.1f} to {max(took):.1f} s "
        f"| {most_mib:,.0f} MiB | {told['says']} |"
    )


if __name__ == "__main__":
    main()
