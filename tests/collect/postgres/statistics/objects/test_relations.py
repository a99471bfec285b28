"""Which indexes somebody needs besides queries, and how often they were scanned, in a real server of each version."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.objects.relations import Relations
from postgres_samples import figures, link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server

SCANS = "pg_stat_user_indexes.scans_since_reset"


@pytest.fixture
def link(server: PostgresServer) -> Iterator[Link]:
    server.execute("CREATE DATABASE shop")
    with closing(link_to(server.dsn("doctord", dbname="shop"))) as opened:
        opened.open()
        yield opened
    server.execute("DROP DATABASE shop WITH (FORCE)")


def read(link: Link) -> list[Batch]:
    with closing(Relations()) as relations:
        return relations.read(link)


def test_scans_are_told_of_indexes_that_queries_alone_need(server: PostgresServer, link: Link) -> None:
    server.execute(
        "CREATE TABLE customers (id int PRIMARY KEY)",
        "CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES customers, number int, note text, at int)",
        "CREATE INDEX served ON orders (customer, note)",
        "CREATE UNIQUE INDEX numbered ON orders (number)",
        "CREATE INDEX noted ON orders (note)",
        "CREATE INDEX being_built ON orders (at)",
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'being_built'::regclass",
        dbname="shop",
    )
    batches = read(link)
    told = {name: figures(batches, f"shop.public.{name}").get(SCANS) for name in (
        "orders_pkey", "served", "numbered", "noted", "being_built",
    )}  # fmt: skip
    assert told == {"orders_pkey": None, "served": None, "numbered": None, "noted": 0, "being_built": None}


def test_an_index_of_a_partition_is_needed_where_that_of_another_one_is(server: PostgresServer, link: Link) -> None:
    server.execute(
        "CREATE TABLE readings (month int, value int) PARTITION BY LIST (month)",
        "CREATE TABLE last PARTITION OF readings FOR VALUES IN (1)",
        "CREATE TABLE this PARTITION OF readings FOR VALUES IN (2)",
        "CREATE INDEX ON readings (value)",
        "CREATE INDEX ON readings (month)",
        "INSERT INTO readings SELECT 1 + i % 2, i FROM generate_series(1, 2000) i",
        "SET enable_seqscan = off",
        "SET enable_bitmapscan = off",
        "SELECT * FROM last WHERE value = 7",
        dbname="shop",
    )
    names = ("last_value_idx", "this_value_idx", "last_month_idx", "this_month_idx")
    for _ in range(50):  # up to version 14 the collector of statistics is a process of its own, and late
        batches = read(link)
        told = [figures(batches, f"shop.public.{name}").get(SCANS) for name in names]
        if told[0] is None:
            break
        time.sleep(0.1)
    assert told == [None, None, 0, 0]


def test_types_of_the_columns_that_indexes_begin_with(server: PostgresServer, link: Link) -> None:
    server.execute(
        "CREATE TABLE books (id bigint PRIMARY KEY, title text, shelf char(3), price numeric(8, 2), note text)",
        "CREATE INDEX ON books (title text_pattern_ops, note)",
        "CREATE INDEX ON books (lower(note))",
        "CREATE INDEX ON books (price)",
        "INSERT INTO books SELECT i, i, 'a', i, i FROM generate_series(1, 500) i",
        "ANALYZE books",
        dbname="shop",
    )
    with closing(Relations()) as relations:
        told, again = (
            {row["name"]: row["value"] for row in rows_of("setting", relations.read(link)) if _is_type(row)}
            for _ in range(2)
        )
    table = "shop.public.books"
    assert told == {f"{table} id": "bigint", f"{table} title": "text, patterns", f"{table} price": "numeric"}
    assert again == {}, "once"


def test_whether_an_index_serves_like_goes_by_the_provider_of_the_collation(server: PostgresServer, link: Link) -> None:
    """ICU's root order is no order of bytes, though the libc of the same database is in C."""
    if server.version < 15:
        pytest.skip("a database's own collation is always of libc before version 15")
    server.execute(
        "CREATE DATABASE abroad LOCALE_PROVIDER icu ICU_LOCALE 'und' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    )
    server.execute(
        """CREATE TABLE books (title text PRIMARY KEY, sorted text COLLATE "C", named text COLLATE "und-x-icu")""",
        "CREATE INDEX ON books (sorted)",
        "CREATE INDEX ON books (named)",
        "INSERT INTO books SELECT i, i, i FROM generate_series(1, 500) i",
        "ANALYZE books",
        dbname="abroad",
    )
    batches = read(link)
    server.execute("DROP DATABASE abroad WITH (FORCE)")
    told = {row["name"]: row["value"] for row in rows_of("setting", batches) if _is_type(row)}
    of = "abroad.public.books"
    assert {name: what for name, what in told.items() if name.startswith(of)} == {
        f"{of} title": "text", f"{of} sorted": "text, patterns", f"{of} named": "text"
    }  # fmt: skip


def _is_type(row: dict[str, Any]) -> bool:
    return bool(row["component"] == "pg_attribute")


def test_since_when_scans_are_counted(server: PostgresServer, link: Link) -> None:
    name = "pg_stat_database.stats_age_s"
    assert figures(read(link), "shop")[name] >= 0
    server.execute("SELECT pg_stat_reset()", "SELECT pg_stat_reset_shared('bgwriter')", dbname="shop")
    assert 0 <= figures(read(link), "shop")[name] < 60


OF_TABLE = "pg_stat_user_tables."


def pieces(server: PostgresServer, link: Link, statement: str) -> tuple[float, float]:
    """Pieces of wide values that come and go with a statement that updates `documents`."""
    names = [f"{OF_TABLE}{name}" for name in ("n_tup_upd", "toast_n_tup_ins", "toast_n_tup_del")]
    sums = dict.fromkeys(names, 0.0)
    with closing(Relations()) as relations:
        relations.read(link)
        server.execute(statement, dbname="shop")  # a session tells what it did as it ends
        for _ in range(50):  # up to version 14 to a process that is late
            for row in rows_of("statistic", relations.read(link)):
                if row["entity"] == "shop.public.documents" and row["name"] in sums:
                    sums[row["name"]] += row["value"] * row["interval_s"]
            if sums[names[0]] > 0:
                break
            time.sleep(0.1)
    assert round(sums[names[0]]) == 10
    return round(sums[names[1]]), round(sums[names[2]])


def test_wide_values_are_written_anew_where_an_update_sets_them(server: PostgresServer, link: Link) -> None:
    body = "repeat('0123456789', 1000)"
    server.execute(
        "CREATE TABLE documents (id int PRIMARY KEY, views int, body text)",
        "ALTER TABLE documents ALTER body SET STORAGE EXTERNAL",
        f"INSERT INTO documents SELECT i, 0, {body} FROM generate_series(1, 10) AS i",
        dbname="shop",
    )
    time.sleep(1)
    assert pieces(server, link, f"UPDATE documents SET views = views + 1, body = {body}") == (60, 60)
    assert pieces(server, link, "UPDATE documents SET views = views + 1") == (0, 0)
    assert pieces(server, link, "UPDATE documents SET views = views + 1, body = body") == (0, 0), "the same pieces"
