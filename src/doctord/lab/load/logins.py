"""Clients without a pool: they connect anew, again and again."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_CLIENTS = """
import sys, threading, time
from contextlib import suppress
import psycopg
def come():
    while True:
        began = time.monotonic()
        with suppress(psycopg.OperationalError):
            psycopg.connect(sys.argv[1]).close()
            print(time.monotonic() - began, flush=True)
        time.sleep(0.5)
for _ in range(int(sys.argv[2])):
    threading.Thread(target=come).start()
"""


@contextmanager
def clients_that_log_in(
    server: PrivateServer, dsn: str, count: int = 1, entrance: Sequence[str | Path] = ()
) -> Iterator[None]:
    """So many clients log in twice a second each, if they are let in, and leave at once; by way of `entrance`."""
    with running([*entrance, sys.executable, "-c", _CLIENTS, dsn, str(count)], _log(server)):
        yield


def last_login_s(server: PrivateServer) -> float | None:
    """How long the last login of such a client took; null before there was one."""
    told = _log(server).read_text().split() if _log(server).exists() else []
    return float(told[-1]) if told else None


def _log(server: PrivateServer) -> Path:
    return server.folder / "logins.log"
