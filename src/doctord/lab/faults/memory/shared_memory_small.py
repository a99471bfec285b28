"""A /dev/shm of a container's usual smallness, for parallel joins that need more, and one that is large enough."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from subprocess import Popen

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import log_lines
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

# A view of the file systems of the server's own: what is mounted there is gone with it.
_MOUNT = 'mount -t tmpfs -o size={} shm /dev/shm && exec "$@"'
_SMALL = ("unshare", "--mount", "sh", "-c", _MOUNT.format("8m"), "sh")
_LARGE = ("unshare", "--mount", "sh", "-c", _MOUNT.format("1g"), "sh")
# Its hash table is one for the leader and its workers: some 15 MB, in shared memory.
_JOIN = (
    "select count(*) from pgbench_accounts a join pgbench_accounts b on b.aid = a.aid + 1"
    " where a.aid <= 250000 and b.aid <= 250000"
)
_REPORTS = """
import sys, threading, time
from contextlib import suppress
import psycopg
def report():
    with psycopg.connect(sys.argv[1], application_name="reports", autocommit=True) as session:
        while True:
            with suppress(psycopg.errors.DiskFull):
                session.execute(sys.argv[4])
            time.sleep(float(sys.argv[3]))
for _ in range(int(sys.argv[2])):
    threading.Thread(target=report).start()
"""
# A join of fewer rows than are worth a worker by default.
_SETTINGS = {
    "work_mem": "64MB",
    "parallel_setup_cost": "0",
    "min_parallel_table_scan_size": "0",
    "enable_mergejoin": "off",
}
_FAILED = Figure("reports that failed", "reports", 5, log_lines("could not resize shared memory segment"))


@fault(
    cause="shared_memory_full", effect=_FAILED, settings=_SETTINGS, entrance=_SMALL, root_for="a /dev/shm of its own"
)
def shared_memory_small(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The server's /dev/shm has 8 MiB, as a container's is small, and reports join by a parallel hash that needs more.

    All disks have room, and whatever is run by one process goes on.

    Seen: "could not resize shared memory segment: No space left on device", once for each report.
    """
    with _reports(server, clients=dose.of(1, 2, 4), pause_s=0.5):
        yield


@fault(cause=None, settings=_SETTINGS, entrance=_LARGE, root_for="a /dev/shm of its own")
def shared_memory_enough(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of shared_memory_small: the same reports, now and then, and a /dev/shm of 1 GiB.

    There is nothing to be found.
    """
    with _reports(server, clients=1, pause_s=8.0):
        yield


def _reports(server: PrivateServer, *, clients: int, pause_s: float) -> AbstractContextManager[Popen[bytes]]:
    command = [sys.executable, "-c", _REPORTS, server.dsn, str(clients), str(pause_s), _JOIN]
    return running(command, server.folder / "reports.log")
