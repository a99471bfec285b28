"""Connections that are kept and not used, until none is left."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing

from doctord.lab.fault import fault
from doctord.lab.processes import running
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
    time.sleep(0.5)
"""


@fault(cause="connections_near_limit", settings={"max_connections": str(_LIMIT)})
def connections_exhausted(server: PrivateServer, _seed: int) -> Iterator[None]:
    """An application keeps thirteen connections of twenty, and uses none; whoever comes next is refused.

    Four are the light load's, three are kept for administrators.

    Seen: "remaining connection slots are reserved", twice a second.

    """
    with ExitStack() as stack:
        for _ in range(_KEPT):
            stack.enter_context(closing(server.connect("web")))
        stack.enter_context(running([sys.executable, "-c", _COMER, server.dsn], server.folder / "comer.log"))
        yield
