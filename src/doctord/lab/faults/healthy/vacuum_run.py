"""A vacuum and an analyze by hand."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
vacuum (analyze) pgbench_accounts;
\\sleep 500 ms
"""


@fault(cause=None)
def vacuum_run(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """One session vacuums and analyses the largest table, over and over.

    It is what a database is for: there is nothing to be found.
    """
    with workload(server, seed=dose.seed, clients=1, script=_SCRIPT):
        yield
