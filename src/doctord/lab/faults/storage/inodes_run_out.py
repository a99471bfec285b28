"""A tablespace whose file system has room and no inodes, and one with inodes enough."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import ONE, fault
from doctord.lab.figures import log_lines
from doctord.lab.host.loop_device import loop_device
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_IMAGE_BYTES = 1 << 30
_FEW, _FILES = 2048, 4000
# A report keeps what it has worked out in a table of its own; a client goes on when it may not.
_REPORTS = """
import sys, time
from contextlib import suppress
import psycopg
with psycopg.connect(sys.argv[1], application_name="reports", autocommit=True) as session:
    while True:
        with suppress(psycopg.errors.DiskFull):
            session.execute("create table result tablespace small as select aid from pgbench_accounts limit 100")
            session.execute("drop table result")
        time.sleep(0.1)
"""
_FAILED = Figure("reports that failed", "reports", 20, log_lines("No space left on device"))


@fault(cause="disk_full", intensities=ONE, effect=_FAILED, root_for="a loop device")
def inodes_run_out(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """Somebody's small files have taken all inodes of a tablespace's file system: no new table can be made there.

    Nine tenths of its bytes are free. ENOSPC is said of inodes as of blocks (open(2)).

    Seen: "could not create directory: No space left on device" nine times a second, 922 MiB left.
    """
    with _reports(server, inodes=_FEW):
        yield


@fault(cause=None, root_for="a loop device")
def inodes_enough(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of inodes_run_out: as many small files, on a file system with inodes for ten times as many.

    Reports make their tables and drop them. There is nothing to be found.
    """
    with _reports(server, inodes=10 * _FILES):
        yield


@contextmanager
def _reports(server: PrivateServer, *, inodes: int) -> Iterator[None]:
    with loop_device(server.folder, _IMAGE_BYTES, inodes=inodes) as device:
        device.tablespace(server, "small")
        others = device.mount / "spool"
        others.mkdir()
        with suppress(OSError):  # none is left: that is the fault
            for number in range(_FILES):
                (others / str(number)).touch()
        with running([sys.executable, "-c", _REPORTS, server.dsn], server.folder / "reports.log"):
            yield
