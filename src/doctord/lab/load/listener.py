"""A listening server of the lab's own, which starts a process for each connection and waits for it, and its clients.

    python -m doctord.lab.load.listener serve [--memory-mib M] [--backlog N] [--pause S]
    python -m doctord.lab.load.listener connect --port PORT --clients N [--pause S]

As the listener of the casebook does, it serves one connection after the other: accept, fork, await the child.
"""

import argparse
import mmap
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from doctord.lab.errors import LabError
from doctord.lab.host.processes import running

MIB = 1 << 20
PAGE = mmap.PAGESIZE
_STARTS_S = 20.0
_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Listening:
    """A server that listens: where, and which process it is."""

    port: int
    pid: int


@contextmanager
def listener(
    folder: Path, *, clients: int, client_pause_s: float, memory_mib: int = 0, backlog: int = 128, pause_s: float = 0.0
) -> Iterator[Listening]:
    """Run such a server, and clients that connect to it again and again.

    Args:
        folder: where their logs go.
        clients: how many connect, each `client_pause_s` after its last connection.
        client_pause_s: see there.
        memory_mib: memory of its own that a fork has to copy the page tables of.
        backlog: how many connections may wait to be accepted.
        pause_s: what it does with each connection takes that much longer.

    Raises:
        LabError: it does not start; with its last words.
    """
    log = folder / "listener.log"
    program = [sys.executable, "-m", "doctord.lab.load.listener"]
    serve = ["serve", "--memory-mib", memory_mib, "--backlog", backlog, "--pause", pause_s]
    with running([*program, *map(str, serve)], log) as server:
        port = _port(server, log)
        connect = ["connect", "--port", port, "--clients", clients, "--pause", client_pause_s]
        with running([*program, *map(str, connect)], folder / "clients.log"):
            yield Listening(port, server.pid)


def served_s(folder: Path) -> float | None:
    """How long a client of the listener whose logs are in that folder waits to be served; null where none is."""
    log = folder / "listener.log"
    if not log.exists():
        return None
    began = time.monotonic()
    _visit(int(log.read_text().splitlines()[0]))
    return time.monotonic() - began


def _port(server: subprocess.Popen[bytes], log: Path) -> int:
    """The port that the server has taken, once it listens."""
    deadline = time.monotonic() + _STARTS_S
    while server.poll() is None and time.monotonic() < deadline:
        told = log.read_text(errors="replace")
        if told.endswith("\n") and told.strip().isdigit():
            return int(told)
        time.sleep(0.05)
    words = "".join(log.read_text(errors="replace").splitlines()[-1:])
    raise LabError("the listener did not start", f"its last words were: {words}")


def _serve(memory_mib: int, backlog: int, pause_s: float) -> None:
    with _filled(memory_mib * MIB), socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(backlog)
        sys.stdout.write(f"{server.getsockname()[1]}\n")
        sys.stdout.flush()
        while True:
            client, _ = server.accept()
            with client:
                time.sleep(pause_s)
                child = os.fork()
                if not child:
                    client.sendall(b"served")
                    os._exit(0)
                os.waitpid(child, 0)


def _filled(size: int) -> mmap.mmap:
    """Memory in small pages, as a heap that has grown bit by bit has it."""
    memory = mmap.mmap(-1, max(size, PAGE), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, size, PAGE):
        memory[at] = 1
    return memory


def _connect(port: int, clients: int, pause_s: float) -> None:
    threads = [threading.Thread(target=_visit_often, args=(port, pause_s)) for _ in range(clients)]
    for thread in threads:
        thread.start()
        time.sleep(pause_s / clients)
    for thread in threads:
        thread.join()


def _visit_often(port: int, pause_s: float) -> None:
    while True:
        try:
            _visit(port)
        except OSError as error:
            sys.stderr.write(f"{error}\n")
        time.sleep(pause_s)


def _visit(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S) as server:
        server.recv(16)


def main() -> None:
    """Read the options and serve, or connect, until somebody ends it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("role", choices=["serve", "connect"])
    parser.add_argument("--port", type=int)
    parser.add_argument("--memory-mib", type=int, default=0)
    parser.add_argument("--backlog", type=int, default=128)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.0)
    given = parser.parse_args()
    if given.role == "serve":
        _serve(given.memory_mib, given.backlog, given.pause)
    else:
        _connect(given.port, given.clients, given.pause)


if __name__ == "__main__":
    main()
