"""A control group whose CPU quota is less than its server asks for, and one whose quota is enough."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from doctord.lab.dose import Dose
from doctord.lab.mysql.clients import clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.faults.cpu.cpu_hog import REPORT
from doctord.lab.mysql.server import PrivateMySQL
from doctord.lab.server import its_group


@fault(cause="cpu_throttled", controller="cpu")
def cpu_quota(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """The server's container may use part of one CPU, four sessions run short reports, and the host's CPUs are idle."""
    with _limited(server, dose, dose.of(0.4, 0.25, 0.15)):
        yield


@fault(cause=None, controller="cpu")
def cpu_quota_enough(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """The look-alike of cpu_quota: the same reports, seldom, under a quota of all the host's CPUs.

    There is nothing to be found.
    """
    with _limited(server, dose, float(os.cpu_count() or 1)):
        yield


@contextmanager
def _limited(server: PrivateMySQL, dose: Dose, cpus: float) -> Iterator[None]:
    its_group(server).limit_cpus(cpus)
    with clients(server, [REPORT], seed=dose.seed, clients=4, rate_per_s=20):
        yield
