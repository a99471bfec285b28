"""A connection per transaction, and connections that are kept."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL


@fault(cause="connection_churn")
def connection_churn(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """Clients open a connection for every query and close it again, as fast as they can.

    The server starts and ends a thread for each, and sets up a session. What the queries do costs next to nothing.
    """
    with clients(server, [Script(("SELECT 1",))], seed=dose.seed, clients=dose.of(2, 4, 16), reconnect=True):
        yield


@fault(cause=None)
def connections_kept(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """The look-alike of connection_churn: the same queries, two hundred a second, over connections that are kept.

    There is nothing to be found.
    """
    with clients(server, [Script(("SELECT 1",))], seed=dose.seed, clients=4, rate_per_s=200):
        yield
