"""Clients that connect and say nothing: as many as the server has places for, and a few."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import log_lines
from doctord.lab.host.processes import running
from doctord.lab.load.logins import clients_that_log_in
from doctord.lab.server import PrivateServer

# With it the postmaster has 84 places for children of all kinds (PostgreSQL 13 to 17), 60 for clients from 18 on.
_LIMIT = 20
# As the check of a monitor that looks whether the port is open, and never closes; who is sent away comes again.
_MONITOR = """
import select, socket, sys, time
held = []
while True:
    ended = set(select.select(held, [], [], 0)[0])
    for one in ended:
        one.close()
    held = [one for one in held if one not in ended]
    while len(held) < int(sys.argv[2]):
        held.append(socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
    time.sleep(0.5)
"""
_REFUSED = Figure("logins refused", "logins", 1, log_lines("too many clients"))


@fault(
    cause="connections_near_limit", effect=_REFUSED, settings={"max_connections": str(_LIMIT)}, warm_up_s=5.0
)  # fmt: skip
def logins_never_finished(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A monitor keeps 110 connections on which it never says who it is, beside an application that connects anew.

    pg_stat_activity shows none of them; each stays for authentication_timeout, a minute.

    Seen: "sorry, too many clients already" while four of twenty connections are in use.
    """
    with _monitored(server, dose.of(90, 110, 200)):
        yield


@fault(cause=None, settings={"max_connections": str(_LIMIT)}, warm_up_s=5.0)
def few_logins_not_finished(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of logins_never_finished: five such connections, and room for all who come.

    There is nothing to be found.
    """
    with _monitored(server, 5):
        yield


@contextmanager
def _monitored(server: PrivateServer, count: int) -> Iterator[None]:
    monitor = [sys.executable, "-c", _MONITOR, str(server.port), str(count)]
    with running(monitor, server.folder / "monitor.log"), clients_that_log_in(server, server.dsn):
        yield
