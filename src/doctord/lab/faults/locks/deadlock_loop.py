"""Sessions that lock the same rows in different order."""

import sys
from collections.abc import Iterator

from doctord.lab.fault import fault
from doctord.lab.processes import running
from doctord.lab.server import PrivateServer

_TRANSFERS = """
import sys, threading, time
import psycopg
def transfer(first, second):
    with psycopg.connect(sys.argv[1], application_name="transfers", autocommit=True) as session:
        while True:
            try:
                with session.transaction():
                    session.execute("update pgbench_branches set bbalance = bbalance - 1 where bid = %s", [first])
                    time.sleep(0.05)
                    session.execute("update pgbench_branches set bbalance = bbalance + 1 where bid = %s", [second])
            except psycopg.errors.DeadlockDetected:
                pass
for first, second in ((1, 2), (2, 1), (3, 4), (4, 3)):
    threading.Thread(target=transfer, args=(first, second)).start()
"""


@fault(cause="deadlocks_reported", settings={"deadlock_timeout": "200ms"})
def deadlock_loop(server: PrivateServer, _seed: int) -> Iterator[None]:
    """Transfers between two accounts lock the one that they take from first, in both directions at a time.

    Each deadlock lasts until deadlock_timeout; one of the two fails and is done again.

    Seen: 7 sessions in `Lock: transactionid` and `tuple`, the light load at 42 transactions a second instead of 96.

    """
    with running([sys.executable, "-c", _TRANSFERS, server.dsn], server.folder / "transfers.log"):
        yield
