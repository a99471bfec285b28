"""A control group with less memory than its work needs."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer, its_group

_SCRIPT = """
\\set first random(1, 5000000)
select sum(abalance) from pgbench_accounts where aid between :first and :first + 5000;
\\sleep 5 ms
"""


@fault(cause="cgroup_memory_limit", controller="memory", settings={"shared_buffers": "32MB"}, scale=50)
def memory_squeeze(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The server's control group is held to 128 MiB, page cache included, while it reads a table of 640 MiB.

    Every page it reads pushes out another: the kernel reclaims all the time, and reads that came from the page cache
    come from the disk.

    Seen: 20,000 failures of the limit and 190 MB of reads per second on a host with 20 GB free, 2.6 sessions in
    `IO: DataFileRead`, 10 ms per query; a transaction of the light load takes 11 ms instead of 2 ms.
    """
    group = its_group(server)
    server.evict()
    with workload(server, seed=dose.seed, clients=dose.of(4, 4, 10), script=_SCRIPT):
        group.limit_memory(dose.of(256, 128, 128) << 20)
        yield
