"""A server that accepts connections slowly, and drops none."""

import shutil
from collections.abc import Iterator

from doctord.lab.errors import LabError
from doctord.lab.fault import fault
from doctord.lab.processes import running
from doctord.lab.server import PrivateServer
from doctord.lab.workload import workload

_DELAY_US = 280_000


@fault(cause="clients_wait_to_connect", warm_up_s=4.0)
def slow_accept(server: PrivateServer, seed: int) -> Iterator[None]:
    """The postmaster needs a quarter of a second for each connection, and twelve clients connect for every query.

    strace holds each of its accepts up. The queue is far longer than twelve: nothing is dropped, and the host is idle.

    Seen: 3.5 connections per second, each after 3.4 s; all twelve clients in the queue.
    """
    if shutil.which("strace") is None:
        raise LabError("strace was not found", "install strace")
    calls = "accept,accept4"
    slowly = ["strace", "-qq", "-e", f"trace={calls}", "-e", f"inject={calls}:delay_exit={_DELAY_US}"]
    log = server.folder / "strace.log"
    accepting = running([*slowly, "-p", str(server.process.pid)], log)
    with accepting, workload(server, seed=seed, clients=12, threads=12, script="select 1;", reconnect=True):
        yield
