"""What is mounted where a process lives, which may be a container: /proc/PID/mountinfo (proc(5))."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from doctord.regex import regex

_OCTAL: Final = regex(r"\\([0-7]{3})")  # the kernel writes blanks, tabs, newlines and backslashes so
# A server that does not answer would stop us in statvfs for good: the same list as native/src/host/filesystem.rs.
_REMOTE: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "lustre", "gpfs", "ocfs2", "afs"}
)  # fmt: skip


class Mount(NamedTuple):
    """A mount: its number (the same in all processes that see it), its device (MAJOR:MINOR), point, kind and source."""

    number: int
    device_id: str
    point: str
    kind: str
    source: str

    @property
    def is_remote(self) -> bool:
        """Whether to ask about it may take for ever."""
        return self.kind in _REMOTE or self.kind.startswith("fuse.")


def mounts(pid: int | None = None, proc: Path = Path("/proc")) -> list[Mount]:
    """The mounts of a process, by default our own.

    Raises:
        OSError: The process is gone.
    """
    text = (proc / ("self" if pid is None else str(pid)) / "mountinfo").read_text(errors="replace")
    return [mount for line in text.splitlines() if (mount := _mount(line))]


def holding(found: Sequence[Mount], folder: str) -> Mount | None:
    """The mount that a folder lies on: the deepest above it, and of several at one point the last."""
    path = PurePosixPath(folder)
    above = [mount for mount in found if path.is_relative_to(mount.point)]
    return max(reversed(above), key=lambda mount: len(mount.point), default=None)


def without_device(proc: Path = Path("/proc")) -> frozenset[str]:
    """Kinds of file system that lie on no device, by the kernel's own list; all of them where it is not to be had."""
    try:
        lines = (proc / "filesystems").read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(line.removeprefix("nodev").strip() for line in lines if line.startswith("nodev"))


def _mount(line: str) -> Mount | None:
    left, _, right = line.partition(" - ")
    about, what = left.split(" "), right.split(" ")
    if len(about) < 5 or len(what) < 2 or not about[0].isdigit():
        return None
    return Mount(int(about[0]), about[2], _plain(about[4]), what[0], _plain(what[1]))


def _plain(name: str) -> str:
    return _OCTAL.sub(lambda code: chr(int(code[1], 8)), name)
