"""Busy processes beside the server."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from doctord.lab.fault import fault
from doctord.lab.processes import running
from doctord.lab.server import Server


@fault(cause="cpu_outsider")
def cpu_hog(_server: Server, _seed: int) -> Iterator[None]:
    """Processes outside the database take all CPUs.

    Four per CPU compute checksums without end. The server's processes spend more time waiting for a CPU than running.
    """
    with ExitStack() as hogs:
        for _ in range(4 * (os.cpu_count() or 1)):
            hogs.enter_context(running(["sha256sum", "/dev/zero"], Path(os.devnull)))
        yield
