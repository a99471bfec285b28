"""A pooler whose pool is taken: clients wait in it, and the server has hardly anything to do."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.pooler import Pooler, pooler
from doctord.lab.server import PrivateServer

_CLIENTS: Final = 20
_ENOUGH: Final = 2 * _CLIENTS
# An application that works for 15 ms between two statements of a transaction.
_THINKING: Final = """\
\\set aid random(1, 100000 * :scale)
begin;
select abalance from pgbench_accounts where aid = :aid;
\\sleep 15 ms
select abalance from pgbench_accounts where aid = :aid + 1;
end;
\\sleep 50 ms
"""


def waiting(server: PrivateServer) -> float | None:
    """Clients in the pooler's queue; none before there is a pooler."""
    folder = server.folder / "pooler"
    sockets = [Path(name).name for name in folder.glob(".s.PGSQL.*") if name.suffix != ".lock"]
    return Pooler(folder, int(sockets[0].rpartition(".")[2])).waiting() if sockets else 0.0


@fault(cause="pooler_queue", effect=Figure("clients that wait in the pooler", "clients", 3.0, waiting))
def pool_exhausted(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Twenty clients share a pool of two connections (PgBouncer, pool_mode = transaction) that short transactions keep.

    Each transaction holds its connection for 15 ms in which the application computes. The server is idle.

    Seen: cl_waiting of SHOW POOLS, no sv_idle; two sessions, idle in transaction by turns.
    """
    yield from _through(server, dose, dose.of(3, 2, 1))


@fault(cause=None)
def pool_large_enough(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The same clients through a pool of forty.

    The look-alike of pool_exhausted: nobody waits.
    """
    yield from _through(server, dose, _ENOUGH)


def _through(server: PrivateServer, dose: Dose, size: int) -> Iterator[None]:
    with pooler(server, size) as one, workload(server, seed=dose.seed, clients=_CLIENTS, script=_THINKING, dsn=one.dsn):
        yield
