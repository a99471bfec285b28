"""Indexes that are not valid, and sequences near their end, in a real server of each version."""

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.objects.schema import Schema
from postgres_samples import link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server


@pytest.fixture
def database(server: PostgresServer) -> Iterator[str]:
    server.execute("CREATE DATABASE shop")
    yield "shop"
    server.execute("DROP DATABASE shop WITH (FORCE)")


def told(link: Link, name: str) -> dict[str, float]:
    with closing(Schema()) as schema:
        rows = rows_of("statistic", schema.read(link))
    return {row["entity"]: row["value"] for row in rows if row["name"] == name}


def test_an_index_that_is_not_valid(server: PostgresServer, database: str) -> None:
    server.execute(
        "CREATE TABLE twice (id int)", "INSERT INTO twice VALUES (1), (1)", "CREATE INDEX fine ON twice (id)",
        dbname=database,
    )  # fmt: skip
    with pytest.raises(psycopg.errors.UniqueViolation):
        server.execute("CREATE UNIQUE INDEX CONCURRENTLY broken ON twice (id)", dbname=database)
    server.execute("CREATE TABLE parts (id int) PARTITION BY RANGE (id)", dbname=database)
    server.execute("CREATE INDEX of_parts ON ONLY parts (id)", dbname=database)
    with closing(link_to(server.dsn("doctord"))) as link:
        link.open()
        assert told(link, "pg_index.is_invalid") == {"shop.public.broken on public.twice": 1.0}


def test_how_far_sequences_are(server: PostgresServer, database: str) -> None:
    server.execute(
        "CREATE TABLE orders (id serial, line smallint GENERATED ALWAYS AS IDENTITY, big bigserial)",
        "CREATE TABLE wide (id int)",
        "CREATE SEQUENCE behind AS bigint OWNED BY wide.id",
        "CREATE SEQUENCE down INCREMENT -1 MINVALUE -1000",
        "CREATE SEQUENCE round MAXVALUE 10 CYCLE",
        "SELECT setval('orders_id_seq', 1073741824), setval('orders_line_seq', 30000), setval('behind', 2000000000), "
        "setval('down', -900), setval('round', 9), setval('orders_big_seq', 4000000000)",
        dbname=database,
    )
    with closing(link_to(server.dsn("postgres"))) as link:
        link.open()
        used = told(link, "pg_sequences.used_pct")
    assert {name.removeprefix("shop.public."): round(value) for name, value in used.items()} == {
        "orders_line_seq": 92, "behind": 93, "down": 90, "orders_id_seq": 50, "orders_big_seq": 0
    }  # fmt: skip


def test_sequences_that_may_not_be_read_are_said_once(server: PostgresServer, database: str) -> None:
    server.execute("CREATE SEQUENCE mine", "SELECT nextval('mine')", dbname=database)
    with closing(link_to(server.dsn("doctord"))) as link:
        link.open()
        assert told(link, "pg_sequences.used_pct") == {}
        told(link, "pg_sequences.used_pct")
        events = rows_of("event", link.notices.batches())
    [event] = [event for event in events if "sequences" in event["subject"]]
    assert "GRANT SELECT ON ALL SEQUENCES" in event["hint"]
