"""Where a real server listens: files of its sockets, and addresses."""

from collections.abc import Callable
from contextlib import closing

import pytest

from doctord.collect.postgres.listening import Listening
from postgres_samples import link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server


def told(dsn: str) -> dict[tuple[str, str], float]:
    with closing(link_to(dsn)) as link, closing(Listening()) as listening:
        link.open()
        return {(row["name"], row["entity"]): row["value"] for row in rows_of("statistic", listening.read(link))}


def test_a_socket_with_its_file_and_one_without(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    path = f"{server.socket_dir}/.s.PGSQL.{server.port}"
    by_tcp = f"host=127.0.0.1 port={server.port} user=postgres dbname=postgres"
    there = {("listening.socket_file", path): 1.0, ("listening.lock_file", path): 1.0}
    listens = {("listening.at_address", "127.0.0.1"): 1.0, ("listening.address_of_host", "127.0.0.1"): 1.0}
    assert told(server.dsn("postgres")) == told(by_tcp) == there | listens
    (server.socket_dir / f".s.PGSQL.{server.port}").unlink()
    assert told(by_tcp) == {("listening.socket_file", path): 0.0, ("listening.lock_file", path): 1.0} | listens
