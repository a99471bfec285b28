"""Connections to PgBouncer's console, by libpq: it understands the simple protocol, and none of a server's settings."""

import os
import pwd
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row

from doctord.collect.core.identity import acting_as, can_act_as
from doctord.collect.core.impatient import Impatient, Silent
from doctord.collect.core.link import Trouble
from doctord.collect.core.poolers import PORT, Pooler
from doctord.collect.core.secret import user_and_place
from doctord.errors import UserError
from doctord.regex import regex

_CONSOLE: Final = "pgbouncer"
_CLIENT: Final = {"application_name": "doctord", "connect_timeout": 3, "tcp_user_timeout": 5000}
_FORM: Final = "write it as pgbouncer://USER@HOST:6432, or pgbouncer:///FOLDER/OF/SOCKET:6432"
_GRANT: Final = (
    "name the user in stats_users of pgbouncer.ini and reload; its password goes into ~/.pgpass or PGPASSWORD; "
    "as the user that PgBouncer runs under none is needed at its socket"
)
_TROUBLES: Final = tuple(
    (regex(sign), text, hint)
    for sign, text, hint in (
        (r"(?i)password|auth|not allowed|no such user", "PgBouncer refuses the login to its console", _GRANT),
        (r"no more connections", "PgBouncer takes no more clients", "raise max_client_conn; it is asked again"),
        (r"shutting down|server_lifetime", "PgBouncer is stopping", "it is asked again"),
        (r"(?i)resolve|translate host name", "the name of the host is not known", _FORM),
        (r"No such file|refused", "no PgBouncer listens there", _FORM),
        (r"closed the connection", "PgBouncer closed the connection", "its log says why"),
    )
)


class PgBouncerDriver:
    """How to connect to one pooler, and what its errors mean. `owner` is the user id that it runs under, if known."""

    errors: tuple[type[Exception], ...] = (psycopg.Error, OSError)

    def __init__(self, db: str, parameters: dict[str, Any], owner: int | None = None) -> None:
        """Nothing is connected yet; `parameters` are libpq's."""
        self.db = db
        self._parameters = parameters
        self._owner = owner

    @classmethod
    def from_address(cls, address: str) -> "PgBouncerDriver":
        """A driver for `pgbouncer://USER@HOST:PORT`; what it leaves out is `pgbouncer`, this host and 6432.

        In place of the host the folder of its socket may stand: `pgbouncer:///run/postgresql:6432`.

        Raises:
            UserError: It is no such address, or holds a password. The text of it is not repeated.
        """
        user, place = user_and_place(address, "pgbouncer", "PGPASSWORD")
        host, _, port = place.partition(":")
        host, port = host.rstrip("/"), port.rstrip("/") or str(PORT)
        if not port.isdecimal():
            raise UserError("the port of a pgbouncer:// address is no number", _FORM)
        local = host in {"", "localhost", "127.0.0.1"} or host.startswith("/")
        parameters = {"port": port, **({"host": host} if host else {}), **({"user": user} if user else {})}
        owner = _owner(Path(host) / f".s.PGSQL.{port}") if host.startswith("/") else None
        return cls(f"pgbouncer:{port}" if local else f"pgbouncer:{host}:{port}", parameters, owner)

    @classmethod
    def here(cls, pooler: Pooler) -> "PgBouncerDriver":
        """A driver for a pooler that runs on this host, through its socket."""
        parameters = {"host": pooler.socket_dir, "port": str(pooler.port)}
        return cls(f"pgbouncer:{pooler.port}", parameters, pooler.owner)

    def connect(self) -> psycopg.Connection[DictRow]:
        """A connection to the console; as root, under the name of the pooler's own user.

        Raises:
            psycopg.Error: It refuses, cannot be reached, or (Silent) does not answer.
        """
        parameters = {"user": _CONSOLE, **_CLIENT, **self._parameters, "dbname": _CONSOLE}
        identity: AbstractContextManager[None] = nullcontext()
        if self._owner and can_act_as(self._owner) and "PGUSER" not in os.environ:
            with suppress(KeyError):  # the user of a container has no name here
                pwd.getpwuid(self._owner)
                identity = acting_as(self._owner)
        with identity:
            return Impatient.connect(
                make_conninfo("", **parameters), autocommit=True, row_factory=dict_row, prepare_threshold=None
            )

    def trouble(self, error: Exception) -> Trouble:
        """What an error means, in words of our own: the library's may hold user and host."""
        if isinstance(error, (Silent, psycopg.errors.ConnectionTimeout)):
            return Trouble("no answer in time", "is PgBouncer stopped, or its host overloaded?", silent=True)
        told = str(error)
        for sign, text, hint in _TROUBLES:
            if sign.search(told):
                return Trouble(text, hint, refused="no more" in text, gone="listens" in text)
        return Trouble(f"PgBouncer or libpq reports {type(error).__name__}", "its log says more")


def _owner(socket: Path) -> int | None:
    """Who owns a socket, and so the process that listens there; null where it is not here."""
    try:
        return socket.stat().st_uid
    except OSError:
        return None
