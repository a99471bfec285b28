"""A private PostgreSQL server: started in a folder of its own, stopped at once, reachable by nobody else.

Only the operating-system user of the lab (and the server's own) may log in, over the Unix socket; the loopback port is
there because a real server has one. fsync stays on: a fault of commits needs it.
"""

import getpass
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, LiteralString, Protocol

import psycopg
from psycopg import sql

from doctord.lab.errors import LabError
from doctord.lab.host.cgroup import Group
from doctord.lab.host.processes import end, free_port, server_user, tied

DATABASE: Final = "pgbench"
ROLES: Final = ("postgres", "app")
"""Whom the lab's own users may log in as: the administrator, and who is none, once a fault has made that role."""
_START_S: Final = 30.0

HEALTHY: Final[Mapping[str, str]] = {
    "shared_buffers": "256MB",  # the data set fits
    "max_wal_size": "4GB",
    "min_wal_size": "160MB",
    "checkpoint_timeout": "15min",
    "track_io_timing": "on",
    "log_checkpoints": "on",
    "wal_level": "replica",
    "max_wal_senders": "10",
    "cluster_name": "doctord-lab",
    "listen_addresses": "127.0.0.1",
}


@dataclass(frozen=True, slots=True)
class PrivateServer:
    """A running server: where it is, and what a fault may do to it.

    `beside` are addresses of what a fault has put before it, a pooler say, and what is to be looked at too.
    """

    binaries: Path
    folder: Path
    data: Path
    port: int
    process: subprocess.Popen[bytes]
    group: Group | None
    beside: list[str] = field(default_factory=list)

    @property
    def dsn(self) -> str:
        """How to reach it; there is no password in it."""
        return f"host={self.folder} port={self.port} user=postgres dbname={DATABASE}"

    def connect(self, program: str = "doctord lab", dbname: str = DATABASE) -> psycopg.Connection[tuple[Any, ...]]:
        """A new connection, each statement its own transaction."""
        return psycopg.connect(self.dsn, dbname=dbname, application_name=program, autocommit=True)

    def execute(self, statement: LiteralString | sql.Composed) -> None:
        """Run one statement on a connection of its own."""
        with self.connect() as connection:
            connection.execute(statement)

    def set(self, **settings: str) -> None:
        """Change settings of the running server."""
        with self.connect() as connection:
            for name, value in settings.items():
                connection.execute(sql.SQL("alter system set {} = {}").format(sql.Identifier(name), sql.Literal(value)))
            connection.execute("select pg_reload_conf()")

    def stop(self) -> None:
        """Stop it at once, before its time: for a fault that takes away a device on which it has files open."""
        end(self.process, signal.SIGQUIT)

    def evict(self) -> None:
        """Let the operating system forget the data files, so that the next reads come from the disk."""
        self.execute("checkpoint")
        self.forget(self.data / "base")

    def forget(self, folder: Path) -> None:
        """Let the operating system forget the files of a folder that are on the disk as they are."""
        for file in folder.rglob("*"):
            if file.is_file():
                handle = os.open(file, os.O_RDONLY)
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(handle)


@contextmanager
def running_server(
    binaries: Path,
    folder: Path,
    data: Path,
    settings: Mapping[str, str],
    *,
    group: Group | None = None,
    entrance: Sequence[str] = (),
    orderly: bool = False,
) -> Iterator[PrivateServer]:
    """Start a server on a data directory, wait until it answers, and stop it in the end.

    Args:
        binaries: folder of PostgreSQL's programs.
        folder: where the socket and the log go.
        data: the data directory, its files owned by the server's user.
        settings: what is to differ from `HEALTHY`; `{folder}` in a value is the folder.
        group: control group to start it in; null: our own.
        entrance: what to put before its command.
        orderly: whether the data is to be of use after the stop; else it stops at once.

    Raises:
        LabError: it does not start; the message ends with its last words.
    """
    port = free_port()
    places = {"port": str(port), "unix_socket_directories": str(folder)}
    own = {name: value.replace("{folder}", str(folder)) for name, value in settings.items()}
    _configure(data, {**HEALTHY, **places, **own})
    log = folder / "postgresql.log"
    command = tied([binaries / "postgres", "-D", data], on_death="QUIT", user=server_user())
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*(group.entrance if group else ()), *entrance, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            process_group=0,
        )
    server = PrivateServer(binaries, folder, data, port, process, group)
    try:
        _wait_until_ready(server, log)
        yield server
    finally:
        end(process, signal.SIGINT if orderly else signal.SIGQUIT)


class Grouped(Protocol):
    """A server that may have been started in a control group of its own."""

    @property
    def group(self) -> Group | None:
        """The group; null where it has none."""
        ...


def its_group(server: Grouped) -> Group:
    """The control group that the server was started in."""
    if server.group is None:
        raise LookupError("the fault does not say which controller it needs")
    return server.group


def _configure(data: Path, settings: Mapping[str, str]) -> None:
    with (data / "postgresql.conf").open("a") as configuration:
        configuration.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
    (data / "pg_hba.conf").write_text(
        "local all,replication all peer map=lab\nhost all all 127.0.0.1/32 scram-sha-256\n"
    )
    users = {getpass.getuser(), server_user() or getpass.getuser()}
    (data / "pg_ident.conf").write_text("".join(f"lab {user} {role}\n" for user in sorted(users) for role in ROLES))


def _wait_until_ready(server: PrivateServer, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while server.process.poll() is None and time.monotonic() < deadline:
        try:
            server.connect(dbname="postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    last = log.read_text(errors="replace").splitlines()[-5:]
    raise LabError("the private server did not start", "its last words were:\n  " + "\n  ".join(last))
