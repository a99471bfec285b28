"""Published tables without a replica identity, in a real server of each version."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from doctord.analyse.sql.publications import CHANGES
from doctord.collect.postgres.statistics.figures import Figures
from doctord.collect.postgres.statistics.objects.published import Published
from postgres_samples import link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server


@pytest.fixture
def shop(server: PostgresServer) -> Iterator[PostgresServer]:
    server.execute("CREATE DATABASE shop")
    yield server
    server.execute("DROP DATABASE shop WITH (FORCE)")


def told(server: PostgresServer, published: Published) -> tuple[dict[str, str | None], dict[str, float]]:
    """What is new of the tables, and how often each was changed, as a role of pg_monitor sees them."""
    with closing(link_to(server.dsn("doctord", dbname="shop"))) as link:
        link.open()
        figures = Figures(link.db)
        settings = rows_of("setting", published.read(link, figures))
        counted = [row for row in rows_of("statistic", figures.batches()) if row["name"] == CHANGES]
    return {row["name"]: row["value"] for row in settings}, {row["entity"]: row["value"] for row in counted}


def test_tables_by_their_identity(shop: PostgresServer) -> None:
    shop.execute(
        "CREATE TABLE keyed (id int PRIMARY KEY)",
        "CREATE TABLE late (id int PRIMARY KEY DEFERRABLE)",
        "CREATE TABLE whole (id int)",
        "ALTER TABLE whole REPLICA IDENTITY FULL",
        "CREATE TABLE named (id int NOT NULL)",
        "CREATE UNIQUE INDEX by_id ON named (id)",
        "ALTER TABLE named REPLICA IDENTITY USING INDEX by_id",
        "CREATE TABLE none (id int)",
        "INSERT INTO none VALUES (1), (2)",
        "UPDATE none SET id = 3",
        "CREATE TABLE denied (id int PRIMARY KEY)",
        "ALTER TABLE denied REPLICA IDENTITY NOTHING",
        "CREATE UNLOGGED TABLE unlogged (id int)",
        "CREATE TABLE parted (id int) PARTITION BY RANGE (id)",
        "CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (9)",
        "CREATE PUBLICATION everything FOR ALL TABLES",
        "CREATE PUBLICATION added FOR TABLE none WITH (publish = 'insert')",
        "CREATE PUBLICATION root FOR TABLE parted WITH (publish = 'delete', publish_via_partition_root = true)",
        "SELECT pg_sleep(1.1)",  # until a session tells what it did, before version 15
        dbname="shop",
    )
    published = Published()
    tables, changes = told(shop, published)
    both = "everything: UPDATE and DELETE"
    assert tables == {
        "shop.public.late": both,
        "shop.public.none": both,
        "shop.public.denied": both,
        "shop.public.part": "everything, root: UPDATE and DELETE",
    }
    assert changes["shop.public.none"] == 2
    shop.execute("ALTER TABLE none REPLICA IDENTITY FULL", dbname="shop")
    assert told(shop, published)[0] == {"shop.public.none": None}


def test_a_publication_of_inserts_needs_none(shop: PostgresServer) -> None:
    shop.execute(
        "CREATE TABLE none (id int)",
        "CREATE PUBLICATION added FOR ALL TABLES WITH (publish = 'insert, truncate')",
        dbname="shop",
    )
    assert told(shop, Published()) == ({}, {})
