"""A backup that makes the kernel forget the database's files."""

import sys
from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import READ_MS
from doctord.lab.host.processes import running
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

# What borg and others do with every file that they have read.
_BACKUP = """
import os, sys, time
from pathlib import Path
while True:
    for path in sorted(Path(sys.argv[1]).rglob("*")):
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            while os.read(file, 1 << 20):
                time.sleep(float(sys.argv[2]))
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)
"""
_SCRIPT = """
\\set account random(1, 1000000)
select abalance from pgbench_accounts where aid = :account;
"""


# Paced: as many as the CPUs can would have these short, and not the page cache.
_RATE_PER_S = 4000
_READS = Figure("time in reads of blocks", "ms", 2000.0, READ_MS)


@fault(cause="page_cache_evicted", effect=_READS, settings={"shared_buffers": "16MB"}, warm_up_s=4.0)
def page_cache_dropped(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A backup reads all data files, over and over, and tells the kernel to forget each that it has read.

    The buffer pool is small and leaves caching to the kernel, which has gigabytes free.

    Seen: 40 MiB of reads per second, 7 % of 164 MiB cached, two fifths of the time in `IO: DataFileRead`.
    """
    backup = [sys.executable, "-c", _BACKUP, str(server.data / "base"), str(dose.of(0.008, 0.002, 0.0005))]
    load = workload(server, seed=dose.seed, clients=4, script=_SCRIPT, rate_per_s=_RATE_PER_S)
    with running(backup, server.folder / "backup.log"), load:
        yield
