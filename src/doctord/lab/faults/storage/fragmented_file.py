"""A table whose file lies in thousands of pieces."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.host.loop_device import loop_device
from doctord.lab.server import PrivateServer

_IMAGE_BYTES = 1 << 30
_HOLES_BYTES = 375 << 20
_TABLE = (
    "create unlogged table in_pieces tablespace pieces as"
    " select id, repeat(md5(id::text), 30) as filling from generate_series(1, 300000) as id",
    "checkpoint",
)


def _pieces(server: PrivateServer) -> int | None:
    """In how many pieces the table's file lies; null before there is one."""
    with server.connect() as connection:
        row = connection.execute("select pg_relation_filepath(to_regclass('in_pieces'))").fetchone()
    if row is None or row[0] is None:
        return None
    told = subprocess.run(["filefrag", server.data / row[0]], capture_output=True, text=True, check=True).stdout
    return int(told.rpartition(":")[2].split()[0])


_PIECES = Figure("pieces of the table's file", "pieces", 1000, _pieces)


@fault(cause="data_file_fragmented", effect=_PIECES, root_for="a loop device")
def fragmented_file(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A table is loaded into a file system whose free space is in holes of 64 KiB.

    It was filled, with small files for a part, and every other of those was deleted; later all but the small ones. To
    the kernel the disk is one that turns, whatever the lab's own folder lies on: on others only requests are more.

    Seen: 300 MiB of table in pieces of 64 KiB; the light load does not touch it.
    """
    with loop_device(server.folder, _IMAGE_BYTES) as device, device.taking(rotational=1):
        _leave_holes(device.mount, dose.of(112 << 10, 64 << 10, 16 << 10))
        device.tablespace(server, "pieces")
        for statement in _TABLE:
            server.execute(statement)
        (device.mount / "rest").unlink()
        yield


def _leave_holes(folder: Path, hole_bytes: int) -> None:
    (folder / "small").mkdir()
    files = [folder / "small" / str(number) for number in range(2 * _HOLES_BYTES // hole_bytes)]
    for file in files:
        file.write_bytes(b"x" * hole_bytes)
    _fill(folder / "rest")
    for file in files[::2]:
        file.unlink()


def _fill(path: Path) -> None:
    """Take what is left in one piece."""
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * (1 << 20)):
                pass
        except OSError:
            return
