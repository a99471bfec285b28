"""Connections to MariaDB and MySQL through PyMySQL, with a limit on everything that could take long.

What an address leaves out comes from the section [client] of ~/.my.cnf, as with the clients of these servers: the
password among it, and the certificates for TLS.
"""

import configparser
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from doctord.collect.core.link import Trouble
from doctord.collect.core.secret import password, user_and_place
from doctord.errors import UserError

if TYPE_CHECKING:
    import pymysql

_CONNECT_S: Final = 5
_ANSWER_S: Final = 3  # longer than the statement's own limit, so that the server ends it in its own way first
_STATEMENT_S: Final = 2

PASSWORD: Final = "MYSQL_PWD"  # noqa: S105 - the variable's name
GRANTS: Final = "CREATE USER doctord@'%' IDENTIFIED BY '...'; GRANT SELECT ON performance_schema.* TO doctord@'%'"
_SETTINGS: Final = ("SET SESSION TRANSACTION READ ONLY", "SET SESSION lock_wait_timeout = 1")
_LOGIN: Final = f"put the password into {PASSWORD} or into [client] of ~/.my.cnf, or {GRANTS}"
_WHERE: Final = "check host and port: mysql://USER@HOST:3306, or the socket: mysql://USER@/run/mysqld/mysqld.sock"
_MEANINGS: Final = {
    1040: ("all connections are taken (1040)", "raise max_connections; it is asked again"),
    1044: ("no right to read it (1044)", GRANTS),
    1045: ("user or password is wrong (1045)", _LOGIN),
    1053: ("the server is stopping (1053)", None),
    1129: ("this host is blocked after too many errors (1129)", "FLUSH HOSTS on the server"),
    1130: ("this host may not connect (1130)", GRANTS),
    1142: ("no right to read it (1142)", GRANTS),
    1146: ("this version does not have it (1146)", None),
    1227: ("no right to read it (1227)", GRANTS),
    1698: ("the user may only log in as itself on the server's host (1698)", "run as that user, or " + GRANTS),
    1927: ("the connection was killed (1927)", None),
    1969: (f"it takes longer than {_STATEMENT_S} s (1969)", "read less: name the subjects"),
    2003: ("nobody answers there (2003)", _WHERE),
    2006: ("the server closed it (2006)", None),
    2013: (f"no answer for {_ANSWER_S} s, or the server closed it (2013)", None),
    3024: (f"it takes longer than {_STATEMENT_S} s (3024)", "read less: name the subjects"),
}
_REFUSED: Final = frozenset({1040, 1053})
"""Codes by which a server lets nobody in now."""
_ENDED: Final = frozenset({0, 1053, 1927})
"""Codes of the server's, or none, after which the connection is gone; all of 2000 to 2999 are the driver's."""


def _driver() -> Any:  # noqa: ANN401 - the module
    try:
        import pymysql  # noqa: PLC0415 - an extra, loaded when there is a server to ask
    except ImportError:
        raise UserError("PyMySQL is not installed", "pip install 'doctord[mysql]'") from None
    return pymysql


@dataclass(slots=True)
class MySQLDriver:
    """How to connect to one server. `place` is HOST:PORT, the path of a socket, or empty."""

    place: str
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    db: str = field(init=False)
    errors: tuple[type[Exception], ...] = field(init=False, repr=False)
    _where: dict[str, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Name the server after its port.

        Raises:
            UserError: The driver is not installed, or the port is no number.
        """
        self._where, self.db = _where(self.place)
        self.errors = (_driver().Error, OSError, configparser.Error)

    @classmethod
    def from_address(cls, address: str, *, ask: bool = False) -> "MySQLDriver":
        """A driver for `mysql://USER@HOST:PORT` or `mysql://USER@/SOCKET`.

        The password comes from MYSQL_PWD, or is asked for on the terminal if `ask`, or comes from ~/.my.cnf.

        Raises:
            UserError: It is no such address, or holds a password; or the driver is not installed.
        """
        user, place = user_and_place(address, "mysql", PASSWORD)
        return cls(place, user, password(PASSWORD, user or "the user of ~/.my.cnf", ask=ask))

    def connect(self) -> "pymysql.connections.Connection[pymysql.cursors.Cursor]":
        """A read-only connection that shows itself as `doctord`; server and client give up a statement in seconds.

        Raises:
            pymysql.Error: The server refuses or cannot be reached.
            configparser.Error: ~/.my.cnf cannot be understood.
        """
        options = Path("~/.my.cnf").expanduser()
        connection: pymysql.connections.Connection[pymysql.cursors.Cursor] = _driver().connect(
            user=self.user,
            password=self.password or "",
            **self._where,
            read_default_file=str(options) if options.exists() else None,
            connect_timeout=_CONNECT_S,
            read_timeout=_ANSWER_S,
            write_timeout=_ANSWER_S,
            autocommit=True,
            program_name="doctord",
        )
        with connection.cursor() as cursor:
            cursor.execute("SELECT /* doctord */ version()")
            [[version]] = cursor.fetchall()
            for setting in (*_SETTINGS, _statement_limit(str(version))):
                cursor.execute(setting)
        return connection

    def trouble(self, error: Exception) -> Trouble:
        """What an error means, without a word of the driver's own text: it may hold user and host."""
        if isinstance(error, configparser.Error):
            return Trouble("~/.my.cnf cannot be understood", "it is to be of the form [client] user=... password=...")
        code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        if code in {2003, 2013} and "timed out" in str(error.args[-1]):
            return Trouble(f"no answer in time ({code})", "is the server stopped, or its host overloaded?", silent=True)
        text, hint = _MEANINGS.get(code, (f"the server or driver reports error {code}", None))
        lost = code in _ENDED or 2000 <= code < 3000
        return Trouble(text, hint, lost, refused=code in _REFUSED, gone=code in {2002, 2003})


def is_mariadb(version: str) -> bool:
    """Whether a version, as the server tells it, is one of MariaDB's."""
    return "mariadb" in version.lower()


def _statement_limit(version: str) -> str:
    if is_mariadb(version):
        return f"SET SESSION max_statement_time = {_STATEMENT_S}"
    return f"SET SESSION max_execution_time = {_STATEMENT_S * 1000}"


def _where(place: str) -> tuple[dict[str, Any], str]:
    """What the driver takes, and the server's name in the dataset."""
    if place.startswith("/"):
        return {"unix_socket": place}, f"mysql:{place}"
    host, _, port = place.partition(":")
    if port and not port.isdecimal():
        raise UserError("the port of a mysql:// address is no number", _WHERE)
    local = host in {"", "localhost", "127.0.0.1"}
    given = {**({"host": host} if host else {}), **({"port": int(port)} if port else {})}
    return given, f"mysql:{port or 3306}" if local else f"mysql:{host}:{port or 3306}"
