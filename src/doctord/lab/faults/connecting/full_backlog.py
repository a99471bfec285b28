"""A server that accepts slowly, and whose queue is too short for those who wait."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.load.listener import listener, served_s
from doctord.lab.server import PrivateServer

_SERVED = Figure("until a client is served", "s", 1.0, lambda server: served_s(server.folder))


@fault(cause="accept_queue_overflow", effect=_SERVED, warm_up_s=4.0)
def full_backlog(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A listener needs a quarter of a second for each client, lets four wait, and twelve connect all the time.

    `slow_accept` with drops: the others' requests are dropped, and come again after a second.

    Seen: 3.5 connections per second, and more than one request dropped per second.
    """
    with listener(server.folder, clients=dose.of(8, 12, 40), client_pause_s=0.0, backlog=4, pause_s=0.28):
        yield
