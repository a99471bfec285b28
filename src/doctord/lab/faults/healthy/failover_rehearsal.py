"""A rehearsal of a failover: a standby is promoted beside its primary, and looked at."""

import time
from collections.abc import Iterator
from typing import Final

from doctord.lab.dose import Dose
from doctord.lab.errors import LabError
from doctord.lab.fault import fault
from doctord.lab.figures import answer
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer
from doctord.lab.standby import standby_of

_PROMOTED_S: Final = 60.0
_CHECKS = """
select count(*), sum(bbalance) from pgbench_branches;
\\sleep 200 ms
"""


@fault(cause=None)
def failover_rehearsal(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A standby that has followed is promoted, as is rehearsed twice a year, and somebody looks at what is on it.

    The primary goes on as ever, without it. There is nothing to be found.
    """
    with standby_of(server) as standby:
        _promote(standby)
        with workload(standby, seed=dose.seed, clients=1, script=_CHECKS):
            yield


def _promote(standby: PrivateServer) -> None:
    standby.execute("select pg_promote(wait => false)")
    deadline = time.monotonic() + _PROMOTED_S
    while answer("select pg_is_in_recovery()::int")(standby):
        if time.monotonic() > deadline:
            raise LabError("the standby was not promoted", f"see {standby.folder}/postgresql.log")
        time.sleep(0.1)
