"""Connections to PostgreSQL: made by libpq's usual means, with a limit on everything that could take long.

A server that stops answering must cost its collector a few seconds and nobody else anything: the server itself ends a
statement after two seconds or a lock wait after half a second, and when it does not, the client gives the connection
up. Every connection is read-only, in autocommit, and shows itself as `doctord` in pg_stat_activity.
"""

import os
import pwd
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import DictRow, dict_row

from doctord.collect.core.identity import acting_as, can_act_as
from doctord.collect.core.impatient import Impatient, Silent
from doctord.collect.core.place import Place
from doctord.errors import UserError
from doctord.regex import regex

_FORM: Final = "write it as 'host=... port=... user=... dbname=...' or 'postgresql://user@host:port/dbname'"
_PORT: Final = 5432
_PORTS: Final = regex(r"[0-9,]*")

_CLIENT: Final = {
    "application_name": "doctord",
    "connect_timeout": 3,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 5000,
    "client_encoding": "utf8",
}
_SESSION_SETTINGS: Final = {
    "statement_timeout": "2s",
    "lock_timeout": "500ms",
    "idle_in_transaction_session_timeout": "10s",
    "default_transaction_read_only": "on",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}
# Whoever owns a database says by ALTER DATABASE what its sessions look for first: no function of his is ever called
# under our rights, not even by a session that has no other settings of ours.
_SEARCH_PATH: Final = "-c search_path=pg_catalog,pg_temp"  # else what is temporary comes first
# Where all statements are logged, ours would be most of the log, and wait with all others when it is not taken.
_UNLOGGED: Final = """\
SELECT /* doctord */ set_config(name, value, false)
FROM (VALUES ('log_statement', 'none'), ('log_min_duration_statement', '-1'), ('log_min_duration_sample', '-1'),
             ('log_duration', 'off')) AS quiet (name, value)
"""
_GRANTED: Final = 150000
_WHERE_GRANTED: Final = "WHERE has_parameter_privilege(name, 'SET')"


@dataclass(frozen=True, slots=True)
class Target:
    """A server to watch. `parameters` are libpq's, kept out of every text; `owner` is the user id it runs under.

    `places` is where it listens, if it was named: each host of several.
    """

    db: str
    parameters: Mapping[str, Any] = field(repr=False)
    owner: int | None = None
    places: tuple[Place, ...] = ()

    @classmethod
    def from_dsn(cls, dsn: str) -> "Target":
        """A target from a connection string or URI; what it leaves out libpq takes from its environment.

        Raises:
            UserError: It is no connection string. The text of it is not repeated: it may hold a password.
        """
        _check_uri(dsn)
        try:
            given = conninfo_to_dict(dsn)
        except psycopg.ProgrammingError:
            raise UserError("a --dsn is no connection string", _FORM) from None
        if not _PORTS.fullmatch(str(given.get("port", ""))):
            raise UserError("the port of a --dsn is no number", _FORM)
        defaults = {
            option.keyword.decode(): option.val.decode()
            for option in psycopg.pq.Conninfo.get_defaults()
            if option.val is not None
        }
        known = {**defaults, **given}
        host, port = (str(known.get(name, usual)) for name, usual in (("host", ""), ("port", _PORT)))
        return cls(_db(host, port), given, places=_places(host, port))

    def with_database(self, name: str) -> "Target":
        """The same server, another database."""
        return replace(self, parameters={**self.parameters, "dbname": name})


def _check_uri(dsn: str) -> None:
    """Refuse an address of which a piece of the password would be taken for the host, the port or the database.

    libpq takes the first @ or / for the end of user and password. Whatever is wrong there, it would say with the piece.
    """
    if dsn.startswith(("postgres://", "postgresql://")):
        login, is_login, place = dsn.partition("://")[2].partition("@")
        if is_login and ("@" in place.partition("?")[0] or ("/" in login and "?" not in login)):
            raise UserError(
                "an address holds an @ or / that must be written as %40 or %2F",
                "write so in user and password, or put the password into ~/.pgpass or PGPASSWORD",
            )


def _db(host: str, port: str) -> str:
    local = not host or host.startswith(("/", "@")) or host in ("localhost", "127.0.0.1", "::1")
    return f"postgresql:{port}" if local else f"postgresql:{host}:{port}"


def _places(hosts: str, ports: str) -> tuple[Place, ...]:
    """Of several hosts each with its port, or all with the one."""
    each, numbers = hosts.split(","), [int(port or _PORT) for port in ports.split(",")]
    return tuple(Place(host, port) for host, port in zip(each, numbers * len(each), strict=False))


def connect(target: Target, *, limits: bool = True) -> psycopg.Connection[DictRow]:
    """A connection for measuring; as root, under the name of the server's own user unless another is asked for.

    Without `limits` the session has the server's own settings but for search_path: for reading those, and for what is
    planned by them, within limits of its own.

    Raises:
        Silent: The server does not answer, or its host does not.
        psycopg.OperationalError: The server refuses or cannot be reached.
    """
    conninfo, identity = login_of(target, limits=limits)
    with identity:
        try:
            connection = Impatient.connect(conninfo, autocommit=True, row_factory=dict_row)
        except psycopg.errors.ConnectionTimeout as error:
            raise Silent(f"no answer to a login for {_CLIENT['connect_timeout']} s") from error
    if limits:
        _keep_out_of_the_log(connection)
    return connection


def _keep_out_of_the_log(connection: psycopg.Connection[DictRow]) -> None:
    """Have our statements not logged, where that is granted: to superusers, from version 15 on to whom they name."""
    if connection.info.parameter_status("is_superuser") == "on":
        connection.execute(_UNLOGGED)
    elif connection.info.server_version >= _GRANTED:
        connection.execute(_UNLOGGED + _WHERE_GRANTED)


def login_of(
    target: Target, *, limits: bool = True, program: str | None = None
) -> tuple[str, AbstractContextManager[None]]:
    """How to log in: the connection string, and as whom to use it.

    Args:
        target: the server.
        limits: whether the session has limits on what could take long.
        program: what the session calls itself, if not `doctord`.
    """
    named = {"application_name": program} if program else {}
    parameters = {**_CLIENT, **target.parameters, **named}
    settings = [f"-c {name}={value}" for name, value in _SESSION_SETTINGS.items()] if limits else []
    parameters["options"] = " ".join([str(parameters.get("options", "")), *settings, _SEARCH_PATH]).strip()
    identity: AbstractContextManager[None] = nullcontext()
    if target.owner and can_act_as(target.owner) and not ("user" in parameters or "PGUSER" in os.environ):
        with suppress(KeyError):  # the user of a container has no name here
            parameters["user"] = pwd.getpwuid(target.owner).pw_name
            identity = acting_as(target.owner)
    return make_conninfo("", **parameters), identity
