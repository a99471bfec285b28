"""Clients that ask for much and do not read the answer."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import answer
from doctord.lab.load.sessions import sessions_asking
from doctord.lab.server import PrivateServer

_WAITING = Figure(
    "sessions that wait for their client",
    "sessions",
    1,
    answer("select count(*) from pg_stat_activity where wait_event = 'ClientWrite'"),
)


@fault(cause="clients_do_not_take_results", effect=_WAITING)
def clients_do_not_take_results(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Six sessions export a large table, and their clients take nothing of it, as one that has hung.

    Each backend has filled the socket's buffer and waits, with its snapshot, for its client.

    Seen: six sessions in `Client: ClientWrite` all the time; the light load notices nothing yet.
    """
    with sessions_asking(server, "select * from pgbench_accounts", count=dose.of(2, 6, 24), program="export"):
        yield
