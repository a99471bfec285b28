"""How long `doctord serve` takes to answer of a lake of seven days: the first paint, each re-slice, each zoom.

The lake repeats four recordings of the lab (healthy, a row lock convoy of 20 sessions, a CPU hog, a chain of advisory
locks), an hour each in turn, with 340 processes: host and processes each second, sessions ten times a second.

    .venv/bin/python benchmarks/serve.py [--lake FOLDER] [--runs 7] [--hours 168] [--make 40]
    .venv/bin/python benchmarks/serve.py --clients 50

The lake takes some minutes to make; `--lake` keeps it, and goes on where it was left. `--make` makes so many hours of
it, and ends. `--clients` measures something else: what so many open pages cost a server that records this host.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pyarrow as pa

from doctord.dataset.dataset import arrow_schema
from doctord.dataset.tables import LASTING, TABLES
from doctord.lake.parquet_file import write_checked
from doctord.lake.place import LakePaths, new_name
from doctord.lake.query import Lake

DOCTORD = Path(sys.executable).with_name("doctord")
RECORDINGS = Path(__file__).parents[1] / "tests/lab/recordings"
TURNS = ("none", "row_lock_convoy", "cpu_hog", "advisory_lock_chain")
BEGIN = datetime(2026, 11, 2, tzinfo=UTC)
AN_HOUR, RECORDED = timedelta(hours=1), timedelta(seconds=15)
PROCESSES = 340
SERVER = "postgresql:5432"


def main() -> None:
    """Make the lake where it is not there, then ask."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lake", type=Path, help="where it is, or is to be kept")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--hours", type=int, default=168)
    parser.add_argument("--make", type=int, help="make so many hours of the lake, and end")
    parser.add_argument("--clients", type=int, help="how many live pages to open, instead")
    arguments = parser.parse_args()
    if arguments.clients:
        crowd(arguments.clients)
        return
    with place(arguments.lake) as lake:
        make(lake, arguments.hours, arguments.make or arguments.hours)
        if not arguments.make:
            sum_up(lake)
            ask(lake, arguments.runs, BEGIN + arguments.hours * AN_HOUR)


@contextmanager
def place(kept: Path | None) -> Iterator[Path]:
    """Where the lake is: the named folder, or one that is thrown away."""
    if kept:
        yield kept
        return
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder) / "lake"


def make(lake: Path, hours: int, most: int) -> None:
    """So many more hours of the lake, until it has them all."""
    made = sum(1 for _ in LakePaths(lake).sealed.glob("cpu/*/*.parquet"))
    todo = range(made, min(hours, made + most))
    recorded = {turn: hour_of(TURNS[turn]) for turn in sorted({number % len(TURNS) for number in todo})}
    for number in todo:
        of_hour = new_name(BEGIN + number * AN_HOUR)
        for name, rows in recorded[number % len(TURNS)].items():
            if name not in LASTING or not number:
                seal(lake, name, shifted(rows, number * AN_HOUR), of_hour)


def seal(lake: Path, table: str, rows: pl.DataFrame, name: str) -> None:
    """An hour of a table as the recorder seals it: under the name of its segment."""
    schema = arrow_schema(TABLES[table])
    zoneless = [pa.timestamp("us") if pa.types.is_timestamp(kind) else kind for kind in schema.types]
    told = rows.to_arrow().cast(schema).cast(pa.schema(list(zip(schema.names, zoneless, strict=True))))
    folder = LakePaths(lake).sealed / table / rows["ts"][0].date().isoformat()
    folder.mkdir(parents=True, exist_ok=True)
    write_checked(folder / f"{name}.parquet", told)


def shifted(rows: pl.DataFrame, by: timedelta) -> pl.DataFrame:
    """The same rows at another time."""
    return rows.with_columns(pl.col("ts") + by)


def sum_up(lake: Path) -> None:
    """What a recorder, and a server that has run for a while, have done long before anybody asks."""
    for module, arguments in (("roll_up", ["7948800"]), ("over_time.sum_load", [])):
        began = time.monotonic()
        subprocess.run([sys.executable, "-m", f"doctord.app.{module}", lake, *arguments], check=True)
        print(f"{module}: {time.monotonic() - began:.0f} s", file=sys.stderr)


def hour_of(recording: str) -> dict[str, pl.DataFrame]:
    """The rows of a recording again and again for an hour from `BEGIN` on."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(RECORDINGS / f"{recording}.tar") as file:
            file.extractall(folder, filter="data")
        span = Lake(Path(folder)).span()
        assert span
        held = Lake(Path(folder)).dataset(span[1] - RECORDED, span[1])
        frames = {name: held.frame(name) for name in held.tables}
    first = span[1] - RECORDED
    return {name: repeated(name, rows, first) for name, rows in frames.items()}


def repeated(name: str, rows: pl.DataFrame, first: datetime) -> pl.DataFrame:
    """An hour of the rows of a table, of one server, with as many processes as there are to be."""
    if "db" in rows.columns:
        rows = rows.with_columns(pl.when(pl.col("db").is_not_null()).then(pl.lit(SERVER)).alias("db"))
    if name in LASTING:
        return shifted(rows, BEGIN - first)
    if name == "process":
        times = -(-PROCESSES // rows["pid"].n_unique())
        rows = pl.concat(rows.with_columns(pl.col("pid") + 100_000 * number) for number in range(times))
    many = (shifted(rows, BEGIN - first + number * RECORDED) for number in range(AN_HOUR // RECORDED))
    return pl.concat(many).sort([*TABLES[name].entity, "ts"])


def ask(lake: Path, runs: int, end: datetime) -> None:
    """Time the questions of a page, and print what they took: the first time, and the median of the others."""
    whole = f"from={end - timedelta(days=7):%FT%TZ}&to={end:%FT%TZ}"
    hour = f"from={end - 6.5 * AN_HOUR:%FT%TZ}&to={end - 5.5 * AN_HOUR:%FT%TZ}"
    quarter = f"from={end - 6.5 * AN_HOUR:%FT%TZ}&to={end - 6.25 * AN_HOUR:%FT%TZ}"
    questions = {
        "servers": "servers?",
        "7 days by wait class": f"load?{whole}&buckets=1200",
        "7 days by statement": f"load?{whole}&buckets=1200&by=statement",
        "7 days by user, where a class": f"load?{whole}&buckets=1200&by=user&where=wait_class:Application",
        "7 days, skews": f"load/dimensions?{whole}",
        "an hour by event": f"load?{hour}&buckets=1200&by=event",
        "15 minutes by session, where an event": f"load?{quarter}&buckets=1200&by=session&where=event:tuple",
        "an hour, blocking": f"blocking?{hour}",
        "7 days of CPU": f"series?{whole}&buckets=1200&figure=cpu_used_pct",
        "an hour of CPU": f"series?{hour}&buckets=1200&figure=cpu_used_pct",
    }
    size = sum(file.stat().st_size for file in lake.rglob("*.parquet"))
    print(
        f"A lake of {size / 1e9:.2f} GB\n\n| question | first | median of the next {runs} | most |\n|---|---|---|---|"
    )
    with served(lake) as (address, process):
        for name, question in questions.items():
            took = [timed(f"{address}api/v1/{question}")]
            took += [timed(f"{address}api/v1/{different(question, number)}") for number in range(1, runs + 1)]
            later = took[1:]
            print(f"| {name} | {took[0]:.0f} ms | {statistics.median(later):.0f} ms | {max(later):.0f} ms |")
        print(f"\nResident: {resident_mib(process):.0f} MiB")


def different(question: str, number: int) -> str:
    """The same question with fewer buckets: its answer was not given before."""
    return question.replace("buckets=1200", f"buckets={1200 - number}")


def timed(address: str) -> float:
    """Milliseconds until the answer is there whole."""
    began = time.monotonic()
    with urllib.request.urlopen(address) as answer:  # noqa: S310 - our own server
        json.loads(answer.read())
    return (time.monotonic() - began) * 1000


def crowd(clients: int) -> None:
    """Open live pages: each asks for the load of 15 minutes as often as it is told that there is more."""
    with (
        tempfile.TemporaryDirectory(dir="/var/tmp") as folder,
        served(Path(folder) / "lake", "--record") as (address, process),
    ):
        time.sleep(15)
        lags, stop = list[float](), time.monotonic() + 40
        pages = [threading.Thread(target=page, args=(address, stop, lags), daemon=True) for _ in range(clients)]
        for one in pages:
            one.start()
        time.sleep(8)
        begun, spent = time.monotonic(), cpu_s(process)
        time.sleep(25)
        share = (cpu_s(process) - spent) / (time.monotonic() - begun)
        for one in pages:
            one.join()
        told = f"{statistics.median(lags):.2f} s, {max(lags):.2f} s at most"
        print("| pages | CPU of the server | resident | age of the newest row when told |\n|---|---|---|---|")
        print(f"| {clients} | {share:.0%} of one | {resident_mib(process):.0f} MiB | {told} |")


def page(address: str, stop: float, lags: list[float]) -> None:
    """A page that is open until a moment."""
    with urllib.request.urlopen(f"{address}api/v1/stream") as stream:  # noqa: S310 - our own server
        while time.monotonic() < stop:
            line = stream.readline()
            if line.startswith(b"data: "):
                newest = datetime.fromisoformat(json.loads(line.removeprefix(b"data: "))["until"]["lake"])
                lags.append((datetime.now(UTC) - newest).total_seconds())
                timed(f"{address}api/v1/load?from=-15m&buckets=600")


def cpu_s(process: int) -> float:
    """CPU time that a process took, without those that it started."""
    told = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(process: int) -> float:
    """What of a process is in memory."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if "VmRSS" in line).split()[1]) / 1024


@contextmanager
def served(lake: Path, *words: str) -> Iterator[tuple[str, int]]:
    """A server of the lake: its address and process."""
    command = [DOCTORD, "serve", "--lake", lake, "--port", "0", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().rpartition(" ")[2].strip(), server.pid
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
