"""Versions of collations, in a real server of each version: those that differ from what was recorded."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from doctord.analyse.sql.collations import INDEXES, LARGEST, UNIQUE
from doctord.collect.postgres.statistics.objects.schema import Schema
from doctord.dataset import collations
from postgres_samples import link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server

ICU_DATABASE = 150000
OLD = "UPDATE pg_collation SET collversion = '1.1' WHERE collname = 'de-x-icu'"
OLD_DATABASE = "UPDATE pg_database SET datcollversion = '1.1' WHERE datname = 'shop'"


@pytest.fixture
def version(server: PostgresServer) -> Iterator[int]:
    with closing(link_to(server.dsn("postgres"))) as link:
        link.open()
        number = link.version
    icu = " TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'de'"
    server.execute(f"CREATE DATABASE shop{icu if number >= ICU_DATABASE else ''}")
    yield number
    server.execute("DROP DATABASE shop WITH (FORCE)")


def told(server: PostgresServer) -> tuple[dict[str, str], dict[tuple[str, str | None], float]]:
    """The versions that differ, and the figures on them, as a role of pg_monitor sees them."""
    with closing(link_to(server.dsn("doctord"))) as link, closing(Schema()) as schema:
        link.open()
        batches = schema.read(link)
        assert [row["text"] for row in rows_of("event", link.notices.batches()) if "collation" in row["subject"]] == []
    versions = [row for row in rows_of("setting", batches) if row["component"] == collations.COMPONENT]
    figures = [row for row in rows_of("statistic", batches) if "collation" in row["name"]]
    return (
        {row["name"]: row["value"] for row in versions},
        {(row["name"], row["entity"]): row["value"] for row in figures},
    )


def test_nothing_is_told_where_versions_are_as_recorded(server: PostgresServer, version: int) -> None:
    server.execute('CREATE TABLE name (t text COLLATE "de-x-icu" PRIMARY KEY)', dbname="shop")
    versions, figures = told(server)
    assert versions == {}
    assert figures.keys() == {("pg_collation.versions_compared", None)}
    assert figures["pg_collation.versions_compared", None] >= (2 if version >= ICU_DATABASE else 1)


@pytest.mark.usefixtures("version")
def test_a_collation_of_another_version_with_the_indexes_that_it_sorts(server: PostgresServer) -> None:
    server.execute(
        'CREATE TABLE name (t text COLLATE "de-x-icu" PRIMARY KEY, c text COLLATE "C" UNIQUE, n int UNIQUE)',
        'CREATE INDEX by_bytes ON name (t text_pattern_ops)',
        'CREATE INDEX hashed ON name USING hash (t)',
        'CREATE INDEX lowered ON name (n, lower(t))',
        OLD,
        dbname="shop",
    )  # fmt: skip
    versions, figures = told(server)
    [(name, value)] = versions.items()
    assert name == "shop pg_catalog.de-x-icu"
    assert collations.versions_of(value).recorded == "1.1"
    assert figures[INDEXES, name] == 2
    assert figures[UNIQUE, name] == 1
    assert (LARGEST, "shop.public.name_pkey on public.name") in figures


def test_a_database_of_another_version(server: PostgresServer, version: int) -> None:
    if version < ICU_DATABASE:
        pytest.skip("databases have no version of their collation before PostgreSQL 15")
    server.execute("CREATE TABLE name (t text PRIMARY KEY)", OLD_DATABASE, dbname="shop")
    versions, figures = told(server)
    assert list(versions) == ["shop default"]
    assert figures[INDEXES, "shop default"] == 1
    server.execute("DROP TABLE name", dbname="shop")
    assert told(server)[1][INDEXES, "shop default"] == 0


@pytest.mark.usefixtures("version")
def test_what_differs_no_more_is_told(server: PostgresServer) -> None:
    server.execute('CREATE TABLE name (t text COLLATE "de-x-icu" PRIMARY KEY)', OLD, dbname="shop")
    with closing(link_to(server.dsn("doctord"))) as link, closing(Schema()) as schema:
        link.open()
        schema.read(link)
        server.execute('ALTER COLLATION "de-x-icu" REFRESH VERSION', dbname="shop")
        told = [row for row in rows_of("setting", schema.read(link)) if row["component"] == collations.COMPONENT]
    assert [(row["name"], row["value"]) for row in told] == [("shop pg_catalog.de-x-icu", None)]
