"""How long a verdict on a recorded hour takes, and how soon the command line answers.

    .venv/bin/python benchmarks/diagnose.py

A real server with a row-lock convoy and 300 further processes is observed for twenty seconds; the rows are repeated,
shifted in time, until they fill a lake of one hour. Then whole processes are timed, median of five: by the clock, and
by the CPU time that they take (user and system), which is the same on a busy machine. There is no peer that does this
work; `python -c pass` is printed as the floor of any Python program here.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from doctord.collect.core.schedule import collect_for
from doctord.collect.host import Host
from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import TABLES
from doctord.diagnose.finding import Diagnosis
from doctord.lab.fault import all_faults
from doctord.lab.run import run
from doctord.lab.server import PrivateServer
from doctord.lake.parquet_file import write_checked

OBSERVED_S, HOUR_S, SLEEPERS, RUNS = 20, 3600, 300, 5
DOCTORD = str(Path(sys.executable).with_name("doctord"))


def main() -> None:
    """Build the hour, time the commands, print the table."""
    with tempfile.TemporaryDirectory(prefix="doctord-bench-") as folder:
        dataset = observed()
        fill(Path(folder), dataset)
        assert dataset.since is not None
        since = dataset.since.isoformat()
        until = (dataset.since + timedelta(seconds=HOUR_S)).isoformat()
        hour = [DOCTORD, "diagnose", "--lake", folder, "--from", since, "--to", until]
        print("| command | median, s | CPU, s | target, s |\n|---|---|---|---|")
        print(f"| doctord diagnose, one hour, 340 processes | {timed(hour)} | 1 |")
        print(f"| doctord --help | {timed([DOCTORD, '--help'])} | 0.3 |")
        print(f"| python -c pass | {timed([sys.executable, '-c', 'pass'])} | |")


def observed() -> Dataset:
    """Twenty seconds of a server under a row-lock convoy, with many idle processes beside it."""
    datasets: list[Dataset] = []

    def look(server: PrivateServer) -> Diagnosis | None:
        datasets.append(Dataset.from_batches(collect_for(Host(dsns=[server.dsn]).collectors(), OBSERVED_S)))
        return None

    with ExitStack() as stack:
        for _ in range(SLEEPERS):
            sleeper = subprocess.Popen(["sleep", "600"])
            stack.callback(sleeper.wait)
            stack.callback(sleeper.kill)
        outcome = run(all_faults()["row_lock_convoy"], look)
    if outcome.skipped:
        sys.exit(f"the lab skipped the fault: {outcome.skipped}")
    return datasets[0]


def fill(lake: Path, dataset: Dataset) -> None:
    """Write the dataset again and again, shifted, as sealed files of ten minutes, as the lake would have them."""
    for name, table in dataset.tables.items():
        order = [(column, "ascending") for column in (*TABLES[name].entity, "ts")]
        for part in range(6):
            shifts = range(part * HOUR_S // 6, (part + 1) * HOUR_S // 6, OBSERVED_S)
            moved = pa.concat_tables([shifted(table, seconds) for seconds in shifts]).sort_by(order)
            plain = [(f.name, pa.timestamp("us") if pa.types.is_timestamp(f.type) else f.type) for f in moved.schema]
            begun = moved["ts"][0].as_py()
            folder = lake / "sealed" / name / f"{begun:%Y-%m-%d}"
            folder.mkdir(parents=True, exist_ok=True)
            write_checked(folder / f"{begun:%Y%m%dT%H%M%SZ}-{part:08x}.parquet", moved.cast(pa.schema(plain)))
    (lake / "open").mkdir()


def shifted(table: pa.Table, seconds: int) -> pa.Table:
    """The table, so many seconds later."""
    later = pc.add(table["ts"], pa.scalar(timedelta(seconds=seconds), pa.duration("us")))
    return table.set_column(table.schema.get_field_index("ts"), "ts", later)


def timed(command: list[str]) -> str:
    """Median wall time and CPU time of a command over some runs, after one that is not counted, as cells of a table."""
    runs = [once(command) for _ in range(RUNS + 1)]
    wall_s, cpu_s = (statistics.median(seconds) for seconds in zip(*runs[1:], strict=True))
    return f"{wall_s:.2f} | {cpu_s:.2f}"


def once(command: list[str]) -> tuple[float, float]:
    """Wall time and CPU time of a command, in seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    wall_s, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode not in {0, 1}:
        sys.exit(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stderr}")
    return wall_s, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
