"""A fleet made of the lab's recordings, with planted illnesses: what is found, how long it takes, what it needs.

    .venv/bin/python benchmarks/fleet/fleet.py --recordings /var/tmp/lab-accuracy-fresh --out /var/tmp/fleet

Each host is a recording of the lab, moved to one time, repeated until it is so many minutes long, under a name of its
own: a healthy one (`WELL`), but for the hosts on one array (forty of a thousand), whose disk is throttled, and six
others of three kinds. They are shipped, compacted and judged; exactly the planted ones have to come out. Beside it
DuckDB's sums over the same files.
"""

import argparse
import csv
import random
import resource
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

import duckdb
import polars as pl

from doctord.app.asked import Interval
from doctord.app.fleet.compact import compact
from doctord.app.fleet.diagnose import FleetVerdict, diagnose_fleet
from doctord.app.fleet.hosts import Chosen, hosts_of
from doctord.app.fleet.ship import ship
from doctord.app.watcher import SILENT
from doctord.dataset.tables import LASTING
from doctord.fleet.processes import Processes
from doctord.lake.parquet_file import write_checked
from doctord.lake.query import Lake
from doctord.lake.store.store import store_at
from doctord.report.fleet import diagnose as words

START: Final = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
WELL: Final = ("none", "few_rows", "bulk_load", "vacuum_run", "analyze_run", "good_way")
SHARED: Final = "disk_throttled"
SINGLE: Final = ("row_lock_convoy", "cpu_hog", "missing_index")
ARRAYS: Final = 25
Made = TypeVar("Made")


def main() -> None:
    """Make the fleet, ship it, compact it, judge it by one and by two processes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--recordings", type=Path, required=True, help="recordings of benchmarks/lab_accuracy.py")
    options.add_argument("--out", type=Path, required=True, help="where the fleet is made; it must not be there yet")
    options.add_argument("--hosts", type=int, default=1000)
    options.add_argument("--minutes", type=float, default=5.0)
    options.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    asked = options.parse_args()
    asked.out.mkdir(parents=True)
    sick = planted(asked.hosts)
    timed("made", lambda: made(asked, sick))
    place = asked.out / "store"
    store = store_at(str(place))
    timed("shipped", lambda: [ship(lake, store, lake.name) for lake in sorted((asked.out / "lakes").iterdir())])
    print(f"  {sum(one.size_bytes for one in store.listed('incoming/')) / 2**20:.1f} MiB")
    done = timed("compacted", lambda: compact(store, timedelta()))
    print(f"  {done.bundles} bundles, {done.rows:,} rows, {done.files} files, {done.file_bytes / 2**20:.1f} MiB")
    labels(asked.hosts, place)
    timed("DuckDB, plain", lambda: by_duckdb(place))
    for workers in asked.workers:
        found = timed(f"judged by {workers}", lambda workers=workers: judged(place, asked.minutes, workers))
        told(found, sick)
    print(words.render(found))
    most = [resource.getrusage(who).ru_maxrss / 2**10 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"largest: {most[0]:.0f} MiB this process, {most[1]:.0f} MiB of the workers")


def planted(hosts: int) -> dict[str, str]:
    """The host's name and the fault of each sick one: all of the third array, two of each other kind."""
    size = array_of(hosts)
    sick = {name(2 * size + number): SHARED for number in range(size)}
    for number, fault in enumerate((*SINGLE, *SINGLE)):
        sick[name(3 * size + number * (hosts - 3 * size) // (2 * len(SINGLE)))] = fault
    return sick


def array_of(hosts: int) -> int:
    """How many hosts are on an array: forty of a thousand."""
    return max(hosts // ARRAYS, 4)


def name(number: int) -> str:
    """Of a host."""
    return f"db-{number:04}"


def made(asked: argparse.Namespace, sick: dict[str, str]) -> None:
    """A lake for each host."""
    chance = random.Random(1)  # noqa: S311 - a fleet, no secret
    moved = {fault: list(recordings(asked, fault)) for fault in (*WELL, SHARED, *SINGLE)}
    well = [one for fault in WELL for one in moved[fault]]
    for number in range(asked.hosts):
        host = name(number)
        tables = chance.choice(moved[sick[host]] if host in sick else well)
        for table, frame in tables.items():
            own = frame.with_columns(host=pl.lit(host)).to_arrow()
            folder = asked.out / "lakes" / host / "sealed" / table / START.date().isoformat()
            folder.mkdir(parents=True)
            write_checked(folder / f"{START:%Y%m%dT%H%M%SZ}-{number:08x}.parquet", own)


def recordings(asked: argparse.Namespace, fault: str) -> Iterator[dict[str, pl.DataFrame]]:
    """The lab's recordings of a fault, from START on, repeated to so many minutes."""
    for lake in sorted(asked.recordings.glob(f"{fault}-2*")):
        recorded = Lake(lake)
        span = recorded.span()
        if span is None:
            continue
        dataset = recorded.dataset(span[0] - timedelta(seconds=1), span[1])
        length = (span[1] - span[0]).total_seconds() + 1
        times = max(round(asked.minutes * 60 / length), 1)
        yield {table: repeated(dataset.frame(table), table, span[0], length, times) for table in dataset.tables}


def repeated(frame: pl.DataFrame, table: str, begin: datetime, length_s: float, times: int) -> pl.DataFrame:
    """The rows from START on, one after the other so many times; what lasts is told once."""
    shift = START + timedelta(seconds=1) - begin
    parts = [
        frame.with_columns(pl.col("ts") + shift + timedelta(seconds=length_s * number))
        for number in range(1 if table in LASTING else times)
    ]
    return pl.concat(parts).with_columns(pl.col("ts").dt.replace_time_zone(None).cast(pl.Datetime("us")))


def labels(hosts: int, place: Path) -> None:
    """Role, site and array of each host."""
    with (place / "labels.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("host", "role", "site", "array"))
        for number in range(hosts):
            rows.writerow((name(number), "oltp", f"site-{number % 3}", f"array-{number // array_of(hosts)}"))


def judged(place: Path, minutes: float, workers: int) -> FleetVerdict:
    """The verdict on all of it."""
    hosts = hosts_of(str(place), Chosen(), None, SILENT)
    asked = Interval(START, START + timedelta(minutes=minutes + 1), past_s=0.0)
    return diagnose_fleet(str(place), hosts, asked, Processes(workers))


def told(found: FleetVerdict, sick: dict[str, str]) -> None:
    """Who came out, against who was planted."""
    ill = {host.name for host, _ in found.ill}
    right, accused = ill & set(sick), ill - set(sick)
    print(f"  planted {len(sick)}, found {len(right)}, accused {len(accused)}, failed {len(found.failed)}")
    print(f"  missed {sorted(set(sick) - ill)}, accused {sorted(ill - set(sick))[:10]}")


def by_duckdb(place: Path) -> None:
    """What any engine does with these files: the mean of a figure of each host."""
    with duckdb.connect() as connection:
        files = f"{place}/table=cpu/*/*/*.parquet"
        query = f"SELECT host, avg(idle_pct) FROM read_parquet('{files}') GROUP BY host"  # noqa: S608 - our own path
        print(f"  {len(connection.execute(query).fetchall())} hosts")


def timed(what: str, do: Callable[[], Made]) -> Made:
    """Do it, and say how long it took."""
    began_s = time.perf_counter()
    result: Any = do()
    print(f"{what}: {time.perf_counter() - began_s:.1f} s", flush=True)
    return result


if __name__ == "__main__":
    main()
