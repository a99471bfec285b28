"""A pooler whose servers sleepers keep (pool_mode = session): the server idles, and nobody else is served."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Final

import psycopg

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.faults.connecting.pool_exhausted import waiting
from doctord.lab.load.workload import workload
from doctord.lab.pooler import pooler
from doctord.lab.server import PrivateServer

_SIZE: Final = 4
_CLIENTS: Final = 12
_ENOUGH: Final = 2 * _CLIENTS
_READS: Final = """\
\\set aid random(1, 100000 * :scale)
select abalance from pgbench_accounts where aid = :aid;
\\sleep 50 ms
"""


@fault(cause="pooler_queue", effect=Figure("clients that wait in the pooler", "clients", 3.0, waiting))
def pool_kept_by_sleepers(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Sessions of a nightly job keep the servers of a pool of four (PgBouncer, pool_mode = session) and do nothing.

    Two, three or all four. Twelve clients want the rest; the server is idle.

    Seen: cl_waiting of SHOW POOLS, no sv_idle; SHOW SERVERS has clients that asked for nothing for long.
    """
    yield from _through(server, dose, _SIZE, dose.of(2, 3, 4))


@fault(cause=None)
def pool_kept_with_room(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The same sleepers in a pool of 24, also with pool_mode = session.

    The look-alike of pool_kept_by_sleepers: nobody waits.
    """
    yield from _through(server, dose, _ENOUGH, _SIZE)


def _through(server: PrivateServer, dose: Dose, size: int, sleepers: int) -> Iterator[None]:
    with pooler(server, size, "session") as one, ExitStack() as stack:
        for _ in range(sleepers):
            asleep = stack.enter_context(closing(psycopg.connect(one.dsn, autocommit=True, application_name="nightly")))
            asleep.execute("select 1")
        stack.enter_context(workload(server, seed=dose.seed, clients=_CLIENTS, script=_READS, dsn=one.dsn))
        yield
