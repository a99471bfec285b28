"""A large report that runs when it should."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
select bid, count(*), sum(abalance), max(filler) from pgbench_accounts group by bid order by bid;
\\sleep 200 ms
"""


@fault(cause=None)
def nightly_report(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """One session adds up all accounts, again and again; the other CPU is free.

    It is what a database is for: there is nothing to be found.
    """
    with workload(server, seed=dose.seed, clients=1, script=_SCRIPT):
        yield
