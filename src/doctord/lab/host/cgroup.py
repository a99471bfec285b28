"""A control group for the server, in cgroup v2 where it has the controller, else in the hierarchy of v1."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from doctord.lab.errors import UnavailableError
from doctord.lab.host.folder import PREFIX, is_stale

Controller = Literal["cpu", "io", "memory", "pids"]

_V1_NAME: Final[dict[Controller, str]] = {"cpu": "cpu", "io": "blkio", "memory": "memory", "pids": "pids"}
_PERIOD_US: Final = 100_000
_REMOVE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Group:
    """One group, with one controller."""

    folder: Path
    version: Literal[1, 2]

    @property
    def entrance(self) -> list[str]:
        """What to put before a command so that it runs in the group from its first moment."""
        return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self.folder / "cgroup.procs")]

    def limit_io(self, device: str, *, reads_per_s: int, writes_per_s: int) -> None:
        """Hold its requests to the device (`MAJOR:MINOR`) down."""
        if self.version == 2:
            self._write("io.max", f"{device} riops={reads_per_s} wiops={writes_per_s}")
        else:
            self._write("blkio.throttle.read_iops_device", f"{device} {reads_per_s}")
            self._write("blkio.throttle.write_iops_device", f"{device} {writes_per_s}")

    def free_io(self, device: str) -> None:
        """Lift the limits again."""
        if self.version == 2:
            self._write("io.max", f"{device} riops=max wiops=max")
        else:
            self.limit_io(device, reads_per_s=0, writes_per_s=0)

    def limit_cpus(self, cpus: float) -> None:
        """Let it use so many CPUs, in each period of a tenth of a second."""
        quota_us = round(cpus * _PERIOD_US)
        if self.version == 2:
            self._write("cpu.max", f"{quota_us} {_PERIOD_US}")
        else:
            self._write("cpu.cfs_period_us", str(_PERIOD_US))
            self._write("cpu.cfs_quota_us", str(quota_us))

    def limit_memory(self, limit_bytes: int) -> None:
        """Hold its memory, page cache included, down."""
        self._write("memory.max" if self.version == 2 else "memory.limit_in_bytes", str(limit_bytes))

    def free_memory(self) -> None:
        """Lift the limit again."""
        self._write(*(("memory.max", "max") if self.version == 2 else ("memory.limit_in_bytes", "-1")))

    def limit_tasks(self, *, more: int) -> None:
        """Let it start so many tasks (processes and threads) beside those that are there."""
        there = int((self.folder / "pids.current").read_text())
        self._write("pids.max", str(there + more))

    def _write(self, file: str, text: str) -> None:
        (self.folder / file).write_text(text)


@contextmanager
def control_group(controller: Controller) -> Iterator[Group]:
    """A new group with the controller, removed in the end.

    Raises:
        UnavailableError: no hierarchy offers the controller, or it may not be written.
    """
    root, version = _hierarchy(controller)
    folder = root / f"{PREFIX}{os.getpid()}"
    try:
        if version == 2:
            (root / "cgroup.subtree_control").write_text(f"+{controller}")
        folder.mkdir()
    except OSError as error:
        raise UnavailableError(f"no control group can be made in {root}: {error.strerror}") from error
    try:
        yield Group(folder, version)
    finally:
        _remove(folder)


def sweep() -> None:
    """Remove the groups of labs that were killed before they could do so."""
    for kind, mount, _options in _mounts():
        for folder in mount.glob(f"{PREFIX}*") if kind.startswith("cgroup") else ():
            if is_stale(folder.name):
                _remove(folder)


def device_of(path: Path) -> str:
    """The whole disk, as `MAJOR:MINOR`, below a file: what I/O limits are set on.

    Raises:
        UnavailableError: the file system has no device of its own (tmpfs, overlay, btrfs).
    """
    number = path.stat().st_dev
    entry = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not entry.exists():
        raise UnavailableError(f"{path} is on a file system without a block device; set TMPDIR to a folder on a disk")
    disk = entry.resolve().parent if (entry / "partition").exists() else entry
    return (disk / "dev").read_text().strip()


def _hierarchy(controller: Controller) -> tuple[Path, Literal[1, 2]]:
    for kind, mount, options in _mounts():
        if kind == "cgroup2" and controller in (mount / "cgroup.controllers").read_text().split():
            return mount, 2
        if kind == "cgroup" and _V1_NAME[controller] in options:
            return mount, 1
    raise UnavailableError(f"no cgroup hierarchy offers the {controller} controller")


def _mounts() -> Iterator[tuple[str, Path, list[str]]]:
    for line in Path("/proc/mounts").read_text().splitlines():
        _source, mount, kind, options, *_rest = line.split()
        yield kind, Path(mount), options.split(",")


def _remove(folder: Path) -> None:
    """Remove a group; its last processes may need a moment to go."""
    deadline = time.monotonic() + _REMOVE_S
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:  # another lab has swept it
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
