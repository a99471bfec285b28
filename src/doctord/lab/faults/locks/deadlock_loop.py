"""Sessions that lock the same rows in different order."""

import sys
from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
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
for one in range(1, 2 * int(sys.argv[2]), 2):
    for first, second in ((one, one + 1), (one + 1, one)):
        threading.Thread(target=transfer, args=(first, second)).start()
"""


@fault(cause="deadlocks_reported", settings={"deadlock_timeout": "200ms"})
def deadlock_loop(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Transfers between two accounts lock the one that they take from first, in both directions at a time.

    Each deadlock lasts until deadlock_timeout; one of the two fails and is done again.

    Seen: 7 sessions in `Lock: transactionid` and `tuple`, the light load at 42 transactions a second instead of 96.

    """
    transfers = [sys.executable, "-c", _TRANSFERS, server.dsn, str(dose.of(1, 2, 5))]
    with running(transfers, server.folder / "transfers.log"):
        yield
