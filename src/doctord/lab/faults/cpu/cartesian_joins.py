"""Two statements that forgot how their tables belong together."""

from collections.abc import Iterator

from doctord.lab.fault import fault
from doctord.lab.server import PrivateServer
from doctord.lab.workload import workload

_SCRIPT = """
select count(*) from pgbench_accounts as earlier, pgbench_accounts as later
where earlier.aid <= 6000 and later.aid <= 6000 and earlier.abalance + later.bid > 1;
"""


@fault(cause="cpu_few_statements")
def cartesian_joins(server: PrivateServer, seed: int) -> Iterator[None]:
    """Two sessions join a table with itself without a condition that joins, and take both CPUs.

    Each execution compares 36 million pairs of rows.
    """
    with workload(server, seed=seed, clients=2, script=_SCRIPT):
        yield
