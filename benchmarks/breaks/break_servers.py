"""The private server of a break, of either kind: who prepares and breaks it, and how services reach it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from break_cases import Break
from break_clients import Place, connected_to_mysql

from doctord.lab.binaries import find_binaries
from doctord.lab.mysql import server as mysql
from doctord.lab.mysql.binaries import find_program
from doctord.lab.mysql.tables import provide_data
from doctord.lab.server import PrivateServer, running_server
from doctord.lab.template import provide_cluster

OWNER = """
create role app login;
create database shop owner app;
\\connect shop
create extension if not exists pg_stat_statements;
"""


class BreakServer(NamedTuple):
    """A running server: its address for the check-up, who runs a script as its administrator, how clients reach it.

    `environment` is what a shell is told of it; `restart` ends and starts it in an orderly way, null where none can.
    """

    dsn: str
    place: Place
    run: Callable[[str], None]
    environment: Mapping[str, str]
    restart: Callable[[], None] | None


@contextmanager
def server_of(one: Break, home: Path) -> Iterator[BreakServer]:
    """A server for a break, its database `shop` prepared, in a folder."""
    begun = _postgres if one.engine == "postgresql" else _mysql
    with begun(one, home) as server:
        server.run(one.prepare)
        if one.engine == "postgresql":
            server.run("analyze")
        yield server


@contextmanager
def shell(server: BreakServer, script: str) -> Iterator[None]:
    """A script as root beside the server; what it leaves running is killed in the end."""
    if not script.strip():
        yield
        return
    process = subprocess.Popen(
        ["bash", "-c", script],
        env={**os.environ, **server.environment},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
    )
    try:
        time.sleep(1)
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _postgres(one: Break, home: Path) -> Iterator[BreakServer]:
    binaries = find_binaries()
    provide_cluster(binaries, 1, home / "data")
    with running_server(binaries, home, home / "data", one.settings) as server:
        (server.data / "pg_hba.conf").write_text("local all,replication all trust\nhost all app 127.0.0.1/32 trust\n")
        server.execute("select pg_reload_conf()")
        _psql(server, OWNER, "postgres")
        where = f"host={server.folder} port={server.port}"
        told = {"PGDATA": server.data, "PGHOST": server.folder, "PGPORT": server.port, "PGUSER": "postgres"}
        yield BreakServer(
            f"{where} user=postgres dbname=shop",
            Place("postgresql", where),
            lambda script: _psql(server, script, "shop"),
            {name: str(value) for name, value in told.items()},
            lambda: _restart(server),
        )


def _psql(server: PrivateServer, script: str, database: str) -> None:
    if not script.strip():
        return
    place = ["-h", str(server.folder), "-p", str(server.port), "-U", "postgres", database]
    done = subprocess.run(
        [server.binaries / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *place],
        input=script, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"psql: {done.stderr.strip()[-300:]}")


def _restart(server: PrivateServer) -> None:
    command = f"pg_ctl -D {server.data} -m fast -w -l {server.folder}/restarted.log restart"
    subprocess.run(
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--", "bash", "-c",
         f"cd {server.folder}; {server.binaries}/{command}"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip


@contextmanager
def _mysql(one: Break, home: Path) -> Iterator[BreakServer]:
    unpacked = os.environ.get("DOCTORD_MYSQL")
    program = find_program(one.engine, Path(unpacked, "bin") if unpacked and one.engine == "mysql" else None)
    provide_data(program, home / "data")
    with mysql.running_server(program, home, home / "data", one.settings) as server:
        server.execute("drop database shop", "create database shop")  # without the lab's own tables
        place = Place(one.engine, str(server.socket), server.secret)
        told = {"DATADIR": server.data, "SOCKET": server.socket, "PORT": server.port, "PID": server.process.pid}
        yield BreakServer(
            server.dsn,
            place,
            lambda script: _by_administrator(place, script),
            {name: str(value) for name, value in told.items()},
            None,
        )


def _by_administrator(place: Place, script: str) -> None:
    if not script.strip():
        return
    with connected_to_mysql(place, mysql.own_user(), "shop", "break") as connection:
        connection.execute(script)
