"""The device beneath a file, and where on it the file's blocks are, so that both can be asked for the same blocks.

The kernel says where they are (FIEMAP, Documentation/filesystems/fiemap.rst).
"""

import fcntl
import os
import struct
from pathlib import Path
from typing import Final, NamedTuple

from doctord.errors import UserError
from doctord.stress.target import Target

LEAST_BYTES: Final = 8 << 20  # in one piece, to be read at random
_FIEMAP: Final = 0xC020660B  # _IOWR('f', 11, struct fiemap)
_SYNC: Final = 1
_HEAD: Final = struct.Struct("=QQLLLL")
_EXTENT: Final = struct.Struct("=QQQ16xL12x")
_MOST: Final = 4096  # extents
_NOT_PLAIN: Final = 0x0002 | 0x0008 | 0x0200 | 0x0800  # unknown, encoded, inline, unwritten
HINT: Final = "leave out `beneath`, or name a file of ext4 or xfs, as root"


class Beneath(NamedTuple):
    """A device, and a piece of a file that stands there in one: where in the file, where on the device, how long."""

    path: str
    in_file: int
    on_device: int
    size_bytes: int


def beneath(place: Target) -> Beneath:
    """The device beneath a file, with the file's largest piece.

    Raises:
        UserError: it is no file, the kernel does not say where it is, no piece is large enough, or the device may not
            be read.
    """
    if place.kind == "device" or place.device is None:
        raise UserError(f"there is no device beneath {place.name}", HINT)
    pieces = _pieces(place)
    largest = max(pieces, key=lambda piece: piece[2], default=(0, 0, 0))
    if largest[2] < LEAST_BYTES:
        raise UserError(f"the file in {place.name} is in small pieces, or it is not told where", HINT)
    device = Path("/dev", _name(place.device))
    try:
        os.close(os.open(device, os.O_RDONLY))
    except OSError as error:
        raise UserError(f"{device}, beneath {place.name}, cannot be read: {error.strerror}", HINT) from error
    return Beneath(str(device), *largest)


def _pieces(place: Target) -> list[tuple[int, int, int]]:
    """Where its extents are in the file and on the device, and how long; those that follow each other as one."""
    request = bytearray(_HEAD.pack(0, 2**64 - 1, _SYNC, 0, _MOST, 0) + bytes(_EXTENT.size * _MOST))
    try:
        with Path(place.path).open("rb") as file:
            fcntl.ioctl(file, _FIEMAP, request)
    except OSError as error:
        raise UserError(f"it is not told where the file in {place.name} is: {error.strerror}", HINT) from error
    found = list[tuple[int, int, int]]()
    for number in range(_HEAD.unpack_from(request)[3]):
        logical, physical, length, flags = _EXTENT.unpack_from(request, _HEAD.size + number * _EXTENT.size)
        if flags & _NOT_PLAIN:
            continue
        before = found[-1] if found else (0, 0, 0)
        if before[2] and before[0] + before[2] == logical and before[1] + before[2] == physical:
            found[-1] = (*before[:2], before[2] + length)
        else:
            found.append((logical, physical, length))
    return found


def _name(device: str) -> str:
    told = Path(f"/sys/dev/block/{device}/uevent").read_text(encoding="ascii").splitlines()
    return next(line.partition("=")[2] for line in told if line.startswith("DEVNAME="))
