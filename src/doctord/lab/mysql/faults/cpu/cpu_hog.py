"""Busy processes beside the server."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.host.processes import running
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL

REPORT = Script(
    ("SELECT SUM(balance) FROM accounts WHERE id BETWEEN {first} AND {first} + 20000", "sleep 0.02"),
    {"first": (1, 270_000)},
)


@fault(cause="cpu_other_processes")
def cpu_hog(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """Processes outside the database take all CPUs: four per CPU compute checksums without end.

    The light load, and four sessions that run short reports with pauses in between, wait for a CPU.
    """
    with ExitStack() as beside:
        beside.enter_context(clients(server, [REPORT], seed=dose.seed, clients=4))
        for _ in range(dose.of(1, 4, 8) * (os.cpu_count() or 1)):
            beside.enter_context(running(["sha256sum", "/dev/zero"], Path(os.devnull)))
        yield
