"""Two statements that forgot how their tables belong together."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
select count(*) from pgbench_accounts as earlier, pgbench_accounts as later
where earlier.aid <= 20000 and later.aid <= 20000 and earlier.abalance + later.bid > 1;
"""


@fault(cause="cpu_few_statements")
def cartesian_joins(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Two sessions join a table with itself without a condition that joins, and take both CPUs.

    Each execution compares 400 million pairs of rows.

    Seen: 6 s for each, no idle CPU; the light load takes 4 ms instead of 1 ms.

    """
    script = _SCRIPT + dose.of("\\sleep 4 s", "", "")  # as long as it computes
    with workload(server, seed=dose.seed, clients=dose.of(2, 2, 6), script=script):
        yield
