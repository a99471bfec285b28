"""Logins that the server has not let in yet: backends that no view shows, as the kernel shows them.

A backend is in pg_stat_activity once it is authenticated (from version 18 on once its request is read). Until then it
is a child of the postmaster whose title is still the postmaster's, or ends in what it does for the login. That is
looked at once a second, in one small file of /proc and a few for each child that is not logged in yet; the server is
not asked. What such a backend waits for is looked at only of those that are slow.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.log_place import postmaster
from doctord.collect.postgres.login_sockets import NO_SOCKETS, Asked, asked, client_of, own_sockets, sockets_of
from doctord.collect.postgres.statistics.figures import Figures
from doctord.regex import regex

SLOW_S: Final = 1.0
NO_REQUEST: Final = "no request read"
_LOOK_EVERY_S: Final = 1.0
_TELL_EVERY_S: Final = 5.0
_SEEK_EVERY_S: Final = 10.0
_A_TICK_S: Final = 0.05  # a look may come a little before its time
# What BackendInitialize, PerformAuthentication and InitPostgres set behind the client's address (PostgreSQL 13 to 18).
# The process that recovers is called `startup` too, and has no client.
_LOGIN: Final = regex(r"^postgres: .* (?:(\[local\])|(\S*)\(\S*\)) (initializing|authentication|startup)$")
_STARTED_AT: Final = 19  # field 22 of /proc/PID/stat, counted behind the name
_MOST_CLIENTS: Final = 10


class _Backend(NamedTuple):
    """A backend that is not logged in: `begun` tells it from another of the same number.

    `client` is the address in its title, null where that is still the postmaster's.
    """

    pid: int
    begun: int
    age_s: float
    phase: str
    client: str | None

    @property
    def key(self) -> tuple[int, int]:
        """What tells it from all others."""
        return self.pid, self.begun


class LoginsUnderWay:
    """Fills `statistic` with `logins.*` of a server on this host, every five seconds.

    `logins.held` and `logins.held_s` tell whose the slow ones are, by `PHASE from ADDRESS`: the most at a time, and the
    age of the oldest.
    """

    _server: int | None
    _looked_at: float
    _told_at: float | None
    _inside: set[int]
    _clients: dict[tuple[int, int], str | None]

    def __init__(self, proc: Path = Path("/proc"), now: Callable[[], float] = time.monotonic) -> None:
        """Nothing is looked at yet."""
        self._proc, self._now, self._sought_at = proc, now, float("-inf")
        self._forget()

    def begin(self, link: Link) -> None:
        """Find out whether the server runs here, and whether its children are told."""
        self._begin(link.server_pid(), link)

    def begin_unasked(self, link: Link) -> None:
        """The same of a server that lets nobody in, as whoever holds all places never logs in; it is looked for."""
        now = self._now()
        if self._server is None and now - self._sought_at >= _SEEK_EVERY_S:
            self._begin(postmaster(link.target), link)
            self._sought_at = now

    def _begin(self, server: int | None, link: Link) -> None:
        self._forget()
        self._server = server
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
        self._inside, self._clients = set(), {}
        self._start_over()

    def _start_over(self) -> None:
        self._looks, self._seen, self._oldest_s = 0, 0, 0.0
        self._phases, self._places, self._asked = Counter[str](), Counter[str](), Counter[str]()
        self._held = dict[str, tuple[int, float]]()

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
                found = _phase((self._proc / str(pid) / "cmdline").read_bytes(), own)
                if found is None:
                    self._inside.add(pid)
                elif found[0]:
                    yield self._backend(pid, *found)

    def _backend(self, pid: int, phase: str, client: str | None) -> _Backend:
        fields = (self._proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
        begun = int(fields[_STARTED_AT])
        age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - begun / os.sysconf("SC_CLK_TCK")
        return _Backend(pid, begun, age_s, phase, client)

    def _count(self, backends: list[_Backend]) -> None:
        self._looks += 1
        self._seen += len(backends)
        self._oldest_s = max([self._oldest_s, *(one.age_s for one in backends)])
        slow = {one.key: one for one in backends if one.age_s >= SLOW_S}
        new = [one for key, one in slow.items() if key not in self._clients]
        tables = sockets_of(self._proc / str(self._server) / "net") if new else NO_SOCKETS
        asking = asked(tables)
        for one in new:
            self._phases[one.phase] += 1
            own = self._look_into(self._proc / str(one.pid), asking)
            self._clients[one.key] = one.client or client_of(tables, own)
        self._clients = {key: client for key, client in self._clients.items() if key in slow}
        self._hold(list(slow.values()))

    def _hold(self, slow: list[_Backend]) -> None:
        """Who keeps a login open at this look: the most at a time of each client, and the oldest, are told."""
        ages = dict[str, list[float]]()
        for one in slow:
            client = one.client or self._clients[one.key]
            ages.setdefault(f"{one.phase}{f' from {client}' if client else ''}", []).append(one.age_s)
        for who, own in ages.items():
            most, oldest_s = self._held.get(who, (0, 0.0))
            self._held[who] = max(most, len(own)), max(oldest_s, *own)

    def _look_into(self, process: Path, asking: list[Asked]) -> set[str] | None:
        """Where in the kernel a slow one sleeps, and whom it asks, as far as that is granted; its sockets."""
        with suppress(OSError):
            place = (process / "wchan").read_text().partition(".")[0]
            if place not in ("", "0"):
                self._places[place] += 1
        with suppress(OSError):
            user, own = process.stat().st_uid, own_sockets(process)
            self._asked.update({it.service for it in asking if it.user == user and (own is None or it.inode in own)})
            return own
        return None

    def _told(self, db: str, seconds: float) -> list[Batch]:
        figures = Figures(db)
        figures.gauge("logins.under_way", self._seen / self._looks, interval_s=seconds)
        if self._seen:
            figures.gauge("logins.oldest_s", self._oldest_s, "s")
        told = (("logins.slow", self._phases), ("logins.slow_in", self._places), ("logins.slow_asking", self._asked))
        for name, counts in told:
            for entity, count in sorted(counts.items()):
                figures.rate(name, count / seconds, seconds, entity)
        ranked = sorted(self._held.items(), key=lambda held: (-held[1][0], held[0]))
        for who, (most, oldest_s) in ranked[:_MOST_CLIENTS]:
            figures.gauge("logins.held", most, "connections", who)
            figures.gauge("logins.held_s", oldest_s, "s", who)
        return figures.batches()


def _phase(title: bytes, of_postmaster: bytes) -> tuple[str, str | None] | None:
    """How far the login is, and of which client; null of who is logged in or no client's; empty where it has ended."""
    if title in (b"", of_postmaster):
        return NO_REQUEST if title else "", None
    found = _LOGIN.match(title.replace(b"\0", b" ").decode(errors="replace").rstrip())
    return (found[3], found[1] or found[2]) if found else None
