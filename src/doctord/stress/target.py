"""What a load test of storage is given to: a file of its own, which has no name, or a file or device that is there.

A file of its own is unlinked as soon as it is open, and fio is given it by its descriptor: however a test ends, kill -9
included, the kernel takes its room back. What was there before is only read, unless its name is said twice.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from doctord.errors import UserError
from doctord.stress.ground import LEAST_FREE
from doctord.units import in_bytes

Kind = Literal["made", "file", "device"]
MADE_BYTES: Final = 1 << 30  # where no size is said
_SECTOR: Final = 512
_SPARSE: Final = 0.9  # of a file's size on disk; less is holes, which no device is asked for


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go.

    Attributes:
        name: As the user said it.
        path: As fio opens it.
        kind: A file of our own, a file, or a block device.
        size_bytes: Requests go to so much of it, from its beginning.
        device: The block device (`MAJOR:MINOR`) that holds it; null where there is none to be seen (NFS, tmpfs).
    """

    name: str
    path: str
    kind: Kind
    size_bytes: int
    device: str | None

    def has_room(self) -> bool:
        """Whether a tenth of its file system is free; a device has no such thing."""
        return self.kind == "device" or _has_room(self.path, 0)

    def counted(self) -> "Counted | None":
        """What its device has done so far; null where that is not told."""
        return None if self.device is None else counted(self.device)


@dataclass(frozen=True, slots=True)
class Counted:
    """What a block device has done since the start of the host (the kernel's Documentation/block/stat.rst)."""

    requests: int
    moved_bytes: int
    queued_ms: int


def counted(device: str) -> Counted | None:
    """The same of a device (`MAJOR:MINOR`); null where it is gone, or counts nothing."""
    try:
        told = [int(word) for word in Path(f"/sys/dev/block/{device}/stat").read_text(encoding="ascii").split()]
    except OSError:
        return None
    return Counted(told[0] + told[4], (told[2] + told[6]) * _SECTOR, told[10])


def is_rotational(device: str | None) -> bool | None:
    """Whether a block device is a disk that turns, as far as it says; null where it does not."""
    entry = Path("/sys/dev/block", device or "none").resolve()
    for folder in (entry, entry.parent):  # of a partition the disk knows
        if (told := folder / "queue/rotational").exists():
            return told.read_text(encoding="ascii").strip() == "1"
    return None


@contextmanager
def target(place: Path, size_bytes: int | None, *, writes: bool, overwrite: Path | None) -> Iterator[Target]:
    """A file of our own where the place is a folder or not there yet; else the file or device that it names.

    Args:
        place: A folder, a file, or a block device.
        size_bytes: Requests go to so much of it; null: to all that is there, or MADE_BYTES of a file of our own.
        writes: Whether any step writes.
        overwrite: The place once more, where what it holds may be lost.

    Raises:
        UserError: it is none of these, is in use or too small, or holds data that nobody said may be overwritten.
    """
    if size_bytes is not None and size_bytes <= 0:
        raise UserError("--size is nothing", "--size 4GiB: larger than what caches it")
    if overwrite is not None and (not place.exists() or not overwrite.exists() or not overwrite.samefile(place)):
        raise UserError(f"--overwrite-this {overwrite} is not {place}", "name what is to be overwritten a second time")
    if place.is_dir() or not (place.exists() or place.is_symlink()):
        with _made(place, size_bytes or MADE_BYTES) as made:
            yield made
        return
    found = _found(place, size_bytes)
    if writes and overwrite is None:
        raise UserError(
            f"{place} is there, and steps would write to it",
            f"--overwrite-this {place} loses what it holds; or name a folder, where a file is made and dropped",
        )
    if not writes:
        yield found
        return
    with _claimed(found):
        yield found


@contextmanager
def _made(place: Path, size_bytes: int) -> Iterator[Target]:
    folder = place if place.is_dir() else place.parent
    if not folder.is_dir():
        raise UserError(f"{folder} is not there", "name a folder, a file or a block device")
    if not _has_room(str(folder), size_bytes):
        raise UserError(
            f"{in_bytes(size_bytes)} would leave less than {LEAST_FREE:.0%} of the file system of {folder} free",
            "a smaller --size, or another folder",
        )
    try:
        file = tempfile.TemporaryFile(dir=folder, prefix="doctord-stress-")  # noqa: SIM115 - closed below
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}", "name a folder that you may write") from error
    with file:
        file.truncate(size_bytes)  # a shorter one fio would make anew
        number = os.fstat(file.fileno()).st_dev
        yield Target(str(place), f"/proc/{os.getpid()}/fd/{file.fileno()}", "made", size_bytes, _device(number))


def _found(place: Path, size_bytes: int | None) -> Target:
    try:
        real = place.resolve(strict=True)
        told = real.stat()
        with real.open("rb") as opened:
            there = opened.seek(0, os.SEEK_END)
    except OSError as error:
        raise UserError(f"{place}: {error.strerror}", "name what is there and you may read, or a folder") from error
    is_device = stat.S_ISBLK(told.st_mode)
    if not is_device and not stat.S_ISREG(told.st_mode):
        raise UserError(f"{place} is no file, folder or block device", "name one of these")
    if there < (size_bytes or 1):
        raise UserError(f"{place} holds {in_bytes(there)} only", "a smaller --size, or another file")
    if not is_device and told.st_blocks * _SECTOR < _SPARSE * there:
        hint = "copy it with `cp --sparse=never`, or name a folder, where a file is made and dropped"
        raise UserError(f"{place} has holes, and reading them asks no device", hint)
    device = _device(told.st_rdev if is_device else told.st_dev)
    return Target(str(place), str(real), "device" if is_device else "file", size_bytes or there, device)


@contextmanager
def _claimed(found: Target) -> Iterator[None]:
    """Refuse what others use, and keep a device from being mounted meanwhile.

    The kernel knows of devices that hold a mounted file system, swap, or a part of another device (O_EXCL); of raw ones
    that a database has open, and of files, processes tell, as far as they may be asked.
    """
    if user := _user(Path(found.path)):
        raise UserError(f"{found.name} is open in process {user}", "nothing that others have open is overwritten")
    if not found.has_room():
        raise UserError(f"less than {LEAST_FREE:.0%} of the file system of {found.name} is free", "make room first")
    try:
        claim = os.open(found.path, os.O_RDWR | (os.O_EXCL if found.kind == "device" else 0))
    except OSError as error:
        hint = "nothing that is mounted or part of a volume is overwritten" if found.kind == "device" else "see rights"
        raise UserError(f"{found.name} cannot be overwritten: {error.strerror}", hint) from error
    try:
        yield
    finally:
        os.close(claim)


def _user(path: Path) -> int | None:
    """A process that has it open; null where none is seen."""
    own = path.stat()
    for entry in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):  # gone, or another user's
            told = entry.stat()
            same_file = (told.st_dev, told.st_ino) == (own.st_dev, own.st_ino)
            if same_file or (stat.S_ISBLK(told.st_mode) and told.st_rdev == own.st_rdev):
                return int(entry.parts[2])
    return None


def _has_room(path: str, more_bytes: int) -> bool:
    room = os.statvfs(path)
    return room.f_bavail * room.f_frsize - more_bytes >= LEAST_FREE * room.f_blocks * room.f_frsize


def _device(number: int) -> str | None:
    named = f"{os.major(number)}:{os.minor(number)}"
    return named if Path("/sys/dev/block", named).exists() else None
