"""Where the server's files lie: data, WAL, tablespaces, log, archive, what workers share; and file systems of its own.

The host's own sampler looks at file systems on devices. A tablespace, the log or temporary files may lie in memory
(tmpfs), on a container's layers (overlay), or on what is mounted where the server lives and not where we do.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from doctord._native import Batch
from doctord.collect.core.mounts import Mount, holding, mounts, without_device
from doctord.collect.core.rates import EARLY, Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.dataset.rows import now_us, rows
from doctord.regex import regex

_SETTINGS: Final = """\
SELECT /* doctord */ current_setting('data_directory') AS data, current_setting('log_directory') AS log,
       current_setting('logging_collector')::bool AS collects, current_setting('archive_mode') <> 'off' AS archives,
       current_setting('archive_command') AS command, current_setting('dynamic_shared_memory_type') AS shares
"""
# '' is one within the data directory, and what is relative lies there too (allow_in_place_tablespaces).
_TABLESPACES: Final = """\
SELECT /* doctord */ spcname AS name, pg_tablespace_location(oid) AS folder FROM pg_tablespace
WHERE pg_tablespace_location(oid) LIKE '/%' ORDER BY spcname
"""
# Where a plain copy puts a file of the WAL: `cp %p /mnt/archive/%f`. What else the command does is not looked at.
_ARCHIVE: Final = regex(r"""["'\s=](/[^\s"'%]*)/%f""")
SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - no file is made there
_LOOKED_AT_BY_THE_HOST: Final = ("tmpfs", SHARED_MEMORY)
_WAL: Final = "pg_wal"
_HINT: Final = "run as root, or as the server's user"


class Folder(NamedTuple):
    """A folder of the server, as it calls it, and what it holds."""

    path: str
    holds: str


class Folders:
    """Fills `filesystem` with those of a server on this host that the host's sampler leaves out.

    `setting` has for each folder its mount, the kind of file system, and what it holds (`path.FOLDER.holds`).
    """

    name = "file systems of the server"

    def __init__(self) -> None:
        """Due twice a minute, as those of the host are."""
        self.cadence = Cadence(30.0, EARLY)
        self._known: dict[str, str] = {}

    def read(self, link: Link) -> list[Batch]:
        """Room at this moment; where folders lie, once and when it changes."""
        pid = link.server_pid()
        if pid is None:  # on another host
            return []
        try:
            theirs, ours = mounts(pid), mounts()
        except OSError:  # it has just ended
            return []
        held = [(one, mount) for one in _folders(link, pid) if (mount := holding(theirs, one.path)) is not None]
        found = {mount.point: mount for _, mount in held if not mount.is_remote and not _is_hosts(mount, ours)}
        is_here = {mount.number for mount in ours}
        space = [
            row
            for mount in found.values()
            for row in _space(link, mount, f"/proc/{pid}/root" if mount.number not in is_here else "")
        ]
        return [*([rows("filesystem", space)] if space else []), *self._places(link, held)]

    def close(self) -> None:
        """There is nothing of its own."""

    def _places(self, link: Link, held: Sequence[tuple[Folder, Mount]]) -> list[Batch]:
        told = {
            f"path.{folder.path}.{part}": value
            for folder, mount in held
            for part, value in (("filesystem", mount.kind), ("mount", mount.point), ("holds", folder.holds))
        }
        new = {name: value for name, value in told.items() if self._known.get(name) != value}
        self._known |= new
        common = {"ts": now_us(), "host": os.uname().nodename, "component": "kernel", "db": link.db}
        return [rows("setting", [{**common, "name": name, "value": new[name]} for name in new])] if new else []


def _folders(link: Link, pid: int) -> Iterator[Folder]:
    told = link.query(_SETTINGS)[0]
    data = str(told["data"])
    yield Folder(data, "data")
    yield from _wal(link, pid, data)
    if told["shares"] == "posix":
        yield Folder(SHARED_MEMORY, "shared memory of parallel workers")
    if told["collects"]:
        yield Folder(os.path.normpath(Path(data) / told["log"]), "log")
    if told["archives"] and (archive := _ARCHIVE.search(told["command"] or "")):
        yield Folder(os.path.normpath(archive[1]), "archive")
    yield from (Folder(row["folder"], f"tablespace {row['name']}") for row in link.query(_TABLESPACES))


def _wal(link: Link, pid: int, data: str) -> Iterator[Folder]:
    """Where pg_wal leads to, if it is a link: only who may look into the data directory can tell."""
    for root in ("", f"/proc/{pid}/root"):
        try:
            target = str(Path(f"{root}{data}/{_WAL}").readlink())
        except PermissionError:
            continue
        except OSError:  # a folder as any other: it lies with the data
            return
        if target.startswith("/"):
            yield Folder(target, "WAL")
        return
    link.notices.not_measured(link.db, "whether pg_wal is on a file system of its own", "it may not be read", _HINT)


def _is_hosts(mount: Mount, ours: Sequence[Mount]) -> bool:
    """Whether the host's sampler looks at the same file system: on a device that is mounted where we live."""
    if (mount.kind, mount.point) == _LOOKED_AT_BY_THE_HOST:
        return mount in ours
    has_device = mount.kind == "zfs" or mount.kind not in without_device()
    return has_device and mount.device_id in {one.device_id for one in ours}


def _space(link: Link, mount: Mount, root: str) -> Iterator[dict[str, Any]]:
    """Its room, as df counts it; `root` leads to where the server lives, if that is not where we do."""
    try:
        space = os.statvfs(f"{root}{mount.point}")
    except OSError as error:
        why = error.strerror or str(error)
        link.notices.not_measured(link.db, f"space of {mount.point}", why, _HINT)
        return
    yield {
        "ts": now_us(),
        "host": os.uname().nodename,
        "mount": f"{mount.point} of {link.db}" if root else mount.point,
        "device": mount.source,
        "size_bytes": space.f_blocks * space.f_frsize,
        "used_bytes": (space.f_blocks - space.f_bfree) * space.f_frsize,
        "available_bytes": space.f_bavail * space.f_frsize,
        "inodes_used_pct": 100 * (1 - space.f_ffree / space.f_files) if space.f_files else None,
    }
