"""Who fills a file system that becomes fuller: the open files on it that grow, also those that were deleted.

What was deleted while a process has it open keeps its room, and no walk through folders finds it (unlink(2)). Nothing
is looked through before a file system on a device has lost room at three looks in a row, or is nearly full; then the
more seldom the longer a look through all descriptors takes.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from doctord._native import Batch
from doctord.collect.core.cost import Cost
from doctord.collect.core.mounts import Mount, mounts, without_device
from doctord.collect.core.notices import Notices
from doctord.dataset.rows import now_us, rows

PROC: Final = Path("/proc")
_DELETED: Final = " (deleted)"
_BLOCK_BYTES: Final = 512  # of st_blocks (stat(2))
_LOOK_SHARE: Final = 0.02  # of the time
_LOOKS: Final = 3
_SOON_S: Final = 3600.0
# Of one that is nearly full and stays so, it is enough to know which deleted files take room.
_NEARLY_FULL, _SELDOM_S = 0.95, 30.0
# Images, always full: the same list as native/src/host/filesystem.rs.
_READ_ONLY: Final = frozenset({"squashfs", "iso9660", "erofs"})
_MOST_TOLD: Final = 4
_LEAST_BYTES: Final = 2**20
_SUBJECT: Final = "which process fills a file system"
_HINT: Final = "run as root: /proc/PID/fd of other users' processes tells which files they have open"


class Look(NamedTuple):
    """When a file system was looked at, and what of it was left and used."""

    at_s: float
    left_bytes: int
    used_bytes: int


class OpenFile(NamedTuple):
    """A file that a process has open: its mount, its path, the room that it takes, and whether it was deleted."""

    mount: str
    path: str
    bytes: int
    is_deleted: bool
    pid: int


Files = Mapping[tuple[int, int], OpenFile]
"""By device and inode."""


class OpenFiles:
    """Fills `statistic` with `open_file.*` of file systems that fill; the entity is `MOUNT: PATH by COMMAND (PID)`."""

    name = "open files"

    def __init__(self, period_s: float = 2.0, proc: Path = PROC) -> None:
        """Nothing is looked at yet."""
        self.period_s = period_s
        self._proc = proc
        self._notices, self._cost = Notices(), Cost(self.name)
        self._looks = dict[str, list[Look]]()
        self._before: tuple[float, Files] | None = None
        self._look_from = float("-inf")

    def sample(self) -> list[Batch]:
        """Files that grew, and deleted ones that take room, on mounts that fill; mostly nothing."""
        with self._cost:
            told = self._told()
        return [*([rows("statistic", told)] if told else []), *self._notices.batches(), *self._cost.batches()]

    def close(self) -> None:
        """No file stays open."""

    def _told(self) -> list[dict[str, Any]]:
        now = time.monotonic()
        known = mounts(proc=self._proc)
        points = _on_devices(known, self._proc)
        self._looks = {
            device: [*self._looks.get(device, ())[1 - _LOOKS :], *_look(point, now)] for device, point in points.items()
        }
        filling = {device for device, looks in self._looks.items() if fills(looks)}
        wanted = filling or {device for device, looks in self._looks.items() if looks and is_nearly_full(looks[-1])}
        if not wanted or now < self._look_from:
            return []
        spent_s = time.thread_time()
        found = self._open(known, {device: points[device] for device in wanted})
        if not filling or self._before is not None:  # the second look tells what grows: it comes at once
            pause_s = 0.0 if filling else _SELDOM_S
            self._look_from = now + max((time.thread_time() - spent_s) / _LOOK_SHARE, pause_s)
        before, self._before = self._before, (now, found)
        return [*self._deleted(found), *(self._grown(found, before[1], now - before[0]) if before else ())]

    def _open(self, known: Sequence[Mount], wanted: Mapping[str, str]) -> Files:
        """The regular files on these devices, each with its mount, that processes have open."""
        found = dict[tuple[int, int], OpenFile]()
        by_depth = sorted(known, key=lambda one: len(one.point), reverse=True)
        places = [(f"{one.point.rstrip('/')}/", wanted.get(one.device_id)) for one in by_depth]
        for pid in sorted(int(name) for name in os.listdir(self._proc) if name.isdigit()):  # noqa: PTH208 - of thousands
            try:
                descriptors = os.listdir(self._proc / str(pid) / "fd")  # noqa: PTH208 - as above
            except PermissionError:
                self._notices.not_measured(None, _SUBJECT, "not granted", _HINT)
                continue
            except OSError:
                continue  # it has ended
            for descriptor in descriptors:
                with suppress(OSError):
                    found |= _file(f"{self._proc}/{pid}/fd/{descriptor}", pid, places)
        return found

    def _deleted(self, found: Files) -> Iterator[dict[str, Any]]:
        """The deleted ones that take most room."""
        deleted = [one for one in found.values() if one.is_deleted and one.bytes >= _LEAST_BYTES]
        for one in sorted(deleted, key=lambda file: -file.bytes)[:_MOST_TOLD]:
            yield self._row(one) | {"name": "open_file.deleted_bytes", "value": one.bytes, "unit": "bytes",
                                    "kind": "gauge"}  # fmt: skip

    def _grown(self, found: Files, before: Files, seconds: float) -> Iterator[dict[str, Any]]:
        """Those that grew most since the look before; what was not open then may have been as large all along."""
        grown = [(one.bytes - before[key].bytes, one) for key, one in found.items() if key in before]
        for size, one in sorted((each for each in grown if each[0] > 0), key=lambda each: -each[0])[:_MOST_TOLD]:
            yield self._row(one) | {"name": "open_file.grown_bytes", "value": size / seconds, "unit": "bytes_per_s",
                                    "kind": "rate", "interval_s": seconds}  # fmt: skip

    def _row(self, one: OpenFile) -> dict[str, Any]:
        command = "?"
        with suppress(OSError):
            command = (self._proc / str(one.pid) / "comm").read_text(errors="replace").strip()
        path = f"{one.path}{_DELETED}" if one.is_deleted else one.path
        entity = f"{one.mount}: {path} by {command} ({one.pid})"
        return {"ts": now_us(), "host": os.uname().nodename, "component": "kernel", "entity": entity}


def fills(looks: Sequence[Look]) -> bool:
    """Whether less was left at each of three looks, and nothing will be within the hour at that rate."""
    if len(looks) < _LOOKS:
        return False
    falls = all(later.left_bytes < earlier.left_bytes for earlier, later in pairwise(looks))
    per_s = (looks[0].left_bytes - looks[-1].left_bytes) / (looks[-1].at_s - looks[0].at_s)
    return falls and looks[-1].left_bytes <= per_s * _SOON_S


def is_nearly_full(look: Look) -> bool:
    """Whether hardly any of what can be used is left, as df counts it."""
    return look.used_bytes >= _NEARLY_FULL * (look.used_bytes + look.left_bytes)


def _on_devices(known: Sequence[Mount], proc: Path) -> dict[str, str]:
    """The first mount of each device with a local file system that is written to."""
    others = (without_device(proc) - {"zfs"}) | _READ_ONLY
    return {one.device_id: one.point for one in reversed(known) if one.kind not in others and not one.is_remote}


def _look(point: str, at_s: float) -> list[Look]:
    with suppress(OSError):
        space = os.statvfs(point)
        if space.f_blocks:
            used = (space.f_blocks - space.f_bfree) * space.f_frsize
            return [Look(at_s, space.f_bavail * space.f_frsize, used)]
    return []


def _file(link: str, pid: int, places: Sequence[tuple[str, str | None]]) -> dict[tuple[int, int], OpenFile]:
    """What a descriptor leads to, if that is a regular file on one of the mounts that are looked at.

    Its path is looked at first: to ask a server that does not answer about a file may take for ever.

    Raises:
        OSError: It was closed meanwhile.
    """
    path = os.readlink(link)  # noqa: PTH115 - of thousands
    mount = next((mount for prefix, mount in places if path.startswith(prefix)), None)
    if mount is None:
        return {}
    told = os.stat(link)  # noqa: PTH116 - as above
    if not stat.S_ISREG(told.st_mode):
        return {}
    is_deleted = told.st_nlink == 0
    file = OpenFile(mount, path.removesuffix(_DELETED), told.st_blocks * _BLOCK_BYTES, is_deleted, pid)
    return {(told.st_dev, told.st_ino): file}
