"""One connection to one server, kept up: it comes back after an outage, and says once what went wrong."""

import os
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any, Final

import psycopg
from psycopg.sql import Composed

from doctord.collect.postgres.connect import Target, connect
from doctord.collect.postgres.notices import Notices

_RETRY_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)

_ROLE: Final = "CREATE ROLE doctord LOGIN; GRANT pg_monitor TO doctord; then set PGUSER=doctord or give --dsn"
_HINTS: Final = (
    ("password", "put the password into ~/.pgpass (host:port:database:user:password, mode 0600) or name a PGPASSFILE"),
    ("no pg_hba.conf entry", "allow the role in pg_hba.conf and reload: local all doctord peer map=doctord"),
    ("Peer authentication failed", f"run as the role's own user, map yours in pg_ident.conf, or {_ROLE}"),
    ("role", _ROLE),
    ("database", "name one that exists: PGDATABASE=... or --dsn dbname=..."),
    ("too many clients", "all connections are taken; from version 16 GRANT pg_use_reserved_connections TO doctord"),
    ("connection slots", "all connections are taken; from version 16 GRANT pg_use_reserved_connections TO doctord"),
    ("starting up", "the server is still starting: it is asked again"),
    ("shutting down", "the server is stopping: it is asked again"),
    ("timeout", "the server does not answer: is it stopped, or the host overloaded?"),
    ("No such file", "no server listens there: check PGHOST, PGPORT, or give --dsn"),
    ("refused", "no server listens there: check PGHOST, PGPORT, or give --dsn"),
)


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
        self._started, self._lost_at = started, None

    def _broke(self, error: psycopg.Error) -> None:
        self.close()
        self._lost_at = self._lost_at or time.monotonic()
        self._retry_at = time.monotonic() + _RETRY_S[0]
        self.notices.happened("gap", self.db, self.db, f"the connection broke: {brief(error)}")

    def _failed(self, error: psycopg.OperationalError) -> None:
        self.close()
        self._retry_at = time.monotonic() + _RETRY_S[min(self._failures, len(_RETRY_S) - 1)]
        self._failures += 1
        text = brief(error)
        hint = next((hint for sign, hint in _HINTS if sign in text), None)
        self.notices.unseen(self.db, self.db, text, hint)


def brief(error: psycopg.Error) -> str:
    """The server's message on one line, without what the driver puts before it."""
    text = " ".join(str(error).split())
    return text.removeprefix("connection failed: ").removeprefix("connection is bad: ")
