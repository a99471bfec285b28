"""A server that accepts connections slowly, and drops none."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.errors import LabError
from doctord.lab.fault import fault
from doctord.lab.figures import login_s
from doctord.lab.host.processes import running
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_ATTACHES_S = 0.5
_LOGIN = Figure("until a client is logged in", "s", 0.5, login_s)


@fault(cause="clients_wait_to_connect", effect=_LOGIN, warm_up_s=4.0)
def slow_accept(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The postmaster needs a quarter of a second for each connection, and twelve clients connect for every query.

    strace holds each of its accepts up. The queue is far longer than twelve: nothing is dropped, and the host is idle.

    Seen: 3.5 connections per second, each after 3.4 s; all twelve clients in the queue.
    """
    slowly = slow_accepts(server.process.pid, dose.of(100_000, 280_000, 800_000), server.folder / "strace.log")
    with slowly, workload(server, seed=dose.seed, clients=12, threads=12, script="select 1;", reconnect=True):
        yield


@contextmanager
def slow_accepts(pid: int, delay_us: int, log: Path) -> Iterator[None]:
    """Hold each accept of a process up.

    Raises:
        LabError: strace is not there, or may not attach to the process; with its own words.
    """
    if shutil.which("strace") is None:
        raise LabError("strace was not found", "install strace")
    calls = "accept,accept4"
    slowly = ["strace", "-qq", "-e", f"trace={calls}", "-e", f"inject={calls}:delay_exit={delay_us}", "-p", str(pid)]
    with running(slowly, log) as strace:
        _check(strace, log)
        yield


def _check(strace: subprocess.Popen[bytes], log: Path) -> None:
    time.sleep(_ATTACHES_S)
    if strace.poll() is not None:
        words = log.read_text(errors="replace").strip() or f"it ended with status {strace.returncode}"
        raise LabError(f"strace does not hold the accepts up: {words}", "see kernel.yama.ptrace_scope, or run as root")
