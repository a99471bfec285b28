"""A listener that has grown, and forks slowly."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.listener import listener
from doctord.lab.server import PrivateServer


@fault(cause="slow_fork", warm_up_s=4.0)
def large_listener(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A listener beside the server has 2 GB of its own, as one that leaks has after months, and forks for each client.

    Each fork copies the page tables of all of it. Forty clients connect twice a second each; nothing is dropped.

    Seen: 13 ms of system time for each child, nearly half of a CPU in the kernel.
    """
    with listener(server.folder, clients=40, client_pause_s=0.5, memory_mib=dose.of(700, 2000, 4000)):
        yield
