"""A statement that changes a table, and all who wait behind it."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL
from doctord.lab.mysql.sessions import sessions_asking

_ALTER = "ALTER TABLE branches ADD COLUMN note VARCHAR(20)"


@fault(cause="table_locks")
def ddl_queue(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """A column is added while a long report reads the table: it waits for the report, and everybody waits for it.

    The report alone would disturb nobody. Mild: the change gives up after a second, and is tried again. Severe: thirty
    more sessions stand behind it. They are in "Waiting for table metadata lock".
    """
    with sessions_asking(server, "SELECT COUNT(*), SLEEP(60) FROM branches"):
        if dose.intensity == "mild":
            careful = Script(("SET SESSION lock_wait_timeout = 1", _ALTER))
            with clients(server, [careful], seed=dose.seed, clients=1, rate_per_s=0.5):
                yield
        else:
            readers = "SELECT SLEEP(1), balance FROM branches WHERE id = 1"
            with (
                sessions_asking(server, _ALTER),
                sessions_asking(server, readers, count=dose.of(0, 0, 30)),
            ):
                yield
