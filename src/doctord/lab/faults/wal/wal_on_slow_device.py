"""A log on a slow device beside data on a fast one."""

from collections.abc import Iterator
from contextlib import contextmanager

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.host.loop_device import slow_device
from doctord.lab.server import PrivateServer

_SIZE_BYTES = 512 << 20


@fault(cause="device_slow", root_for="a loop device", restarts_load=True, warm_up_s=4.0)
def wal_on_slow_device(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """pg_wal lies on a device that takes 25 ms for each write; the data's device is fast.

    Reads are as quick as ever, commits are not. With data on the slow one, `disk_throttled` looks like it.

    Seen: 72 writes a second at 16 ms each, commits of 48 ms; the light load gets 60 transactions a second.
    """
    delay_ms = dose.of(10, 25, 60)
    with (
        slow_device(server.folder, _SIZE_BYTES, delay_ms=delay_ms) as device,
        _stopped_before(server),
        device.holding_wal(server),
    ):
        yield


@contextmanager
def _stopped_before(server: PrivateServer) -> Iterator[None]:
    """The server ends with the context, and closes its files."""
    try:
        yield
    finally:
        server.stop()
