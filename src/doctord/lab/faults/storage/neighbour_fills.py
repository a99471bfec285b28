"""A neighbour on the file system of a tablespace: one that fills it with a deleted file, one that stays at its size."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.host.loop_device import loop_device
from doctord.lab.host.processes import running
from doctord.lab.server import PrivateServer

_IMAGE_BYTES: Final = 1 << 30
_BEFORE: Final = 300 << 20
# A file that was deleted after it was opened, and is written all the same: a log that was rotated by hand.
_WRITER: Final = """
import os, sys, time
path, chunk, least, most = sys.argv[1], bytes(int(sys.argv[2]) // 10), int(sys.argv[3]), int(sys.argv[4])
with open(path, "wb", buffering=0) as file:
    for _ in range(least // 2**20):
        file.write(bytes(2**20))
    if len(sys.argv) > 5:
        os.unlink(path)
    while True:
        file.write(chunk)
        if file.tell() > most:
            file.seek(0)
        time.sleep(0.1)
"""


def _used_bytes(server: PrivateServer) -> float:
    space = os.statvfs(server.folder / "loop")
    return float((space.f_blocks - space.f_bfree) * space.f_frsize)


_FILLED = Figure("used on the tablespace's file system", "bytes", _BEFORE + (20 << 20), _used_bytes)


@fault(cause="filesystem_full", effect=_FILLED, root_for="a loop device")
def neighbour_fills(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A neighbour writes into a file that was deleted, on the file system of a tablespace: 5 MB each second.

    No folder shows the file. There is room for two minutes, and nothing of the server's grows.

    Seen: 5 MB/s more at each look, and the file with its process, as root.
    """
    with _neighbour(server, str(dose.of(3, 5, 10) * 2**20), str(_BEFORE), str(_IMAGE_BYTES), "deleted"):
        yield


@fault(cause=None, root_for="a loop device")
def neighbour_rewrites(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of neighbour_fills: as much is written each second, into a file that stays at its size.

    As much is left at each look.
    """
    with _neighbour(server, str(5 * 2**20), str(_BEFORE), str(_BEFORE)):
        yield


@contextmanager
def _neighbour(server: PrivateServer, *words: str) -> Iterator[None]:
    with loop_device(server.folder, _IMAGE_BYTES) as device:
        device.tablespace(server, "history")
        command = [sys.executable, "-c", _WRITER, str(device.mount / "spool"), *words]
        with running(command, server.folder / "neighbour.log"):
            yield
