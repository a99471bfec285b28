"""A connection per transaction."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer


@fault(cause="connection_churn")
def connection_churn(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Four clients open a connection for every query and close it again, as fast as they can.

    The server starts and ends hundreds of processes per second. What the queries do costs next to nothing.

    Seen: 250 to 300 connections per second at 8 ms each, CPUs 99 % busy, a third of that in the kernel, while hardly
    any session is ever seen at work.
    """
    with workload(server, seed=dose.seed, clients=dose.of(1, 4, 16), script="select 1;", reconnect=True):
        yield
