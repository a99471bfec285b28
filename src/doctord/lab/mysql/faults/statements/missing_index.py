"""A column that is looked up and has no index; and one that has."""

from collections.abc import Iterator
from contextlib import contextmanager

from doctord.lab.dose import Dose
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL

_TABLE = (
    "CREATE TABLE tickets (id INT PRIMARY KEY, customer INT NOT NULL, note VARCHAR(100) {key}) ENGINE=InnoDB",
    "INSERT INTO tickets SELECT id, id % 50000, filler FROM accounts",
    "ANALYZE TABLE tickets",
)
_LOOK_UP = Script(("SELECT note FROM tickets WHERE customer = {customer}",), {"customer": (1, 49_999)})


@fault(cause="missing_index", warm_up_s=5.0)
def missing_index(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """Tickets of a customer are looked up in a table of 300,000, and nobody made an index on the customer.

    Each look-up reads the whole table for six rows.
    """
    with _looked_up(server, dose, key="", rate_per_s=dose.of(5, 15, 60)):
        yield


@fault(cause=None, warm_up_s=5.0)
def index_there(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """The look-alike of missing_index: the same look-ups, and the index is there.

    There is nothing to be found.
    """
    with _looked_up(server, dose, key=", KEY (customer)", rate_per_s=15):
        yield


@contextmanager
def _looked_up(server: PrivateMySQL, dose: Dose, *, key: str, rate_per_s: int) -> Iterator[None]:
    server.execute(*(statement.format(key=key) for statement in _TABLE))
    with clients(server, [_LOOK_UP], seed=dose.seed, clients=4, rate_per_s=rate_per_s):
        yield
