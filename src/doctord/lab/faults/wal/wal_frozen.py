"""A file system of the log that is frozen for a snapshot and not thawed, and one that is frozen for a moment."""

import sys
from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import ONE, fault
from doctord.lab.host.loop_device import loop_device
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_SIZE_BYTES = 512 << 20
# What a backup agent does around each snapshot. It thaws what it froze also when the lab ends it.
_SNAPSHOTS = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
while True:
    subprocess.run(["fsfreeze", "--freeze", sys.argv[1]], check=True)
    try:
        time.sleep(0.1)
    finally:
        subprocess.run(["fsfreeze", "--unfreeze", sys.argv[1]], check=True)
    time.sleep(4.0)
"""


@fault(cause="commits_hang", intensities=ONE, root_for="a loop device", restarts_load=True)
def wal_frozen(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The log's file system was frozen for a snapshot (fsfreeze), and nobody thaws it: no commit ends, reads go on.

    The kernel lets each write(2) wait until the file system is thawed. The device does nothing, no error is said.

    Seen: no transaction of the light load ends; sessions stand in WALWrite, all of them in one and the same wait.
    """
    with loop_device(server.folder, _SIZE_BYTES) as device, device.holding_wal(server), device.frozen():
        yield


@fault(cause=None, root_for="a loop device")
def wal_frozen_for_snapshots(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of wal_frozen: it is frozen for a tenth of a second every four, as snapshots do.

    Commits wait for it now and then. There is nothing to be found.
    """
    with loop_device(server.folder, _SIZE_BYTES) as device, device.holding_wal(server):
        agent = [sys.executable, "-c", _SNAPSHOTS, str(device.mount)]
        with running(agent, server.folder / "snapshots.log", on_death="TERM") as process:
            yield
            process.terminate()
            process.wait()
