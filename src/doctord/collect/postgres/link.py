"""One connection to one server, kept up: it comes back after an outage, and says once what went wrong."""

import os
import re
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any, Final

import psycopg
from psycopg.sql import Composed

from doctord.collect.core.notices import Notices
from doctord.collect.postgres.connect import Silent, Target, connect

_RETRY_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)

_ROLE: Final = "CREATE ROLE doctord LOGIN; GRANT pg_monitor TO doctord; then set PGUSER=doctord or give --dsn"
_HBA: Final = "allow the role in pg_hba.conf, before the line that rejects it, and reload: local all doctord peer"
_NOBODY: Final = "no server listens there: check PGHOST, PGPORT, or give --dsn"
_TAKEN: Final = "all connections are taken; from version 16 GRANT pg_use_reserved_connections TO doctord"
# By what a server says before it gives its SQLSTATE to the driver: a refused login comes as text alone. The first one
# that is in the text counts; the SQLSTATE stands beside.
_HINTS: Final = tuple(
    (re.compile(sign), hint)
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
        (r"no answer", "is the server stopped, or its host overloaded, down or behind a firewall?"),
        (r"closed the connection unexpectedly", "does PostgreSQL listen there? if so its log says why"),
        (r"(?i)resolve|translate host name", "check the name of the host: PGHOST or --dsn host=..."),
        (r"No such file|refused", _NOBODY),
    )
)  # fmt: skip
_VALUE: Final = re.compile(r"^(invalid .*?)[\"'].*")


class Away(Exception):  # noqa: N818 - a state, not a fault: the server is not there now
    """The server cannot be asked now; why has been noted."""


class Link:
    """A connection that is opened when needed and again after it broke.

    `version` is the server's number (150004), `database` the one that the connection is in.
    """

    def __init__(self, target: Target, notices: Notices, *, limits: bool = True) -> None:
        """Nothing is opened yet; for `limits` see `connect`."""
        self.target = target
        self._limits = limits
        self.notices = notices
        self._connection: psycopg.Connection[dict[str, Any]] | None = None
        self._failures = 0
        self._retry_at = 0.0
        self._lost_at: float | None = None
        self._started: str | None = None
        self._asked_at = 0.0
        self._silent_at: float | None = None

    @property
    def db(self) -> str:
        """Name of the server in the chart."""
        return self.target.db

    @property
    def version(self) -> int:
        """The server's version, as `server_version_num` gives it; 0 before the first connection."""
        return self._connection.info.server_version if self._connection else 0

    @property
    def database(self) -> str:
        """Name of the database that the connection is in."""
        return self._connection.info.dbname if self._connection else ""

    def open(self) -> bool:
        """Make sure that there is a connection; true when it is a new one.

        Raises:
            Away: There is none now; it is tried again after a while.
        """
        if self._connection is not None:
            return False
        if time.monotonic() < self._retry_at:
            raise Away
        self._asked_at = time.monotonic()
        try:
            self._connection = connect(self.target, limits=self._limits)
            self._greet()
        except psycopg.OperationalError as error:
            self._failed(error)
            raise Away from error
        self._failures = 0
        return True

    def query(
        self, sql: str | Composed, parameters: Sequence[Any] = (), *, prepare: bool = False
    ) -> list[dict[str, Any]]:
        """Rows of a statement.

        Raises:
            Away: There is no connection, or it broke.
            psycopg.Error: The server refused the statement; the connection is still good.
        """
        if self._connection is None:
            raise Away
        self._asked_at = time.monotonic()
        try:
            return self._connection.execute(sql, parameters or None, prepare=prepare).fetchall()
        except psycopg.Error as error:
            if not self._connection.closed:
                raise
            self._broke(error)
            raise Away from error

    def server_pid(self) -> int | None:
        """The postmaster's process id, as the kernel tells it of a Unix socket; null over TCP or from a container."""
        if self._connection is None:
            return None
        with socket.socket(fileno=os.dup(self._connection.fileno())) as peer:
            if peer.family != socket.AF_UNIX:
                return None
            credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid: int = struct.unpack("3i", credentials)[0]
        return pid or None

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _greet(self) -> None:
        """Find out whether it is still the server that was left."""
        started = str(self.query("SELECT pg_postmaster_start_time() AS started")[0]["started"])
        if self._started is not None and started != self._started:
            self.notices.happened("restart", self.db, self.db, f"the server started again at {started}")
        elif self._lost_at is not None:
            away_s = time.monotonic() - self._lost_at
            self.notices.happened("gap", self.db, self.db, f"the server answers again after {away_s:.0f} s")
        self._started, self._lost_at, self._silent_at = started, None, None

    def _broke(self, error: psycopg.Error) -> None:
        self._note_silence(error)
        self.close()
        self._lost_at = self._lost_at or time.monotonic()
        self._retry_at = time.monotonic() + _RETRY_S[0]
        self.notices.happened("gap", self.db, self.db, f"the connection broke: {brief(error)}")

    def _failed(self, error: psycopg.OperationalError) -> None:
        self._note_silence(error)
        self.close()
        self._retry_at = time.monotonic() + _RETRY_S[min(self._failures, len(_RETRY_S) - 1)]
        self._failures += 1
        text = brief(error)
        self.notices.unseen(self.db, self.db, text, hint_for(text))

    def _note_silence(self, error: psycopg.Error) -> None:
        """Tell the time without an answer since the request, or since it was last told: retries make one silence."""
        if not isinstance(error, Silent):
            self._silent_at = None  # a refusal is an answer
            return
        now = time.monotonic()
        self.notices.silent(self.db, now - (self._silent_at or self._asked_at), brief(error))
        self._silent_at = now


def hint_for(text: str) -> str | None:
    """What to do about a refused connection, by the server's or the driver's words; null where they tell nothing."""
    without_names = re.sub(r'"[^"]*"', '""', text)
    return next((hint for sign, hint in _HINTS if sign.search(without_names)), None)


def brief(error: psycopg.Error) -> str:
    """The server's message on one line, without what the driver puts before it, and without values it does not take."""
    text = " ".join(str(error).split())
    text = text.removeprefix("connection failed: ").removeprefix("connection is bad: ")
    return _VALUE.sub(r"\1(not shown)", text)
