"""Who has to answer before a session goes on that sleeps in the kernel: the process or server that is asked.

A few functions of the kernel stand for another's answer: an agent that watches files and is asked before one is opened
(fanotify(7)), a program that serves a file system (FUSE) or fetches pages (userfaultfd), the automounter, a server of
files on the network. Looked for when sessions are seen in such a function, once a minute. Descriptors of others'
processes are shown to root alone.
"""

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from doctord._native import Batch
from doctord.collect.core.mounts import Mount, mounts
from doctord.collect.postgres.connection.link import Link
from doctord.dataset.rows import now_us, rows
from doctord.regex import regex

_AGAIN_S: Final = 60.0
_MOST_TOLD: Final = 4
# Functions by their beginning: what a process that answers has open, or the kinds of mount whose server does.
_DESCRIPTORS: Final = {
    "fanotify_": "anon_inode:[fanotify]",
    "request_wait_answer": "/dev/fuse",
    "fuse_": "/dev/fuse",
    "handle_userfault": "anon_inode:[userfaultfd]",
}
_REMOTE: Final = {"nfs": "nfs", "rpc_": "nfs", "cifs_": "cifs", "smb": "cifs", "ceph_": "ceph"}
_AUTOMOUNT: Final = "autofs_"
_PGRP: Final = regex(r" - autofs \S+ \S*\bpgrp=(\d+)")
_SUBJECT: Final = "who has to answer before a file is opened"
_HINT: Final = "run as root: descriptors of others' processes are shown to nobody else"
# Lines of fdinfo of a group of fanotify (proc_pid_fdinfo(5)), and the events that wait for its answer
# (include/uapi/linux/fanotify.h: FAN_OPEN_PERM, FAN_ACCESS_PERM, FAN_OPEN_EXEC_PERM, FAN_PRE_ACCESS).
_MARK: Final = regex(
    r"^fanotify (?:mnt_id:(?P<mount>[0-9a-f]+)|(?:ino:[0-9a-f]+ )?sdev:(?P<device>[0-9a-f]+)).*"
    r" mask:(?P<mask>[0-9a-f]+)",
    re.MULTILINE,
)
_ASKS: Final = 0x10000 | 0x20000 | 0x40000 | 0x100000
_MINOR_BITS: Final = 20


class _Found(NamedTuple):
    """Those who answer, in words, and whether some process would not say what it has open."""

    told: list[str]
    refused: bool


class Answering:
    """Fills `setting` with `answered_by.FUNCTION`: number, name and state of processes, or the server of a mount."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        """Nothing is looked for yet."""
        self._proc = proc
        self._looked_at: dict[str, float] = {}
        self._known: dict[str, str] = {}

    def look(self, link: Link, events: Iterable[str]) -> list[Batch]:
        """Who answers for what sessions sleep in now, once and when it changes."""
        told = []
        for event in sorted({*events}):
            found = self._due(event, link)
            if found is not None and not found.told and found.refused:
                link.notices.not_measured(link.db, _SUBJECT, "not all processes say what they have open", _HINT)
            value = "; ".join(found.told[:_MOST_TOLD]) if found else ""
            if value and self._known.get(event) != value:
                self._known[event] = value
                told.append({"name": f"answered_by.{event}", "value": value})
        common = {"ts": now_us(), "host": os.uname().nodename, "component": "postgresql", "db": link.db}
        return [rows("setting", [{**common, **one, "source": "kernel"} for one in told])] if told else []

    def _due(self, event: str, link: Link) -> _Found | None:
        """Null where the function stands for nobody's answer, or was looked into lately."""
        now = time.monotonic()
        if now - self._looked_at.get(event, float("-inf")) < _AGAIN_S:
            return None
        self._looked_at[event] = now
        held = next((what for begin, what in _DESCRIPTORS.items() if event.startswith(begin)), None)
        if held:
            return self._holders(held)
        kind = next((kind for begin, kind in _REMOTE.items() if event.startswith(begin)), None)
        if kind or event.startswith(_AUTOMOUNT):
            with suppress(OSError):
                return _Found([*(self._servers(kind, link) if kind else self._automounters())], refused=False)
        return None

    def _holders(self, held: str) -> _Found:
        told, refused = [], False
        for process in sorted((one for one in self._proc.iterdir() if one.name.isdigit()), key=lambda it: int(it.name)):
            try:
                files = [entry for entry in (process / "fd").iterdir() if _links_to(entry, held)]
                told += [self._named(process, where) for where in self._places(process, files, held)]
            except PermissionError:
                refused = True
            except OSError:
                continue  # it has ended
        return _Found(told, refused)

    def _places(self, process: Path, files: list[Path], held: str) -> Iterator[str]:
        """Once for a process that has such a file; of fanotify where it is asked beforehand, and of what."""
        if not held.endswith("[fanotify]"):
            yield from ("" for _ in files[:1])
            return
        marks = [mark for file in files for mark in _MARK.finditer((process / "fdinfo" / file.name).read_text())]
        asking = [mark for mark in marks if int(mark["mask"], 16) & _ASKS]
        if asking:
            known = {place for mark in asking if (place := _place(mark, mounts(int(process.name), self._proc)))}
            yield f", asked of files of {', '.join(sorted(known)) or 'a few folders'}"

    def _servers(self, kind: str, link: Link) -> Iterator[str]:
        """The servers of mounts of a kind where the database's server lives."""
        for mount in mounts(link.server_pid(), self._proc):
            if mount.kind.startswith(kind):
                yield f"server {mount.source} at {mount.point}"

    def _automounters(self) -> Iterator[str]:
        for number in sorted(set(_PGRP.findall((self._proc / "self/mountinfo").read_text())), key=int):
            yield self._named(self._proc / number, "")

    @staticmethod
    def _named(process: Path, where: str) -> str:
        told = (process / "stat").read_text()
        name, state = told.partition("(")[2].rpartition(")")[0], told.rpartition(")")[2].split()[0]
        function = ""
        with suppress(OSError):
            function = (process / "wchan").read_text()
        stands = f" in {function}" if function not in ("", "0") else ""
        return f"process {process.name} ({name}), state {state}{stands}{where}"


def _links_to(entry: Path, held: str) -> bool:
    with suppress(FileNotFoundError):
        return str(entry.readlink()) == held
    return False


def _place(mark: re.Match[str], found: list[Mount]) -> str | None:
    """The mount that a mark is on, or the file system that what is marked is on."""
    if mark["mount"]:
        number = int(mark["mount"], 16)
        return next((mount.point for mount in found if mount.number == number), None)
    device = int(mark["device"], 16)
    name = f"{device >> _MINOR_BITS}:{device & ((1 << _MINOR_BITS) - 1)}"
    return next((mount.point for mount in found if mount.device_id == name), None)
