"""Many sessions, one row."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
begin;
update pgbench_branches set bbalance = bbalance + 1 where bid = 1;
select abalance from pgbench_accounts where aid = 1;
\\sleep 5 ms
commit;
"""


@fault(cause="row_locks")
def row_lock_convoy(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Sixteen sessions update the same row, and each keeps it locked for 5 ms of work of its own.

    At any moment one holds the row and the others queue for it, in `Lock: tuple` and `Lock: transactionid`. No
    transaction is long, and CPU and disk are idle: only the order of the statements can be changed.

    Seen: 15 of 16 sessions waiting, 170 updates of the row per second, CPUs 86 % idle; a transaction of the light load,
    which needs the row in one case of ten, takes 13 ms instead of 1.4 ms.
    """
    with workload(server, seed=dose.seed, clients=dose.of(5, 16, 48), script=_SCRIPT):
        yield
