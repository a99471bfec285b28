"""Where sessions stand that are at work and wait for nothing that the server names: the kernel's own word for it.

PostgreSQL has no wait event for a write to its own log, to a pipe, or for what an extension or a file system does. Such
a session is `active` without an event, as one on a CPU is, and sleeps. /proc/PID/wchan names the function in which it
does: a few microseconds for each session, and only for those. It is told to root and to the server's own user.
"""

import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.dataset.rows import now_us, rows
from doctord.dataset.waits.kernel import wait_at
from doctord.dataset.waits.postgres import FOREGROUND, Wait
from doctord.regex import regex

# Whoever is seen there has begun a wait that the server does name: for a message, a latch, a semaphore.
_NAMED: Final = ("ep_poll", "do_epoll_wait", "futex_")
_AT_MOST: Final = 32
# Between the server's word and ours a session may have gone on: it counts when the server says the same once more.
_STILL: Final = """\
SELECT /* doctord */ pid, date_part('epoch', clock_timestamp() - state_change) AS in_state_s
FROM pg_stat_get_activity(NULL) WHERE pid = ANY(%s::int[]) AND state = 'active' AND wait_event IS NULL
"""
_STDERR: Final = 2
# write and writev by number: x86_64, and the generic list that later architectures share (asm-generic/unistd.h).
_WRITES: Final = frozenset({1, 20, 64, 66})
_READER_EVERY_S: Final = 60.0
_PIPE: Final = regex(r"pipe:\[\d+\]")


class KernelWaits:
    """Looks into /proc for the sessions of one server."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        """Nothing is looked at yet."""
        self._proc = proc
        self._server: int | None = None
        self._reader_at: float | None = None
        self._reader: str | None = None

    def begin(self, link: Link) -> None:
        """Find out whether the server runs here."""
        self._server, self._reader_at, self._reader = link.server_pid(), None, None

    def find(self, link: Link, active: Sequence[Mapping[str, Any]]) -> dict[int, Wait]:
        """What the sessions of a sample wait for, by pid, where the server names nothing and the kernel does."""
        if self._server is None:
            return {}
        unnamed = {
            row["pid"]: row["in_state_s"]
            for row in active
            if row["wait_event_type"] is None and row["state"] == "active" and row["backend_type"] in FOREGROUND
        }
        found = {pid: wait for pid in list(unnamed)[:_AT_MOST] if (wait := self._wait(pid)) is not None}
        if not found:
            return {}
        still = {row["pid"]: row["in_state_s"] for row in link.query(_STILL, (list(found),), prepare=True)}
        return {pid: wait for pid, wait in found.items() if still.get(pid, -1.0) >= unnamed[pid]}

    def reader(self, link: Link, waits: Mapping[int, Wait]) -> list[Batch]:
        """Who reads the pipe that sessions write the log into, once and when it changes: a setting `log.reader`."""
        writer = next((pid for pid, wait in waits.items() if wait.wait_kind == "server log"), None)
        now = time.monotonic()
        if writer is None or (self._reader_at is not None and now - self._reader_at < _READER_EVERY_S):
            return []
        self._reader_at = now
        told = self._reader_of(writer)
        if told is None or told == self._reader:
            return []
        self._reader = told
        common = {"ts": now_us(), "host": os.uname().nodename, "component": "postgresql", "db": link.db}
        return [rows("setting", [{**common, "name": "log.reader", "value": told, "source": "kernel"}])]

    def _wait(self, pid: int) -> Wait | None:
        with suppress(OSError):  # it has ended, or is somebody else's
            folder = self._proc / str(pid)
            function = (folder / "wchan").read_text()
            if function in ("", "0") or function.startswith(_NAMED) or self._parent(folder) != self._server:
                return None
            return wait_at(function, to_the_log=self._writes_to_the_log(folder))
        return None

    @staticmethod
    def _parent(folder: Path) -> int:
        """In a container the server counts its processes otherwise: its number may be anybody's here."""
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])

    @staticmethod
    def _writes_to_the_log(folder: Path) -> bool:
        """Whether it is in a write to its standard error, which the log collector or a file is behind."""
        try:
            call, descriptor = (folder / "syscall").read_text().split()[:2]
            return int(call) in _WRITES and int(descriptor, 16) == _STDERR
        except (OSError, ValueError):  # not granted, or running
            return False

    def _reader_of(self, writer: int) -> str | None:
        """Number, name and state of the process at the other end of the pipe, which may be the log collector."""
        with suppress(OSError):
            pipe = str((self._proc / str(writer) / "fd/2").readlink())
            if not _PIPE.fullmatch(pipe):
                return f"file {pipe}"
            # The postmaster keeps that end open for the next log collector, and does not read.
            others = (one for one in self._proc.iterdir() if one.name.isdigit() and one.name != str(self._server))
            return next((self._named(process) for process in others if self._reads(process, pipe)), None)
        return None

    @staticmethod
    def _reads(process: Path, pipe: str) -> bool:
        with suppress(OSError):
            for entry in (process / "fd").iterdir():
                with suppress(OSError):
                    flags = (process / "fdinfo" / entry.name).read_text()
                    if str(entry.readlink()) == pipe and re.search(r"flags:\s*\d*0$", flags, re.MULTILINE):
                        return True
        return False

    @staticmethod
    def _named(process: Path) -> str:
        told = (process / "stat").read_text()
        name, state = told.partition("(")[2].rpartition(")")[0], told.rpartition(")")[2].split()[0]
        title = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        named = title if title.startswith("postgres:") else name
        function = (process / "wchan").read_text()
        where = f" in {function}" if function not in ("", "0") else ""
        return f"process {process.name} ({named}), state {state}{where}"
