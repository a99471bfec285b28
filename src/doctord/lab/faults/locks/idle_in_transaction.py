"""A transaction that somebody forgot to end."""

from collections.abc import Iterator
from contextlib import contextmanager

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.sessions import sessions_asking
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_UPDATE = "update pgbench_branches set bbalance = bbalance + 1"
_NOW_AND_THEN = f"begin;\n{_UPDATE};\n\\sleep 3 s\ncommit;\n\\sleep 6 s\n"


@fault(cause="idle_in_transaction_blocker")
def idle_in_transaction(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """One session updates every branch and then sits idle in its transaction.

    The light load needs a branch in every transaction: all its sessions queue behind the idle one, and nothing is
    committed until it ends. Mild: it ends after three seconds, and comes again after six. Severe: thirty
    more queue.

    Seen: 4 of 4 sessions in `Lock: transactionid`, the light load at 0 transactions per second instead of 96.
    """
    forgotten = dose.of(_now_and_then, _for_good, _for_good)
    with forgotten(server, dose), sessions_asking(server, _UPDATE, count=dose.of(0, 0, 30), program="web"):
        yield


@contextmanager
def _for_good(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    with server.connect("month-end report") as idle, idle.transaction():
        idle.execute(_UPDATE)
        yield


@contextmanager
def _now_and_then(server: PrivateServer, dose: Dose) -> Iterator[None]:
    with workload(server, seed=dose.seed, clients=1, script=_NOW_AND_THEN):
        yield
