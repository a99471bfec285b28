"""A transaction that somebody forgot to end."""

from collections.abc import Iterator

from doctord.lab.fault import fault
from doctord.lab.server import PrivateServer


@fault(cause="idle_in_transaction_blocker")
def idle_in_transaction(server: PrivateServer, _seed: int) -> Iterator[None]:
    """One session updates every branch and then sits idle in its transaction.

    The light load needs a branch in every transaction: all its sessions queue behind the idle one, and nothing is
    committed until it ends.

    Seen: 4 of 4 sessions in `Lock: transactionid`, the light load at 0 transactions per second instead of 96.
    """
    with server.connect("month-end report") as idle, idle.transaction():
        idle.execute("update pgbench_branches set bbalance = bbalance + 1")
        yield
