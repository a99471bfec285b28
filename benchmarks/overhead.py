"""What recording costs a busy PostgreSQL: the throughput of pgbench with `doctord record` beside it and without.

    .venv/bin/python benchmarks/overhead.py

Both workloads run as fast as they can on a private server whose data fit in memory: the worst case for an observer.
With and without alternate (A B, B A, ...), so that what drifts on the machine meets both; each pair gives one ratio,
and the median of the ratios is the figure. As a control, the same is done with nothing beside pgbench in either: the
spread of that ratio is the machine's own noise. About two minutes. Run it on a machine that does nothing else.
"""

import argparse
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from doctord.lab import folder
from doctord.lab.binaries import find_binaries, version_of
from doctord.lab.server import Server, running_server
from doctord.lab.template import provide_cluster

WORKLOADS = {"select-only": ["--builtin=select-only"], "tpcb-like": ["--builtin=tpcb-like", "--no-vacuum"]}
TPS = re.compile(r"tps = ([\d.]+) \(without")


def main() -> None:
    """Measure, and print one line of a table for each workload."""
    arguments = _arguments()
    binaries = find_binaries()
    print(f"PostgreSQL {version_of(binaries)}, {arguments.clients} clients, runs of {arguments.seconds} s")
    print("| workload | beside it | throughput kept, median | range | tps without, median |\n|---|---|---|---|---|")
    with folder.private_folder() as home:
        provide_cluster(binaries, 10, home / "data")
        with running_server(binaries, home, home / "data", {}) as server:
            for workload in arguments.workloads.split(","):
                _throughput(server, workload, 2, arguments.clients)  # warm up
                for beside in ("nothing (control)", "doctord record"):
                    print(_line(server, workload, beside, arguments), flush=True)


def _line(server: Server, workload: str, beside: str, arguments: argparse.Namespace) -> str:
    orders = ((False, True), (True, False))
    pairs = [_pair(server, workload, beside, orders[number % 2], arguments) for number in range(arguments.pairs)]
    kept = [measured / plain for plain, measured in pairs]
    plain = statistics.median(plain for plain, _ in pairs)
    spread = f"{min(kept):.3f} to {max(kept):.3f}"
    return f"| {workload} | {beside} | {statistics.median(kept):.3f} | {spread} | {plain:.0f} |"


def _pair(
    server: Server,
    workload: str,
    beside: str,
    order: tuple[bool, bool],
    arguments: argparse.Namespace,
) -> tuple[float, float]:
    """Throughput without and with the observer, measured one after the other in that order."""
    found: dict[bool, float] = {}
    for observed in order:
        observer = _recording(server) if observed and beside == "doctord record" else nullcontext()
        with observer:
            found[observed] = _throughput(server, workload, arguments.seconds, arguments.clients)
    return found[False], found[True]


def _throughput(server: Server, workload: str, seconds: float, clients: int) -> float:
    command = [server.binaries / "pgbench", *WORKLOADS[workload], "--protocol=prepared", f"--time={seconds:g}"]
    done = subprocess.run([*command, f"--client={clients}", server.dsn], capture_output=True, text=True, check=True)
    found = TPS.search(done.stdout)
    assert found, done.stdout
    return float(found[1])


@contextmanager
def _recording(server: Server) -> Iterator[None]:
    """`doctord record` of the host at 1 s and the server's sessions at 10 Hz, into a lake that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="doctord-overhead-") as lake:
        doctord = Path(sys.executable).with_name("doctord")
        command = [doctord, "record", "--quiet", "--lake", lake, "--dsn", server.dsn]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as recorder:
            time.sleep(2)  # its start is not what is measured
            try:
                yield
                assert recorder.poll() is None, "doctord record ended early"
            finally:
                recorder.send_signal(signal.SIGTERM)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=5, help="pairs of runs for each line of the table")
    parser.add_argument("--seconds", type=int, default=3, help="length of each run of pgbench")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
