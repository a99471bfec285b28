"""Connections that are kept and not used, until none is left."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import log_lines
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_LIMIT, _KEPT = 20, 13
_COMER = """
import sys, time
import psycopg
while True:
    try:
        psycopg.connect(sys.argv[1], user="app").close()
    except psycopg.OperationalError as refused:
        print(refused, flush=True)
    time.sleep(float(sys.argv[2]))
"""
_REFUSED = Figure("logins refused", "logins", 1, log_lines("connection slots are reserved"))


@fault(cause="connections_near_limit", effect=_REFUSED, settings={"max_connections": str(_LIMIT)})
def connections_exhausted(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """An application keeps thirteen connections of twenty, and uses none; whoever comes next is refused.

    Four are the light load's, three are kept for administrators.

    Seen: "remaining connection slots are reserved", twice a second.
    """
    server.execute("create role app login")
    with ExitStack() as stack:
        for _ in range(_KEPT):
            stack.enter_context(closing(server.connect("web")))
        comer = [sys.executable, "-c", _COMER, server.dsn, str(dose.of(3.0, 0.5, 0.05))]
        stack.enter_context(running(comer, server.folder / "comer.log"))
        yield
