"""Sorts that do not fit into their memory."""

from collections.abc import Iterator

from doctord.lab.fault import fault
from doctord.lab.server import Server
from doctord.lab.workload import workload

_SCRIPT = """
select count(*) from (select filler, aid from pgbench_accounts where aid <= 200000 order by bid, filler, -aid) sorted;
\\sleep 20 ms
"""


@fault(cause="sort_spill")
def work_mem_spill(server: Server, seed: int) -> Iterator[None]:
    """With work_mem at 256 kB, two sessions sort tens of megabytes again and again.

    Every sort is written to temporary files and read back.
    """
    server.set(work_mem="256kB")
    with workload(server, seed=seed, clients=2, script=_SCRIPT):
        yield
