"""What PostgreSQL adds to a link: rows by name of their columns, the server's version, and what its errors mean."""

import os
import re
import socket
import struct
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import psycopg
from psycopg.rows import DictRow
from psycopg.sql import Composed

from doctord._native import Batch, refusal_in_english
from doctord.collect.core import link
from doctord.collect.core.impatient import Silent
from doctord.collect.core.link import Trouble
from doctord.collect.core.notices import Notices
from doctord.collect.postgres.connection.connect import Target, connect
from doctord.dataset.rows import now_us, rows
from doctord.regex import regex

_ROLE: Final = "CREATE ROLE doctord LOGIN; GRANT pg_monitor TO doctord; then set PGUSER=doctord or give --dsn"
_HBA: Final = "allow the role in pg_hba.conf, before the line that rejects it, and reload: local all doctord peer"
_NOBODY: Final = "no server listens there: check PGHOST, PGPORT, or give --dsn"
_GRANT: Final = "GRANT pg_monitor TO the role that doctord connects as"
_TAKEN: Final = "all connections are taken; from version 16 GRANT pg_use_reserved_connections TO doctord"
# By what a server says before it gives its SQLSTATE to the driver: a refused login comes as text alone. The first one
# that is in the text counts; the SQLSTATE stands beside.
_HINTS: Final = tuple(
    (regex(sign), hint)
    for sign, hint in (
        (r"pg_hba\.conf", _HBA),  # 28000
        (r"Peer authentication failed|Ident authentication failed",  # 28000
         f"run as the role's own user, map yours in pg_ident.conf, or {_ROLE}"),
        (r"password",  # 28P01
         "put the password into ~/.pgpass (host:port:database:user:password, mode 0600) or name a PGPASSFILE"),
        (r"is not permitted to log in", "ALTER ROLE ... LOGIN, or name another role: PGUSER=... or --dsn user=..."),
        (r"starting up|not yet accepting connections", "the server is still starting: it is asked again"),  # 57P03
        (r"in recovery mode", "the server recovers from a crash, see its log: it is asked again"),  # 57P03
        (r"shutting down", "the server is stopping: it is asked again"),  # 57P03
        (r"system is not accepting connections", "a standby answers with hot_standby = on only"),  # 57P03
        (r"is not currently accepting connections",  # 55000
         "ALTER DATABASE ... ALLOW_CONNECTIONS true, or name another: PGDATABASE=... or --dsn dbname=..."),
        (r"too many connections for database", "ALTER DATABASE ... CONNECTION LIMIT, or name another: PGDATABASE=..."),
        (r"too many connections for role", "ALTER ROLE ... CONNECTION LIMIT, or name another: PGUSER=..."),  # 53300
        (r"too many clients|connection slots", _TAKEN),  # 53300
        (r"permission denied for database", "GRANT CONNECT ON DATABASE ... TO the role"),  # 42501
        (r'database "" does not exist', "name one that exists: PGDATABASE=... or --dsn dbname=..."),  # 3D000
        (r'role "" does not exist', _ROLE),  # 28000
        # PostgreSQL documentation, "Managing Kernel Resources", systemd RemoveIPC.
        (r"could not open shared memory segment",
         "its segments in /dev/shm were removed while it ran (RemoveIPC=yes of systemd-logind, a clean-up job): nobody"
         " gets in until it is restarted; then RemoveIPC=no, or a system user for it"),
        (r"could not fork", "it may start no more processes: TasksMax, pids.max of its control group, ulimit -u"),
        (r"no answer", "is the server stopped, or its host overloaded, down or behind a firewall?"),
        (r"closed the connection unexpectedly", "does PostgreSQL listen there? if so its log says why"),
        (r"(?i)resolve|translate host name", "check the name of the host: PGHOST or --dsn host=..."),
        (r"FATAL", "the server is there and turns the login down: its log may say more"),
        (r"No such file|refused", _NOBODY),
    )
)  # fmt: skip
# What turns every client away, whatever its name and password: no connection is left (53300), or the server is not open
# (57P03). Nobody listens at all where there is no socket.
_REFUSED: Final = regex(
    "too many clients|connection slots|starting up|not yet accepting|in recovery mode|shutting down"
    "|could not open shared memory segment|could not fork"
)
_GONE: Final = regex(r"(?s)\A(?!.*FATAL).*(?:No such file|Connection refused)")
# What a server says to its sessions before it ends them all, as it must where one of its processes crashed.
_CRASHED: Final = "57P02"
_OF_A_CRASH: Final = "the server ended it, because another of its processes crashed"
# The processes that only begin when the server does, or when it recovers from the crash of any process: then the
# postmaster stays, and its time of start too. They do not all begin at one moment.
_STARTED: Final = """\
SELECT /* doctord */ pg_postmaster_start_time() AS server, min(backend_start) AS processes
FROM pg_stat_get_activity(NULL) WHERE backend_type IN ('checkpointer', 'background writer', 'walwriter')
"""
_AT_ONCE: Final = timedelta(seconds=1)
_VALUE: Final = regex(r"^(invalid .*?)[\"'].*")


class Started(NamedTuple):
    """When the server started, and when its background processes did; null where that is not granted to see."""

    server: datetime
    processes: datetime | None


class PostgresDriver:
    """How to connect to one server, and what its errors mean; for `limits` see `connect`."""

    errors: tuple[type[Exception], ...] = (psycopg.Error,)

    def __init__(self, target: Target, *, limits: bool = True) -> None:
        """Nothing is connected yet."""
        self.target = target
        self.db = target.db
        self._limits = limits
        self._connection: psycopg.Connection[DictRow] | None = None
        self._has_crashed = False

    def connect(self) -> psycopg.Connection[DictRow]:
        """A connection for measuring.

        Raises:
            psycopg.Error: The server refuses, cannot be reached, or (Silent) does not answer.
        """
        self._has_crashed = False
        self._connection = connect(self.target, limits=self._limits)
        self._connection.add_notice_handler(self._hear)
        return self._connection

    def trouble(self, error: Exception) -> Trouble:
        """The server's own words, without values; the connection is lost if the driver has closed it."""
        text = brief(error)
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            return Trouble(text, _GRANT, lost=False)
        if self._connection is not None and not self._connection.closed:
            return Trouble(text, lost=False)
        if self._has_crashed:
            self._has_crashed = False
            return Trouble(_OF_A_CRASH)
        refused, gone = is_refused(text), _GONE.search(text) is not None
        return Trouble(text, hint_for(text), silent=isinstance(error, Silent), refused=refused, gone=gone)

    def _hear(self, notice: psycopg.errors.Diagnostic) -> None:
        """Keep what the server says before it ends all sessions: the error that follows is a closed connection."""
        self._has_crashed = self._has_crashed or notice.sqlstate == _CRASHED


class Link(link.Link):
    """A connection that is opened when needed and again after it broke.

    `version` is the server's number (150004), `database` the one that the connection is in.
    """

    def __init__(self, target: Target, notices: Notices, *, limits: bool = True) -> None:
        """Nothing is opened yet; for `limits` see `connect`."""
        super().__init__(PostgresDriver(target, limits=limits), notices)
        self.target = target
        self._started: Started | None = None

    @property
    def version(self) -> int:
        """The server's version, as `server_version_num` gives it; 0 before the first connection."""
        return int(self.connection.info.server_version) if self.connection else 0

    @property
    def database(self) -> str:
        """Name of the database that the connection is in."""
        return str(self.connection.info.dbname) if self.connection else ""

    def query(
        self, sql: str | Composed, parameters: Sequence[Any] = (), *, prepare: bool = False
    ) -> list[dict[str, Any]]:
        """Rows of a statement, as dictionaries; it raises what the query of any link does."""
        return self.ask(lambda connection: connection.execute(sql, parameters or None, prepare=prepare).fetchall())

    def server_pid(self) -> int | None:
        """The postmaster's process id, as the kernel tells it of a Unix socket; null over TCP or from a container."""
        if self.connection is None:
            return None
        with socket.socket(fileno=os.dup(self.connection.fileno())) as peer:
            if peer.family != socket.AF_UNIX:
                return None
            credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid: int = struct.unpack("3i", credentials)[0]
        return pid or None

    def own_backend(self) -> Batch:
        """The server's process of this connection, as a setting `backend PID` of ours: its time is nobody's waiting."""
        name = f"backend {self.connection.info.backend_pid}" if self.connection else None
        row = {"ts": now_us(), "host": os.uname().nodename, "component": "doctord", "db": self.db, "name": name}
        return rows("setting", [row])

    def restarted(self) -> tuple[str, str] | None:
        """Whether it is still the server that was left, and the same processes of it, by the times of their start."""
        before, now = self._started, Started(**self.query(_STARTED)[0])
        processes = now.processes or (before and before.processes)  # they may not have shown themselves yet
        self._started = Started(now.server, processes)
        if before is None:
            return None
        if before.server != now.server:
            return "restart", f"the server started again at {now.server}"
        if before.processes and processes and processes - before.processes > _AT_ONCE:
            return "crash", f"all its processes started again at {processes:%Y-%m-%d %H:%M:%S}: one had crashed"
        return None


def is_refused(text: str) -> bool:
    """Whether a server that says so lets no client in at all now."""
    return _REFUSED.search(text) is not None


def hint_for(text: str) -> str | None:
    """What to do about a refused connection, by the server's or the driver's words; null where they tell nothing."""
    without_names = re.sub(r'"[^"]*"', '""', text)
    return next((hint for sign, hint in _HINTS if sign.search(without_names)), None)


def brief(error: Exception | str) -> str:
    """The server's message on one line, without what the driver puts before it, and without values it does not take.

    What turns everybody away is in English, whatever language the server writes.
    """
    text = " ".join(str(error).split())
    text = refusal_in_english(text) or text
    text = text.removeprefix("connection failed: ").removeprefix("connection is bad: ")
    return _VALUE.sub(r"\1(not shown)", text)
