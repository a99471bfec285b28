"""Database time as Doctor D tells it against what the clients of pgbench saw, from 1 to 200 clients.

Each client of pgbench is a thread of its own, so that its wait for an answer ends when the kernel wakes that thread.
Transactions under way are the clients where each begins the next one at once (Little's law with latency times rate:
pgbench's own progress lines are late when it starves), else rate times latency, without the lag behind the rate. Less
the time that pgbench's own threads were on a CPU or ready to run, which starve on the same CPUs and are no time of the
database, that is what the clients waited for: from the moment that a backend is woken until it has answered. At a rate
pgbench also wakes up between transactions, so that the difference is not told there.

    .venv/bin/python benchmarks/database_time.py --seconds 15 --out /var/tmp/database-time.md
"""

import argparse
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from doctord.analyse.time import active_sessions, time_model
from doctord.app.check_up import check_up
from doctord.lab.binaries import find_binaries, version_of
from doctord.lab.host import folder
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer, running_server
from doctord.lab.template import provide_cluster

CLIENTS = (1, 4, 20, 50, 200)
WORKLOADS = ("select-only", "tpcb-like")
WARM_UP_S = 3.0
PROGRESS = re.compile(
    r"progress: ([\d.]+) s, ([\d.]+) tps, lat ([\d.]+) ms stddev [\d.]+(?:, \d+ failed)?(?:, lag ([\d.]+) ms)?"
)
HEADING = (
    "| workload | clients | rate | under way | pgbench | clients saw | Doctor D | off | samples | CPU | run queue |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(slots=True)
class Threads:
    """CPU and run-queue seconds of a process' threads, read again and again."""

    pid: int
    readings: list[tuple[float, float]] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Read until told to stop."""
        while not self._ended.wait(0.25):
            self.readings.append((time.time(), self._spent_s()))

    def stop(self) -> None:
        """Read no more."""
        self._ended.set()

    def between(self, since: float, until: float) -> float:
        """Seconds per second between two times."""
        inside = [one for one in self.readings if since <= one[0] <= until]
        (first, before), (last, after) = inside[0], inside[-1]
        return (after - before) / (last - first)

    def _spent_s(self) -> float:
        files = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(sum(map(int, file.read_text().split()[:2])) for file in files) / 1e9


@contextmanager
def pgbench(server: PrivateServer, workload: str, clients: int, rate: int | None, report: Path) -> Iterator[Threads]:
    """A load with a thread for each client, and what its threads spend."""
    options = [f"--builtin={workload}", "--no-vacuum", "--time=86400", "--progress=1", "--progress-timestamp"]
    options += ["--protocol=prepared", f"--client={clients}", f"--jobs={clients}"]
    options += [f"--rate={rate}"] if rate else []
    with running([server.binaries / "pgbench", *options, server.dsn], report) as process:
        threads = Threads(process.pid)
        reader = threading.Thread(target=threads.run)
        time.sleep(WARM_UP_S)
        reader.start()
        try:
            yield threads
            assert process.poll() is None, report.read_text(errors="replace")[-500:]
        finally:
            threads.stop()
            reader.join()


def waited(report: Path, since: float, until: float) -> float:
    """Transactions under way, on average: transactions per second times latency, the lag behind the rate left out."""
    seconds = [tuple(float(part or 0) for part in found) for found in PROGRESS.findall(report.read_text())]
    inside = [tps * (latency_ms - lag_ms) / 1000 for at, tps, latency_ms, lag_ms in seconds if since < at <= until]
    return sum(inside) / len(inside)


def line(server: PrivateServer, workload: str, clients: int, rate: int | None, seconds: float) -> str:
    """One load, looked at from both sides."""
    report = server.folder / f"{workload}-{clients}-{rate}.txt"
    with pgbench(server, workload, clients, rate, report) as threads:
        since = time.time()
        examination = check_up(seconds, [server.dsn], probe=False)
        until = since + seconds
        time.sleep(1)
    dataset = examination.seen.dataset
    model = time_model(dataset)
    own = threads.between(since + 1, until)
    under_way = waited(report, since + 1, until) if rate else float(clients)
    saw = under_way - own
    sampled = float(active_sessions(dataset)["interval_s"].sum()) / model.seconds
    told = model.seconds_per_second
    cpu, queue = (
        sum(part.seconds_per_second for part in model.shares if part.event == name) for name in ("CPU", "run queue")
    )
    off = "" if rate else f"{told / saw - 1:+.0%}"
    figures = (under_way, own, saw, told, off, sampled, cpu, queue)
    texts = [one if isinstance(one, str) else f"{one:.2f}" for one in figures]
    return f"| {workload} | {clients} | {f'{rate}/s' if rate else 'all it can'} | {' | '.join(texts)} |"


def main() -> None:
    """Print the table, and write it where that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--clients", type=int, nargs="*", default=list(CLIENTS))
    parser.add_argument("--workloads", nargs="*", default=list(WORKLOADS))
    parser.add_argument("--rate", type=int, default=400, help="of the further run of most clients at a rate")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    binaries = find_binaries()
    runs = [(workload, clients, None) for workload in arguments.workloads for clients in arguments.clients]
    runs += [(workload, max(arguments.clients), arguments.rate) for workload in arguments.workloads]
    lines = [HEADING]
    print(f"PostgreSQL {version_of(binaries)}\n{HEADING}")
    with folder.private_folder() as home:
        provide_cluster(binaries, 10, home / "data")
        with running_server(binaries, home, home / "data", {"max_connections": "300"}) as server:
            for workload, clients, rate in runs:
                lines.append(line(server, workload, clients, rate, arguments.seconds))
                print(lines[-1], flush=True)
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
