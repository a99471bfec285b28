"""PgBouncer before a private server, with a pool of so many connections."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import psycopg

from doctord.lab.errors import LabError
from doctord.lab.host.processes import free_port, running, server_user, tied
from doctord.lab.server import DATABASE, PrivateServer

Mode = Literal["transaction", "session"]
_START_S: Final = 10.0
_CONFIGURATION: Final = """\
[databases]
{database} = host={server} port={server_port} user=postgres
[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 200
"""


@dataclass(frozen=True, slots=True)
class Pooler:
    """A running PgBouncer: the folder of its socket, and its port."""

    folder: Path
    port: int

    @property
    def dsn(self) -> str:
        """How clients reach the database through it."""
        return f"host={self.folder} port={self.port} user=postgres dbname={DATABASE}"

    @property
    def address(self) -> str:
        """Its own address."""
        return f"pgbouncer://{self.folder}:{self.port}"

    def waiting(self) -> float | None:
        """Clients that wait in it for a connection now; null when it does not answer."""
        dsn = f"host={self.folder} port={self.port} user=pgbouncer dbname=pgbouncer"
        with suppress(psycopg.Error), psycopg.connect(dsn, autocommit=True) as connection:
            cursor = connection.execute("SHOW POOLS")
            names = [column.name for column in cursor.description or ()]
            return float(sum(row[names.index("cl_waiting")] for row in cursor))
        return None


@contextmanager
def pooler(server: PrivateServer, size: int, mode: Mode = "transaction") -> Iterator[Pooler]:
    """Run one until the context ends; it is looked at beside the server.

    Args:
        server: the server behind it.
        size: how many connections to it a pool may have.
        mode: for how long a client keeps one.

    Raises:
        LabError: it is not installed, or does not start.
    """
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        raise LabError("pgbouncer was not found", "apt-get install pgbouncer")
    folder, user = server.folder / "pooler", server_user()
    folder.mkdir()
    found = Pooler(folder, free_port())
    told = _CONFIGURATION.format(
        database=DATABASE,
        server=server.folder,
        server_port=server.port,
        port=found.port,
        folder=folder,
        size=size,
        mode=mode,
    )
    (folder / "pgbouncer.ini").write_text(told)
    if user is not None:
        shutil.chown(folder, user)
    with running(tied([program, folder / "pgbouncer.ini"], user=user), server.folder / "pgbouncer.log"):
        _wait_until_ready(found, server.folder / "pgbouncer.log")
        server.beside.append(found.address)
        try:
            yield found
        finally:
            server.beside.remove(found.address)


def _wait_until_ready(one: Pooler, log: Path) -> None:
    until = time.monotonic() + _START_S
    while one.waiting() is None:
        if time.monotonic() > until:
            raise LabError("PgBouncer did not start", f"its last words: {log.read_text()[-300:]}")
        time.sleep(0.05)
