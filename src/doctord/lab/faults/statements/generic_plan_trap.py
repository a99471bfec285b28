"""A prepared statement whose one plan for all values fits those that it was called with first."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import LiteralString

from psycopg import sql

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

# The server plans anew for each of the first five calls; then one plan for all, if it seems no dearer.
_CLIENTS = """
import sys, threading, time
import psycopg
def client(first, then):
    with psycopg.connect(sys.argv[1], application_name="orders", autocommit=True, prepare_threshold=0) as session:
        session.execute("set plan_cache_mode = auto")
        for state in [first] * 6:
            session.execute("select id from orders where state = %s", [state])
        while True:
            session.execute("select id from orders where state = %s", [then])
            time.sleep(0.02)
for _ in range(int(sys.argv[2])):
    threading.Thread(target=client, args=sys.argv[3:]).start()
"""


@fault(cause="index_not_used", warm_up_s=8.0)
def generic_plan_trap(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Two sessions look for open orders, 30 among 600,000, by a prepared statement that was first asked for all others.

    There is an index on that column, the statistics are right, and no setting is unusual. For the values of its first
    five calls the whole table was the best way; the server has kept to the plan that is made for no value since.
    `missing_index` is the same without the index, `stale_statistics` with statistics of another time.

    Seen: 20 look-ups a second at 75 ms each on busy CPUs, two thirds of all time, where one by the index takes 1 ms.
    """
    with _looking_up(
        server,
        "case when id % 20000 = 0 then 'open' else 'delivered' end",
        "delivered",
        "open",
        clients=dose.of(1, 2, 6),
    ):
        yield


@fault(cause=None, warm_up_s=8.0)
def generic_plan_fits(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The same where each value has as many rows: the plan that is made for no value is right for all.

    It looks like `generic_plan_trap`: the same prepared statement on a table as large.
    """
    with _looking_up(server, "'state ' || id % 20000", "state 1", "state 2", clients=2):
        yield


@contextmanager
def _looking_up(server: PrivateServer, state: LiteralString, first: str, then: str, *, clients: int) -> Iterator[None]:
    table = "create table orders as select id, {} as state, repeat('.', 60) as note from generate_series(1, 600000) id"
    server.execute(sql.SQL(table).format(sql.SQL(state)))
    server.execute("create index orders_state on orders (state)")
    server.execute("vacuum analyze orders")
    with running([sys.executable, "-c", _CLIENTS, server.dsn, str(clients), first, then], server.folder / "orders.log"):
        yield
