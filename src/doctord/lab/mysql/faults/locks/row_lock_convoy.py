"""Many sessions, one row; and many sessions, many rows."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL


@fault(cause="row_locks")
def row_lock_convoy(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """Sixteen sessions update the same row, and each keeps it locked for 5 ms of work of its own.

    At any moment one holds the row and the others queue for it (LOCK WAIT in innodb_trx). No transaction is long, and
    CPU and disk are idle: only the order of the statements can be changed.
    """
    update = "UPDATE branches SET balance = balance + 1 WHERE id = 1"
    script = Script(("BEGIN", update, "sleep 0.005", "COMMIT"))
    with clients(server, [script], seed=dose.seed, clients=dose.of(5, 16, 48)):
        yield


@fault(cause=None)
def rows_apart(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """The look-alike of row_lock_convoy: as many sessions keep a row each for as long, a thousand rows apart.

    There is nothing to be found.
    """
    update = "UPDATE accounts SET balance = balance + 1 WHERE id = {account}"
    script = Script(("BEGIN", update, "sleep 0.02", "COMMIT", "sleep 0.05"), {"account": (1, 300_000)})
    with clients(server, [script], seed=dose.seed, clients=8):
        yield
