"""Logins that the server has not let in yet: backends that no view shows, as the kernel shows them.

A backend is in pg_stat_activity once it is authenticated (from version 18 on once its request is read). Until then it
is a child of the postmaster whose title is still the postmaster's, or ends in what it does for the login. That is
looked at once a second, in one small file of /proc and a few for each child that is not logged in yet; the server is
not asked. What such a backend waits for is looked at only of those that are slow.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from doctord._native import Batch
from doctord.collect.core.socket_owners import readable
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.regex import regex

SLOW_S: Final = 1.0
NO_REQUEST: Final = "no request read"
_LOOK_EVERY_S: Final = 1.0
_TELL_EVERY_S: Final = 5.0
_A_TICK_S: Final = 0.05  # a look may come a little before its time
# What BackendInitialize, PerformAuthentication and InitPostgres set behind the client's address (PostgreSQL 13 to 18).
# The process that recovers is called `startup` too, and has no client.
_LOGIN: Final = regex(r"^postgres: .* (?:\[local\]|\S*\(\S*\)) (initializing|authentication|startup)$")
_STARTED_AT: Final = 19  # field 22 of /proc/PID/stat, counted behind the name
# Whom a server asks on behalf of a login, by the port that its socket is connected to.
_SERVICES: Final = {53: "name server", 113: "ident server", 389: "LDAP server", 636: "LDAP server"}
_SOCKET: Final = regex(r"socket:\[(\d+)\]")
# A line of a table of sockets (proc_pid_net(5)): the other end, and behind what TCP tells of it user and inode.
_PORTS: Final = "|".join(f"{port:04X}" for port in _SERVICES)
_ASKING: Final = regex(rf"^ *\d+: \S+ (\w+):({_PORTS}) \S+ \S+ \S+ \S+ +(\d+) +\d+ +(\d+)", re.MULTILINE)
_TABLES: Final = ("udp", "udp6", "tcp", "tcp6")


class _Backend(NamedTuple):
    """A backend that is not logged in: `begun` tells it from another of the same number."""

    pid: int
    begun: int
    age_s: float
    phase: str


class _Connection(NamedTuple):
    """A socket that is connected to a service, and whose it is."""

    service: str
    user: int
    inode: str


class LoginsUnderWay:
    """Fills `statistic` with `logins.*` of a server on this host, every five seconds."""

    _server: int | None
    _looked_at: float
    _told_at: float | None
    _inside: set[int]
    _slow: set[tuple[int, int]]

    def __init__(self, proc: Path = Path("/proc"), now: Callable[[], float] = time.monotonic) -> None:
        """Nothing is looked at yet."""
        self._proc, self._now = proc, now
        self._forget()

    def begin(self, link: Link) -> None:
        """Find out whether the server runs here, and whether its children are told."""
        self._forget()
        self._server = link.server_pid()
        if self._server is not None and (hindrance := self._hindrance()):
            link.notices.not_measured(link.db, "logins under way", *hindrance)
            self._server = None

    def look(self, db: str) -> list[Batch]:
        """Look where a second has passed; rows where five have."""
        now = self._now()
        if self._server is None or now - self._looked_at < _LOOK_EVERY_S - _A_TICK_S:
            return []
        if self._told_at is None:
            self._told_at = now
        self._looked_at = now
        with suppress(OSError):  # the server has ended; the link says so
            self._count(list(self._under_way()))
        seconds = now - self._told_at
        if seconds < _TELL_EVERY_S - _A_TICK_S or not self._looks:
            return []
        batches = self._told(db, seconds)
        self._told_at = now
        self._start_over()
        return batches

    def _forget(self) -> None:
        self._server, self._looked_at, self._told_at = None, float("-inf"), None
        self._inside, self._slow = set(), set()
        self._start_over()

    def _start_over(self) -> None:
        self._looks, self._seen, self._oldest_s = 0, 0, 0.0
        self._phases, self._places, self._asked = Counter[str](), Counter[str](), Counter[str]()

    def _children_file(self) -> Path:
        return self._proc / f"{self._server}/task/{self._server}/children"

    def _hindrance(self) -> tuple[str, str] | None:
        """Why the children cannot be read, and what would help; null where they can."""
        try:
            self._children_file().read_text()
        except OSError:
            if (self._proc / str(os.getpid()) / f"task/{os.getpid()}/children").exists():
                return (
                    "/proc hides the server's processes (hidepid)",
                    "run as root, or mount /proc with gid= of our group",
                )
            return "this kernel does not list a process' children", "a kernel with CONFIG_PROC_CHILDREN"
        return None

    def _under_way(self) -> Iterator[_Backend]:
        children = {int(pid) for pid in self._children_file().read_text().split()}
        own = (self._proc / str(self._server) / "cmdline").read_bytes()
        self._inside &= children
        for pid in sorted(children - self._inside):
            with suppress(OSError):  # it has ended meanwhile
                phase = _phase((self._proc / str(pid) / "cmdline").read_bytes(), own)
                if phase is None:
                    self._inside.add(pid)
                elif phase:
                    yield self._backend(pid, phase)

    def _backend(self, pid: int, phase: str) -> _Backend:
        fields = (self._proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
        begun = int(fields[_STARTED_AT])
        age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - begun / os.sysconf("SC_CLK_TCK")
        return _Backend(pid, begun, age_s, phase)

    def _count(self, backends: list[_Backend]) -> None:
        self._looks += 1
        self._seen += len(backends)
        self._oldest_s = max([self._oldest_s, *(one.age_s for one in backends)])
        slow = {(one.pid, one.begun): one for one in backends if one.age_s >= SLOW_S}
        new = [one for key, one in slow.items() if key not in self._slow]
        asking = _asking(self._proc / str(self._server) / "net") if new else []
        for one in new:
            self._phases[one.phase] += 1
            self._look_into(self._proc / str(one.pid), asking)
        self._slow = set(slow)

    def _look_into(self, process: Path, asking: list[_Connection]) -> None:
        """Where in the kernel a slow one sleeps, and whom it asks, as far as that is granted."""
        with suppress(OSError):
            place = (process / "wchan").read_text().partition(".")[0]
            if place not in ("", "0"):
                self._places[place] += 1
        with suppress(OSError):
            user, own = process.stat().st_uid, _sockets(process)
            self._asked.update({it.service for it in asking if it.user == user and (own is None or it.inode in own)})

    def _told(self, db: str, seconds: float) -> list[Batch]:
        figures = Figures(db)
        figures.gauge("logins.under_way", self._seen / self._looks, interval_s=seconds)
        if self._seen:
            figures.gauge("logins.oldest_s", self._oldest_s, "s")
        told = (("logins.slow", self._phases), ("logins.slow_in", self._places), ("logins.slow_asking", self._asked))
        for name, counts in told:
            for entity, count in sorted(counts.items()):
                figures.rate(name, count / seconds, seconds, entity)
        return figures.batches()


def _phase(title: bytes, of_postmaster: bytes) -> str | None:
    """How far the login is; null of who is logged in or no client's; empty where it has ended."""
    if title in (b"", of_postmaster):
        return NO_REQUEST if title else ""
    found = _LOGIN.match(title.replace(b"\0", b" ").decode(errors="replace").rstrip())
    return found[1] if found else None


def _asking(net: Path) -> list[_Connection]:
    """All that are connected to a service; there may be tens of thousands of sockets, so they are read once a look."""
    texts = (path.read_text() for table in _TABLES if (path := net / table).exists())
    return [
        _Connection(f"{_SERVICES[int(port, 16)]} {readable(address)}", int(user), inode)
        for text in texts
        for address, port, user, inode in _ASKING.findall(text)
    ]


def _sockets(process: Path) -> set[str] | None:
    """Inodes of the sockets that a process holds; null where that is not granted: then those of its user count."""
    found = set[str]()
    try:
        for entry in (process / "fd").iterdir():
            with suppress(FileNotFoundError):
                if match := _SOCKET.fullmatch(str(entry.readlink())):
                    found.add(match[1])
    except PermissionError:
        return None
    return found
