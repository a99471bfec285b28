"""A private MariaDB or MySQL server: started in a folder of its own, stopped at once, reachable by nobody else.

The operating-system user of the lab is its administrator, over the Unix socket alone; app has a password of this run.
The loopback port is there because a real server has one. Each commit is written and synced, as by default: a fault of
commits needs it.
"""

import os
import pwd
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from doctord.lab.errors import LabError
from doctord.lab.host.cgroup import Group
from doctord.lab.host.processes import end, free_port, server_user, tied
from doctord.lab.mysql.binaries import Program

if TYPE_CHECKING:
    import pymysql

DATABASE: Final = "shop"
_START_S: Final = 60.0

HEALTHY: Final[Mapping[str, str]] = {
    "innodb_buffer_pool_size": "256M",  # the data set fits
    "innodb_flush_log_at_trx_commit": "1",
    "bind_address": "127.0.0.1",
    "skip_name_resolve": "ON",
    "max_connections": "151",
}


@dataclass(frozen=True, slots=True)
class PrivateMySQL:
    """A running server: where it is, and what a fault may do to it. `beside` are further addresses to be looked at."""

    program: Program
    folder: Path
    data: Path
    port: int
    process: subprocess.Popen[bytes]
    group: Group | None
    secret: str = field(repr=False)
    beside: list[str] = field(default_factory=list)

    @property
    def socket(self) -> Path:
        """Its Unix socket."""
        return self.folder / "mysqld.sock"

    @property
    def dsn(self) -> str:
        """How to reach it; there is no password in it."""
        return f"mysql://{own_user()}@{self.socket}"

    def connect(self, user: str = "", database: str | None = DATABASE) -> "pymysql.connections.Connection[Any]":
        """A new connection of app or, without a name, of the administrator, each statement its own transaction."""
        return connection(self.socket, user or own_user(), self.secret if user else "", database)

    def execute(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements on a connection of their own; the rows of the last."""
        with closing(self.connect()) as connected:
            cursor = connected.cursor()
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())

    def set(self, **variables: str | int) -> None:
        """Change global variables of the running server."""
        self.execute(*(f"SET GLOBAL {name} = {value!r}" for name, value in variables.items()))

    def figure(self, query: str) -> float | None:
        """The last column of a query of one row; null where the server answers nobody, or has no such row."""
        import pymysql  # noqa: PLC0415 - an extra

        try:
            rows = self.execute(query)
        except pymysql.Error:
            return None
        return float(rows[0][-1]) if rows else None


def connection(
    socket_path: Path, user: str, secret: str, database: str | None = DATABASE
) -> "pymysql.connections.Connection[Any]":
    """A connection through a socket, each statement its own transaction.

    Raises:
        LabError: PyMySQL is not there.
    """
    try:
        import pymysql  # noqa: PLC0415 - an extra
    except ImportError:
        raise LabError("PyMySQL is not installed", "pip install 'doctord[mysql]'") from None
    return pymysql.connect(
        user=user,
        password=secret,
        unix_socket=str(socket_path),
        database=database,
        autocommit=True,
        connect_timeout=10,
    )


@contextmanager
def running_server(
    program: Program,
    folder: Path,
    data: Path,
    settings: Mapping[str, str],
    *,
    group: Group | None = None,
    entrance: Sequence[str] = (),
    orderly: bool = False,
) -> Iterator[PrivateMySQL]:
    """Start a server on a data directory, wait until it answers, and stop it in the end.

    Args:
        program: the server's program.
        folder: where the socket and the log go.
        data: the data directory, its files owned by the server's user.
        settings: what is to differ from `HEALTHY`; `{folder}` in a value is the folder.
        group: control group to start it in; null: our own.
        entrance: what to put before its command.
        orderly: whether the data is to be of use after the stop; else it stops at once.

    Raises:
        LabError: it does not start; the message ends with its last words.
    """
    own = {name: value.replace("{folder}", str(folder)) for name, value in settings.items()}
    port = free_port()
    options = {**HEALTHY, "datadir": str(data), "socket": str(folder / "mysqld.sock"), "port": str(port), **own}
    log = folder / "mysqld.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*(group.entrance if group else ()), *entrance, *command(program, options)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            env=program.environment,
            process_group=0,
        )
    server = PrivateMySQL(program, folder, data, port, process, group, secrets.token_hex(16))
    try:
        _wait_until_ready(server, log)
        with closing(server.connect(database=None)) as administrator:
            administrator.cursor().execute(f"ALTER USER IF EXISTS app@localhost IDENTIFIED BY '{server.secret}'")
        yield server
    finally:
        end(process, signal.SIGTERM if orderly else signal.SIGKILL)


def command(program: Program, options: Mapping[str, str], *flags: str) -> list[str]:
    """The server's command line: no option file of this host, and what its own engine needs beside."""
    own = {} if program.is_mariadb else {"mysqlx": "OFF", "plugin_load_add": "auth_socket.so"}
    home = program.path.parent.parent
    if (home / "share").is_dir() and home != Path("/usr"):
        own["basedir"] = str(home)
    given = [f"--{name.replace('_', '-')}={value}" for name, value in {**own, **options}.items()]
    return tied([program.path, "--no-defaults", *flags, *given], on_death="KILL", user=server_user())


def own_user() -> str:
    """The operating-system user of the lab, who is the server's administrator."""
    return pwd.getpwuid(os.geteuid()).pw_name


def _wait_until_ready(server: PrivateMySQL, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while server.process.poll() is None and time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(str(server.socket)) == 0:
                return
        time.sleep(0.05)
    last = log.read_text(errors="replace").splitlines()[-5:]
    raise LabError("the private server did not start", "its last words were:\n  " + "\n  ".join(last))
