"""A server that accepts slowly, and whose queue is too short for those who wait."""

from collections.abc import Iterator

from doctord.lab.fault import fault
from doctord.lab.listener import listener
from doctord.lab.server import PrivateServer


@fault(cause="accept_queue_overflow", warm_up_s=4.0)
def full_backlog(server: PrivateServer, _seed: int) -> Iterator[None]:
    """A listener needs a quarter of a second for each client, lets four wait, and twelve connect all the time.

    `slow_accept` with drops: the others' requests are dropped, and come again after a second.

    Seen: 3.5 connections per second, and more than one request dropped per second.
    """
    with listener(server.folder, clients=12, client_pause_s=0.0, backlog=4, pause_s=0.28):
        yield
