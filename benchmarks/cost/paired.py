"""Throughput of pgbench with an observer beside it and without, in pairs: what the overhead benchmarks share.

With and without alternate (A B, B A, ...), so that what drifts on the machine meets both; each pair gives one ratio,
and the median of the ratios is the figure. As a control, the same is done with nothing beside pgbench in either: the
spread of that ratio is the machine's own noise.
"""

import argparse
import re
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from doctord.lab.binaries import find_binaries, version_of
from doctord.lab.host import folder
from doctord.lab.server import PrivateServer, running_server
from doctord.lab.template import provide_cluster

Observer = Callable[[PrivateServer], AbstractContextManager[None]]

WORKLOADS = {"select-only": ["--builtin=select-only"], "tpcb-like": ["--builtin=tpcb-like", "--no-vacuum"]}
TPS = re.compile(r"tps = ([\d.]+) \(without")


def parser(doc: str | None) -> argparse.ArgumentParser:
    """The options that every benchmark of this kind has."""
    made = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    made.add_argument("--pairs", type=int, default=5, help="pairs of runs for each line of the table")
    made.add_argument("--seconds", type=int, default=3, help="length of each run of pgbench")
    made.add_argument("--clients", type=int, default=4)
    return made


def print_table(workloads: list[str], observers: Mapping[str, Observer], arguments: argparse.Namespace) -> None:
    """Measure each observer on each workload, and print a line for each."""
    print(f"PostgreSQL {version_of(find_binaries())}, {arguments.clients} clients, runs of {arguments.seconds} s")
    print("| workload | beside it | throughput kept, median | range | tps without, median |\n|---|---|---|---|---|")
    with private_server() as server:
        for workload in workloads:
            _throughput(server, workload, 2, arguments.clients)  # warm up
            for name, observer in {"nothing (control)": _nothing, **observers}.items():
                print(_line(server, workload, name, observer, arguments), flush=True)


@contextmanager
def beside(command: list[str], attach_s: float) -> Iterator[None]:
    """A program beside the block, which must not end before it, and is told to in the end as by Ctrl-C."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as observer:
        time.sleep(attach_s)  # its start is not what is measured
        try:
            yield
            assert observer.poll() is None, f"{command} ended early"
        finally:
            observer.send_signal(signal.SIGINT)


@contextmanager
def private_server() -> Iterator[PrivateServer]:
    """A server in a temporary folder with pgbench's tables at scale 10, which fit in memory."""
    binaries = find_binaries()
    with folder.private_folder() as home:
        provide_cluster(binaries, 10, home / "data")
        with running_server(binaries, home, home / "data", {}) as server:
            yield server


def _nothing(_: PrivateServer) -> AbstractContextManager[None]:
    return nullcontext()


def _line(server: PrivateServer, workload: str, name: str, observer: Observer, arguments: argparse.Namespace) -> str:
    orders = ((_nothing, observer), (observer, _nothing))
    pairs = []
    for number in range(arguments.pairs):
        order = orders[number % 2]
        found = [_observed(server, workload, beside, arguments) for beside in order]
        pairs.append(found if order[0] is _nothing else found[::-1])
    kept = [measured / plain for plain, measured in pairs]
    plain = statistics.median(plain for plain, _ in pairs)
    spread = f"{min(kept):.3f} to {max(kept):.3f}"
    return f"| {workload} | {name} | {statistics.median(kept):.3f} | {spread} | {plain:.0f} |"


def _observed(server: PrivateServer, workload: str, observer: Observer, arguments: argparse.Namespace) -> float:
    with observer(server):
        return _throughput(server, workload, arguments.seconds, arguments.clients)


def _throughput(server: PrivateServer, workload: str, seconds: float, clients: int) -> float:
    command = [server.binaries / "pgbench", *WORKLOADS[workload], "--protocol=prepared", f"--time={seconds:g}"]
    done = subprocess.run([*command, f"--client={clients}", server.dsn], capture_output=True, text=True, check=True)
    found = TPS.search(done.stdout)
    assert found, done.stdout
    return float(found[1])
