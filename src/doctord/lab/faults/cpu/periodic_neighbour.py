"""A neighbour that takes all CPUs for two seconds of every ten, and one that takes as much, evenly."""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.load.workload import Workload, workload
from doctord.lab.server import PrivateServer

_SCRIPT = """
\\set first random(1, 900000)
select sum(abalance) from pgbench_accounts where aid between :first and :first + 50000;
\\sleep 60 ms
"""
_PERIODIC = "while :; do timeout 2 sha256sum /dev/zero; sleep 8; done"
# A fifth of the CPUs, four milliseconds at a time.
_STEADY = """
import sys, time
while True:
    until = time.monotonic() + 0.004
    while time.monotonic() < until:
        pass
    time.sleep(float(sys.argv[1]))
"""


@fault(cause="cpu_other_processes")
def periodic_neighbour(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Every ten seconds a collector outside the database takes all CPUs for two, with four processes for each.

    Four sessions that run short reports, with pauses in between, stand still for so long. On average two thirds of the
    CPUs are idle.

    Seen: for two seconds none is, and the sessions' waiting for a CPU is nearly all of these seconds.
    """
    with ExitStack() as beside:
        beside.enter_context(_reports(server, dose))
        for _ in range(dose.of(2, 4, 8) * (os.cpu_count() or 1)):
            beside.enter_context(running(["sh", "-c", _PERIODIC], Path(os.devnull)))
        yield


@fault(cause=None)
def steady_neighbour(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of periodic_neighbour: as much CPU time on average, four milliseconds at a time.

    There is always a CPU that is free.
    """
    pause_s = 0.004 * (1 / (0.2 * (os.cpu_count() or 1)) - 1)
    with _reports(server, dose), running([sys.executable, "-c", _STEADY, str(max(pause_s, 0.0))], Path(os.devnull)):
        yield


def _reports(server: PrivateServer, dose: Dose) -> AbstractContextManager[Workload]:
    return workload(server, seed=dose.seed, clients=4, script=_SCRIPT)
