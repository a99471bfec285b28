"""A control group in which a server may start no more processes, and one with room for them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import log_lines
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer, its_group

_CLIENTS = 8
# Each keeps its connection for a while, as a request of a web server without a pool does.
_REQUESTS = """
import sys, threading, time
import psycopg
def requests():
    while True:
        try:
            with psycopg.connect(sys.argv[1], application_name="web", autocommit=True) as session:
                session.execute("select count(*) from pgbench_branches")
                time.sleep(2)
        except psycopg.OperationalError:
            time.sleep(0.5)
for _ in range(int(sys.argv[2])):
    threading.Thread(target=requests).start()
"""
_REFUSED = Figure("connections for which no process was started", "connections", 5, log_lines("could not fork"))


@fault(cause="processes_used_up", effect=_REFUSED, controller="pids")
def tasks_limited(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The server's container may have as many tasks as are there, and a few: most of eight clients find no process.

    max_connections has room for a hundred. fork(2) says EAGAIN where pids.max is reached.

    Seen: "could not fork new process for connection: Resource temporarily unavailable", ten times a second.
    """
    with _web(server, more=dose.of(6, 4, 2)):
        yield


@fault(cause=None, controller="pids")
def tasks_enough(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of tasks_limited: the same clients, and a limit that has room for five times as many.

    There is nothing to be found.
    """
    with _web(server, more=5 * _CLIENTS):
        yield


@contextmanager
def _web(server: PrivateServer, *, more: int) -> Iterator[None]:
    its_group(server).limit_tasks(more=more)
    clients = [sys.executable, "-c", _REQUESTS, server.dsn, str(_CLIENTS)]
    with running(clients, server.folder / "web.log"):
        yield
