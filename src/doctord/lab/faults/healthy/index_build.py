"""An index that is built beside the load."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
create index concurrently by_balance on pgbench_accounts (abalance, aid);
drop index concurrently by_balance;
\\sleep 500 ms
"""


@fault(cause=None)
def index_build(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """One session builds an index concurrently and drops it, over and over.

    It is what a database is for: there is nothing to be found.
    """
    with workload(server, seed=dose.seed, clients=1, script=_SCRIPT):
        yield
