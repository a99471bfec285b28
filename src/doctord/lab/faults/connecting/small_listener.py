"""A listener of usual size: the look-alike of one that has grown."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.listener import listener
from doctord.lab.server import PrivateServer


@fault(cause=None, warm_up_s=4.0)
def small_listener(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The listener of `large_listener` as it was started, with 23 MB, and the same forty clients.

    There is nothing to find.

    Seen: 1 to 2 ms of system time for each child, a queue that is mostly empty.
    """
    with listener(server.folder, clients=40, client_pause_s=0.5, memory_mib=10):
        yield
