"""Clients that ask for much and do not read the answer."""

from collections.abc import Iterator
from contextlib import ExitStack, closing

from doctord.lab.fault import fault
from doctord.lab.server import PrivateServer

_SESSIONS = 6


@fault(cause="clients_do_not_take_results")
def clients_do_not_take_results(server: PrivateServer, _seed: int) -> Iterator[None]:
    """Six sessions export a large table, and their clients take nothing of it, as one that has hung.

    Each backend has filled the socket's buffer and waits, with its snapshot, for its client.

    Seen: six sessions in `Client: ClientWrite` all the time; the light load notices nothing yet.
    """
    with ExitStack() as stack:
        for _ in range(_SESSIONS):
            session = stack.enter_context(closing(server.connect("export")))
            session.pgconn.send_query(b"select * from pgbench_accounts")
            session.pgconn.flush()
        yield
