"""Rows that are changed all the time, and a transaction that was prepared and never finished."""

import sys
from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.load.hot_rows import counting, create_counters
from doctord.lab.server import PrivateServer

_TWO_PHASES = {"max_prepared_transactions": "10"}
_PAYMENT = "insert into pgbench_history (tid, bid, aid, delta, mtime) values (1, 1, 1, 10, now())"
# Half of a transfer between two databases: the other one has its say between the two phases.
_COORDINATOR = f"""
import itertools, sys, time
import psycopg
with psycopg.connect(sys.argv[1], application_name="transfers", autocommit=True) as session:
    for number in itertools.count():
        session.execute("begin")
        session.execute("{_PAYMENT}")
        session.execute(f"prepare transaction 'transfer-{{number}}'")
        time.sleep(0.1)
        session.execute(f"commit prepared 'transfer-{{number}}'")
        time.sleep(0.1)
"""


@fault(cause="vacuum_held_back", settings=_TWO_PHASES, warm_up_s=30.0)
def prepared_transaction_hot_row(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Four sessions count in ten rows, while a prepared transaction waits for a coordinator that has gone.

    It belongs to no session, and it has a row of its own that nobody wants: it is in nobody's way but vacuum's.

    Seen: 120,000 dead rows beside ten after 50 s, and 126 pages looked at for each row found.
    """
    create_counters(server)
    with server.connect("transfers") as coordinator:
        for statement in ("begin", _PAYMENT, "prepare transaction 'transfer-4711'"):
            coordinator.execute(statement)
    with counting(server, dose, clients=dose.of(1, 4, 8)):
        yield


@fault(cause=None, settings=_TWO_PHASES, warm_up_s=10.0)
def prepared_transactions_finished(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of prepared_transaction_hot_row: each prepared transaction is committed after a tenth of a second.

    There is one at most looks, and never the same: versions of the rows are removed as soon as nobody needs them.
    """
    create_counters(server)
    coordinator = [sys.executable, "-c", _COORDINATOR, server.dsn]
    with running(coordinator, server.folder / "transfers.log"), counting(server, dose, rate_per_s=100):
        yield
