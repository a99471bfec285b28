"""A rehearsal of a failover: a standby is promoted beside its primary, and looked at."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer
from doctord.lab.standby import standby_of

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
        standby.execute("select pg_promote()")
        with workload(standby, seed=dose.seed, clients=1, script=_CHECKS):
            yield
