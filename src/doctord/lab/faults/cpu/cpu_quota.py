"""A control group whose CPU quota is less than its server asks for, and one whose quota is enough."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer, its_group

_SCRIPT = """
\\set first random(1, 900000)
select sum(abalance) from pgbench_accounts where aid between :first and :first + 50000;
\\sleep 50 ms
"""


@fault(cause="cpu_throttled", controller="cpu")
def cpu_quota(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The server's container may use part of one CPU, four sessions run short reports, and the host's CPUs are idle.

    Once a period's quota is used up all processes of the group stand still until the next (CFS bandwidth control).
    `cpu_hog` looks the same to the sessions: there, processes outside have taken the CPUs.

    Seen: most periods cut short, and a host that is idle for the most part.
    """
    with _limited(server, dose, dose.of(0.4, 0.25, 0.15)):
        yield


@fault(cause=None, controller="cpu")
def cpu_quota_enough(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of cpu_quota: the same reports under a quota of all the host's CPUs.

    There is nothing to be found.
    """
    with _limited(server, dose, float(os.cpu_count() or 1)):
        yield


@contextmanager
def _limited(server: PrivateServer, dose: Dose, cpus: float) -> Iterator[None]:
    its_group(server).limit_cpus(cpus)
    with workload(server, seed=dose.seed, clients=4, script=_SCRIPT):
        yield
