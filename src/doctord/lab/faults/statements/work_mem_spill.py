"""Sorts and hashes that do not fit into their memory."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
select count(*) from pgbench_accounts earlier join pgbench_accounts later
on later.aid = earlier.aid + 1 and later.filler = earlier.filler
where earlier.aid <= 100000 and later.aid <= 100000;
\\sleep {} ms
"""


@fault(cause="sort_spill")
def work_mem_spill(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """With work_mem at 64 kB, a session joins tens of megabytes again and again.

    Every hash table is split into many batches that are written to temporary files and read back.

    Seen: 440 ms for a join that takes 49 ms with work_mem at 128 MB, 130 MB of temporary files per second, most of the
    time on a CPU and two fifths of that in the kernel, since the page cache takes the files.
    """
    server.set(work_mem="64kB")
    script = _SCRIPT.format(dose.of(500, 50, 50))
    with workload(server, seed=dose.seed, clients=dose.of(1, 1, 4), script=script):
        yield
