"""How long clients wait to be accepted: what a sample of the host says, beside the clients' own clocks.

    .venv/bin/python benchmarks/cost/accept_delay.py

Three servers on this host accept one connection after the other, each at a pace of its own: two on TCP, one on a UNIX
socket. Twelve clients of each connect again as soon as they were accepted, and time that. Ten runs of delays from
0.2 to 5 s; the figure of the doctor is the mean of `listen.accept_delay` of samples one second apart, in the same time.
"""

import argparse
import multiprocessing
import socket
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import closing, suppress
from pathlib import Path

import pyarrow as pa

from doctord.collect.linux import LinuxCollector

CLIENTS = 12
SHORTEST_S, LONGEST_S = 0.2, 5.0
PACES = (1.0, 1.6, 0.7)  # of the first on TCP, the second, and the one on a UNIX socket
Address = tuple[str, int] | str


def main() -> None:
    """Run, and print a line of a table for each run and socket."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    print("| run | socket | clients' own clock, s | listen.accept_delay, s | off by |\n|---|---|---|---|---|")
    worst = 0.0
    for run in range(runs):
        delay_s = SHORTEST_S * (LONGEST_S / SHORTEST_S) ** (run / max(runs - 1, 1))
        for kind, own_s, told_s in measured([min(max(delay_s * pace, SHORTEST_S), LONGEST_S) for pace in PACES]):
            off = told_s / own_s - 1
            worst = max(worst, abs(off))
            print(f"| {run + 1} | {kind} | {own_s:.3f} | {told_s:.3f} | {off:+.1%} |", flush=True)
    print(f"\nworst: {worst:.1%}")


def measured(delays_s: list[float]) -> list[tuple[str, float, float]]:
    """What kind of socket, the mean wait by its clients, and by the doctor."""
    with tempfile.TemporaryDirectory() as folder:
        listening = [listener("TCP"), listener("TCP"), listener(str(Path(folder) / "socket"))]
        waits: dict[int, list[tuple[float, float]]] = defaultdict(list)
        over = threading.Event()
        servers, clients = [], []
        for number, (server, delay_s) in enumerate(zip(listening, delays_s, strict=True)):
            servers.append(multiprocessing.Process(target=accept, args=(server, delay_s / CLIENTS), daemon=True))
            servers[-1].start()
            address: Address = server.getsockname()
            for _ in range(CLIENTS):
                clients.append(threading.Thread(target=connect, args=(address, waits[number], over), daemon=True))
                clients[-1].start()
        time.sleep(2 * max(delays_s))
        began = time.monotonic()
        told = watched(max(15.0, 4 * max(delays_s)))
        over.set()
        for process in servers:
            process.terminate()
            process.join()
        results = []
        for number, server in enumerate(listening):
            name = server.getsockname()
            entity = name if isinstance(name, str) else f"{name[0]}:{name[1]}"
            own = [wait_s for ended, wait_s in waits[number] if ended >= began]
            results.append((server.family.name, statistics.mean(own), statistics.mean(told[entity])))
            server.close()
        return results


def listener(where: str) -> socket.socket:
    """A listening socket, on TCP or at a path."""
    server = socket.socket(socket.AF_INET if where == "TCP" else socket.AF_UNIX)
    server.bind(("127.0.0.1", 0) if where == "TCP" else where)
    server.listen(100)
    return server


def accept(server: socket.socket, gap_s: float) -> None:
    """Accept one connection after the other, with a pause after each."""
    while True:
        connection, _ = server.accept()
        connection.close()
        time.sleep(gap_s)


def connect(address: Address, waits: list[tuple[float, float]], over: threading.Event) -> None:
    """Connect again and again; when each wait ended, and how long it took."""
    while not over.is_set():
        with socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET) as client, suppress(OSError):
            began = time.monotonic()
            client.connect(address)
            client.recv(1)  # it closes as soon as it has accepted
            waits.append((time.monotonic(), time.monotonic() - began))


def watched(length_s: float) -> dict[str, list[float]]:
    """The delays that samples told, by socket."""
    told = defaultdict(list)
    until = time.monotonic() + length_s
    with closing(LinuxCollector()) as collector:
        while time.monotonic() < until:
            for batch in collector.sample():
                if batch.table == "statistic":
                    for row in pa.record_batch(batch).to_pylist():
                        if row["name"] == "listen.accept_delay":
                            told[row["entity"]].append(row["value"])
            time.sleep(1)
    return told


if __name__ == "__main__":
    main()
