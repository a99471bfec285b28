"""A log on a slow device beside data on a fast one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.host.folder import give
from doctord.lab.host.loop_device import LoopDevice, slow_device
from doctord.lab.server import PrivateServer

_SIZE_BYTES = 512 << 20


@fault(cause="device_slow", root_for="a loop device", restarts_load=True, warm_up_s=4.0)
def wal_on_slow_device(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """pg_wal lies on a device that takes 25 ms for each write; the data's device is fast.

    Reads are as quick as ever, commits are not. With data on the slow one, `disk_throttled` looks like it.

    Seen: 72 writes a second at 16 ms each, commits of 48 ms; the light load gets 60 transactions a second.
    """
    with slow_device(server.folder, _SIZE_BYTES, delay_ms=dose.of(10, 25, 60)) as device, _stopped_before(server):
        _copy_wal(server, device)
        with device.over(server.data / "pg_wal"):
            server.execute("select pg_switch_wal()")
            yield


@contextmanager
def _stopped_before(server: PrivateServer) -> Iterator[None]:
    """The server ends with the context, and closes its files."""
    try:
        yield
    finally:
        server.stop()


def _copy_wal(server: PrivateServer, device: LoopDevice) -> None:
    """Its next segment is written there once that lies over pg_wal; a server that crashed then would not come back."""
    shutil.copytree(server.data / "pg_wal", device.mount, dirs_exist_ok=True)
    for path in (device.mount, *device.mount.rglob("*")):
        give(path)
