"""What bpftrace times in a PostgreSQL server: by its own USDT probes, or by the system calls of its processes.

A server has the probes when it was built with --enable-dtrace, as Debian's packages are. They are
attached through /proc/PID/exe: after an upgrade under a running server its path leads to another file, and probes there
would count nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from doctord._native import syscall_number
from doctord.collect.bpf.host import system_call
from doctord.collect.bpf.program import Moment, Span, program
from doctord.collect.postgres.discover import Server, servers
from doctord.errors import UserError

# Subjects, and the probes between which they last. A transaction ends in one of two ways and is left out.
PROBES = {
    "smgr read": ("smgr__md__read__start", "smgr__md__read__done"),
    "smgr write": ("smgr__md__write__start", "smgr__md__write__done"),
    "buffer read": ("buffer__read__start", "buffer__read__done"),
    "buffer flush": ("buffer__flush__start", "buffer__flush__done"),
    "wal buffer write": ("wal__buffer__write__dirty__start", "wal__buffer__write__dirty__done"),
    "lock wait": ("lock__wait__start", "lock__wait__done"),
    "query": ("query__start", "query__done"),
    "query parse": ("query__parse__start", "query__parse__done"),
    "query plan": ("query__plan__start", "query__plan__done"),
    "query execute": ("query__execute__start", "query__execute__done"),
    "sort": ("sort__start", "sort__done"),
    "checkpoint": ("checkpoint__start", "checkpoint__done"),
}
LWLOCK = "LWLock"
LWLOCK_PROBES = ("lwlock__wait__start", "lwlock__wait__done")


@dataclass
class _OfServer(ABC):
    """What is timed of one server, which may come and go."""

    wanted: str
    port: int | None
    period_s: float

    @property
    def name(self) -> str:
        """What it is about."""
        return f"{self.wanted} of {self.db}"

    @property
    def db(self) -> str:
        """The server."""
        return f"postgresql:{self.port}"

    def identity(self) -> object:
        """The postmaster; null when the server is away."""
        return server.pid if (server := _server(self.port)) else None

    def program(self) -> str | None:
        """The program for the server that runs now; null when it is away."""
        server = _server(self.port)
        return self.program_of(server.pid) if server and server.pid is not None else None

    @abstractmethod
    def program_of(self, postmaster: int) -> str:
        """The program for a postmaster and its children."""

    def subject(self, _span: int, _label: str) -> str | None:
        """What was asked for."""
        return self.wanted

    def always(self) -> Iterable[str]:
        """What was asked for."""
        return (self.wanted,)


class Postgres(_OfServer):
    """One subject of one server: `smgr read`, `LWLock` (each tranche a subject), `LWLock WALWrite`."""

    def program_of(self, postmaster: int) -> str:
        """The span between the probes of the server's own executable."""
        lwlock = self.wanted.startswith(LWLOCK)
        start, done = LWLOCK_PROBES if lwlock else PROBES[self.wanted]
        place = f"usdt:/proc/{postmaster}/exe:postgresql"
        span = Span([Moment(f"{place}:{start}")], Moment(f"{place}:{done}"), "str(arg0)" if lwlock else "0")
        # Probes are of the file: another server of the same executable, started later too, would be counted as well.
        return program([span], self.period_s, of_processes(postmaster))

    def subject(self, _span: int, label: str) -> str | None:
        """What was asked for; of lightweight locks the tranche."""
        if not self.wanted.startswith(LWLOCK):
            return self.wanted
        named = f"{LWLOCK} {label}"
        return named if self.wanted in {LWLOCK, named} else None

    def always(self) -> Iterable[str]:
        """What was asked for; which tranches there are is not known."""
        return () if self.wanted == LWLOCK else (self.wanted,)


class PostgresCall(_OfServer):
    """One system call of the processes of one server."""

    def program_of(self, postmaster: int) -> str:
        """The call, of the postmaster and its children."""
        return system_call(self.wanted, self.period_s, of_processes(postmaster)).program()


def of_processes(postmaster: int) -> str:
    """Bpftrace's condition for the processes of a server."""
    return f"pid == {postmaster} || curtask->real_parent->tgid == {postmaster}"


def of_postgres(subject: str, port: int | None, period_s: float) -> "Postgres | PostgresCall | None":
    """How to time a subject of a server; null when it is none.

    Raises:
        UserError: there are several servers and none is chosen, or the one chosen is not here or has no probes.
    """
    known = subject in PROBES or subject.split(" ", maxsplit=1)[0] == LWLOCK
    if not known and (port is None or syscall_number(subject) is None):
        return None
    server = chosen(port)
    if not known:
        return PostgresCall(subject, server.port, period_s)
    if server.pid is None or not has_probes(server.pid):
        raise UserError(
            f"PostgreSQL on port {server.port} has no USDT probes to be seen",
            "it was built without --enable-dtrace, or its executable may not be read; map pread64 or fdatasync instead",
        )
    return Postgres(subject, server.port, period_s)


def chosen(port: int | None) -> Server:
    """The server of a port, or the only one.

    Raises:
        UserError: there is none, or several and none is chosen.
    """
    here = [server for server in servers() if server.pid is not None and port in {None, server.port}]
    if not here:
        where = "" if port is None else f" on port {port}"
        raise UserError(f"no PostgreSQL server{where} is seen here", "is it running, and are you root or its owner?")
    if len(here) > 1:
        names = ", ".join(f"postgresql:{server.port}" for server in here)
        raise UserError(f"{len(here)} PostgreSQL servers run here: {names}", "choose one with --db")
    return here[0]


def has_probes(pid: int) -> bool:
    """Whether the executable of a process has the probes: their names stand in its ELF notes."""
    try:
        return PROBES["query"][0].encode() in Path(f"/proc/{pid}/exe").read_bytes()
    except OSError:
        return False


def _server(port: int | None) -> Server | None:
    return next((server for server in servers() if server.port == port and server.pid is not None), None)
