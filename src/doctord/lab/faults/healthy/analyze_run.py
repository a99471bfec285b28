"""Statistics that are made anew by hand."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
analyze;
\\sleep 500 ms
"""


@fault(cause=None)
def analyze_run(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """One session analyses all tables, over and over, as after an upgrade.

    It is what a database is for: there is nothing to be found.
    """
    with workload(server, seed=dose.seed, clients=1, script=_SCRIPT):
        yield
