"""A large load of rows, as every night."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL
from doctord.lab.mysql.tables import numbers


@fault(cause=None)
def bulk_load(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """One session loads two thousand rows at a time into a table of its own, with a pause between.

    It is busy, and nobody waits for it: there is nothing to be found.
    """
    server.execute("CREATE TABLE loaded (id BIGINT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(200)) ENGINE=InnoDB")
    load = Script((f"INSERT INTO loaded (text) SELECT REPEAT('x', 150) FROM {numbers(1000)}", "sleep 0.5"))
    with clients(server, [load], seed=dose.seed, clients=1):
        yield
