"""An unlogged table that a crash has emptied, and one that its owner empties himself."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import psycopg

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.errors import LabError
from doctord.lab.fault import ONE, fault
from doctord.lab.figures import answer
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_BACK_S: Final = 20.0
# An application that looks prices up, and connects again where it was cut off.
_SHOP: Final = """
import sys, time
from contextlib import suppress
import psycopg
while True:
    with suppress(psycopg.OperationalError), psycopg.connect(sys.argv[1], application_name="shop") as session:
        session.autocommit = True
        while True:
            session.execute("select price from prices where item = (random() * 19999)::int + 1").fetchone()
            time.sleep(0.05)
    time.sleep(0.2)
"""
_GONE = Figure(
    "prices that are gone",
    "rows",
    20_000,
    answer("select reltuples from pg_class where relname = 'prices' and pg_relation_size(oid) = 0"),
)


@fault(cause="unlogged_tables_emptied", intensities=ONE, effect=_GONE, restarts_load=True, warm_up_s=5.0)
def unlogged_emptied(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The prices are in an unlogged table, and a process of the server was killed: they are gone since.

    The server recovered at once, and serves everybody. Who looks up a price finds none, and nothing fails.

    Seen: no error and no wait; the processes of the server are some seconds old.
    """
    with _shop(server):
        _crash(server)
        yield


@fault(cause=None)
def unlogged_truncated(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of unlogged_emptied: the table is a cache, and its owner has emptied it with TRUNCATE.

    It is empty all the same, and read as often.
    """
    with _shop(server):
        server.execute("truncate prices")
        yield


@contextmanager
def _shop(server: PrivateServer) -> Iterator[None]:
    with server.connect() as session:
        session.execute("create unlogged table prices (item int primary key, price numeric not null)")
        session.execute("insert into prices select item, item / 7.0 from generate_series(1, 20000) as item")
        session.execute("vacuum analyze prices")
    with running([sys.executable, "-c", _SHOP, server.dsn], server.folder / "shop.log"):
        yield


def _crash(server: PrivateServer) -> None:
    """Kill a session's process, as the kernel does when memory is out, and wait until the server is back."""
    with suppress(psycopg.OperationalError), server.connect() as session:
        os.kill(session.info.backend_pid, signal.SIGKILL)
        session.execute("select 1")
    deadline = time.monotonic() + _BACK_S
    while time.monotonic() < deadline:
        with suppress(psycopg.OperationalError), server.connect() as session:
            session.execute("select 1")
            return
        time.sleep(0.1)
    raise LabError("the private server did not come back after a crash", "its log says why")
