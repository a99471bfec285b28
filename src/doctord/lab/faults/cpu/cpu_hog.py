"""Busy processes beside the server."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
\\set first random(1, 900000)
select sum(abalance) from pgbench_accounts where aid between :first and :first + 50000;
\\sleep 20 ms
"""


@fault(cause="cpu_other_processes")
def cpu_hog(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Processes outside the database take all CPUs.

    Four per CPU compute checksums without end. The light load, and four sessions that run short reports with pauses in
    between, spend more time waiting for a CPU than running.

    Seen: no idle CPU, 120 reports per second at 7 ms of their own time each, transactions of the light load between 5
    and 37 ms instead of 1 ms.
    """
    with ExitStack() as beside:
        beside.enter_context(workload(server, seed=dose.seed, clients=4, script=_SCRIPT))
        for _ in range(dose.of(1, 4, 8) * (os.cpu_count() or 1)):
            beside.enter_context(running(["sha256sum", "/dev/zero"], Path(os.devnull)))
        yield
