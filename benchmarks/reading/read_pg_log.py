"""How fast a PostgreSQL log is read: Doctor D beside pgBadger, on the same file, with the same counts.

    apt-get install pgbadger
    .venv/bin/python benchmarks/reading/read_pg_log.py

A private server runs pgbench for some seconds and logs every statement, its temporary files, checkpoints, connections
and errors; its log is repeated, with times that go on, until it has the size asked for. Then, several times in turn:
reading alone on one core and on two (`read_file`, without the start of Python), and `pgbadger --extension json` with
one job and with two, by the wall clock. The counts of both must agree. The figures are medians.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support" / "servers"))
from postgres_workload import log, logging_server

PREFIX = "%m [%p]: user=%u,db=%d,app=%a,client=%h "
TIME = re.compile(rb"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})", re.MULTILINE)
READING = """
import sys, time, json
import doctord.read.server_log as server_log
from doctord.read.formats import read_file
from pathlib import Path
server_log.THREADS = {threads}
began = time.perf_counter()
reading = read_file(Path(sys.argv[1]))
took = time.perf_counter() - began
import pyarrow as pa, pyarrow.compute as pc
def total(table, column, **wanted):
    sum_ = 0.0
    for batch in reading.batches:
        if batch.table == table:
            rows = pa.table(pa.record_batch(batch))
            for key, value in wanted.items():
                rows = rows.filter(pc.equal(rows[key], value))
            sum_ += pc.sum(pc.multiply(rows[column], rows["interval_s"])).as_py() or 0.0
    return round(sum_)
print(json.dumps({{
    "seconds": took,
    "queries": total("statement", "calls_per_s"),
    "connections": total("statistic", "value", name="log.connections_received"),
    "temporary files": total("statistic", "value", name="pg_stat_database.temp_files"),
    "checkpoints": total("statistic", "value", name="log.checkpoints_complete"),
    "errors": total("statistic", "value", name="log.errors"),
}}))
"""


def main() -> None:
    """Make the log, measure, compare the counts, and print a table."""
    arguments = _arguments()
    if shutil.which("pgbadger") is None:
        sys.exit("pgbadger is not installed: apt-get install pgbadger")
    with tempfile.TemporaryDirectory(prefix="doctord-pg-log-", dir="/var/tmp") as folder:
        long = Path(folder) / "postgresql.log"
        _lengthen(_logged(arguments.seconds), long, arguments.megabytes)
        os.sync()
        megabytes = long.stat().st_size / 1e6
        contenders = {
            "doctord, one core": lambda: _doctord(long, 1),
            "doctord, two cores": lambda: _doctord(long, 2),
            "pgbadger, one core": lambda: _pgbadger(long, 1),
            "pgbadger, two cores": lambda: _pgbadger(long, 2),
        }
        measured: dict[str, list[float]] = {name: [] for name in contenders}
        counted = {}
        for _ in range(arguments.rounds):
            for name, run in contenders.items():
                counts = run()
                measured[name].append(megabytes / counts.pop("seconds"))
                counted[name] = counts
    _print(megabytes, measured, counted)


def _print(megabytes: float, measured: dict[str, list[float]], counted: dict[str, dict[str, float]]) -> None:
    rates = {name: statistics.median(runs) for name, runs in measured.items()}
    print(f"{megabytes:.0f} MB; medians of {len(next(iter(measured.values())))} rounds\n")
    print("| what | MB/s | times pgbadger on as many cores |\n|---|---|---|")
    for name, rate in rates.items():
        peer = rates[f"pgbadger,{name.partition(',')[2]}"]
        print(f"| {name} | {rate:.1f} | {rate / peer:.1f} |")
    print("\ncounts: ", counted["doctord, one core"])
    for name, counts in counted.items():
        assert counts == counted["doctord, one core"], f"{name} counts otherwise: {counts}"


def _logged(seconds: int) -> bytes:
    """The log of a server under pgbench, with some of everything."""
    with logging_server(15, "stderr", PREFIX) as server:
        pgbench = ["pgbench", "-h", str(server.socket_dir), "-p", str(server.port), "-U", "postgres", "postgres"]
        subprocess.run([*pgbench, "-i", "-q", "-s", "5"], check=True, capture_output=True)
        subprocess.run([*pgbench, "-c", "2", "-T", str(seconds)], check=True, capture_output=True)
        server.execute("SELECT aid FROM pgbench_accounts ORDER BY filler, bid, abalance, aid LIMIT 3", "CHECKPOINT")
        for _ in range(3):
            with suppress(psycopg.Error):
                server.execute("SELECT 1 / 0")
        server.stop()
        return log(server).read_bytes()


def _lengthen(short: bytes, long: Path, megabytes: int) -> None:
    """The log again and again: each time it begins where it ended before."""
    times = [datetime.fromisoformat(found.decode()) for found in (TIME.findall(short)[0], TIME.findall(short)[-1])]
    length = times[1] - times[0] + timedelta(seconds=1)
    with long.open("wb") as file:
        number = 0
        while file.tell() < megabytes * 1e6:
            file.write(TIME.sub(lambda found, by=number * length: _later(found[1], by), short))
            number += 1


def _later(time_of: bytes, by: timedelta) -> bytes:
    return (datetime.fromisoformat(time_of.decode()) + by).isoformat(" ", "milliseconds").encode()


def _doctord(file: Path, threads: int) -> dict[str, float]:
    command = [sys.executable, "-c", READING.format(threads=threads), str(file)]
    if threads == 1:
        command = ["taskset", "--cpu-list", "0", *command]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def _pgbadger(file: Path, jobs: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        options = ["--quiet", "--format", "stderr", "--prefix", PREFIX, "--jobs", str(jobs), "--extension", "json"]
        began = time.perf_counter()
        subprocess.run(["pgbadger", *options, "--outfile", out, file], check=True, capture_output=True)
        seconds = time.perf_counter() - began
        report = json.loads(out.read_text())
    server, errors = "postgres", ("ERROR:", "FATAL:", "PANIC:")
    return {
        "seconds": seconds,
        "queries": report["overall_stat"]["queries_number"],
        "connections": report["connection_info"][server]["count"],
        "temporary files": report["tempfile_info"][server]["count"],
        "checkpoints": sum(report["checkpoint_info"]["starting"].values()),
        # It takes "database system was shut down" for an error.
        "errors": sum(e["count"] for e in report["error_info"][server].values() if e["error"][0].startswith(errors)),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=10, help="how long pgbench runs for the log that is repeated")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
