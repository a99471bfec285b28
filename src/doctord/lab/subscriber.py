"""A subscriber of the private server: a server of its own, with tables of its own, that applies what is published."""

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, LiteralString

from psycopg import sql

from doctord.lab.errors import LabError
from doctord.lab.host.folder import give
from doctord.lab.host.processes import server_user, tied
from doctord.lab.server import DATABASE, PrivateServer, running_server

_COPIED_S: Final = 60.0
_SETTINGS: Final = {"shared_buffers": "64MB", "cluster_name": "subscriber"}
_NOT_COPIED: Final = "select count(*) from pg_subscription_rel where srsubstate <> 'r'"


@contextmanager
def subscriber_of(server: PrivateServer, name: str, tables: Sequence[LiteralString]) -> Iterator[PrivateServer]:
    """A running subscriber that has copied what is published; it is looked at beside the server.

    Args:
        server: the publisher, whose wal_level is logical, with a publication of that name.
        name: of the publication, and of the subscription.
        tables: statements that make the tables.

    Raises:
        LabError: it cannot be made, does not start, or has not copied the tables within a minute.
    """
    home = server.folder / "subscriber"
    home.mkdir()
    give(home)
    options: list[str | Path] = ["--username=postgres", "--encoding=UTF8", "--no-locale", "--no-sync", "--auth=peer"]
    command = tied([server.binaries / "initdb", *options, "--pgdata", home / "data"], user=server_user())
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError("the subscriber could not be made", f"initdb said: {done.stderr.strip()}")
    with running_server(server.binaries, home, home / "data", _SETTINGS) as subscriber:
        with subscriber.connect(dbname="postgres") as connection:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))
        for statement in tables:
            subscriber.execute(statement)
        made = sql.SQL("create subscription {0} connection {1} publication {0}")
        subscriber.execute(made.format(sql.Identifier(name), sql.Literal(server.dsn)))
        _wait_until_copied(subscriber)
        server.beside.append(subscriber.dsn)
        try:
            yield subscriber
        finally:
            server.beside.remove(subscriber.dsn)


def _wait_until_copied(subscriber: PrivateServer) -> None:
    until = time.monotonic() + _COPIED_S
    with subscriber.connect() as connection:
        while (row := connection.execute(_NOT_COPIED).fetchone()) is None or row[0]:
            if time.monotonic() > until:
                raise LabError("the subscriber has not copied its tables", f"see {subscriber.folder}/postgresql.log")
            time.sleep(0.1)
