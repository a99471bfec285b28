"""What depends on what, and partitions, in a real server of each version."""

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.collect.postgres.statistics.objects.dependencies import Dependencies
from doctord.collect.postgres.statistics.objects.gin import pending
from doctord.collect.postgres.statistics.objects.relations import Relations
from postgres_samples import figures, link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server


@pytest.fixture
def shop(server: PostgresServer) -> Iterator[str]:
    server.execute("CREATE DATABASE shop")
    yield "shop"
    server.execute("DROP DATABASE shop WITH (FORCE)")


@pytest.fixture
def link(server: PostgresServer, shop: str) -> Iterator[Link]:
    with closing(link_to(server.dsn("doctord", dbname=shop))) as opened:
        opened.open()
        yield opened


def told(link: Link, dependencies: Dependencies, component: str) -> dict[str, str | None]:
    rows = rows_of("setting", dependencies.read(link))
    return {row["name"].removeprefix("shop.public."): row["value"] for row in rows if row["component"] == component}


def test_foreign_keys_that_no_index_serves(server: PostgresServer, shop: str, link: Link) -> None:
    server.execute(
        "CREATE TABLE customers (id int PRIMARY KEY, a int, b int, UNIQUE (a, b))",
        "CREATE TABLE bare (customer int CONSTRAINT k REFERENCES customers)",
        "CREATE TABLE served (customer int REFERENCES customers)",
        "CREATE INDEX ON served (customer)",
        "CREATE TABLE second (note text, customer int CONSTRAINT k REFERENCES customers)",
        "CREATE INDEX ON second (note, customer)",
        "CREATE TABLE without_nulls (customer int REFERENCES customers)",
        "CREATE INDEX ON without_nulls (customer) WHERE customer IS NOT NULL",
        "CREATE TABLE partly (customer int CONSTRAINT k REFERENCES customers, state text)",
        "CREATE INDEX ON partly (customer) WHERE state = 'open'",
        "CREATE TABLE two (x int, y int, CONSTRAINT k FOREIGN KEY (x, y) REFERENCES customers (a, b))",
        dbname=shop,
    )
    dependencies = Dependencies()
    assert told(link, dependencies, "pg_constraint") == {
        "bare k": "(customer) references public.customers",
        "second k": "(customer) references public.customers",
        "partly k": "(customer) references public.customers",
        "two k": "(x, y) references public.customers",
    }
    server.execute("CREATE INDEX ON bare (customer)", dbname=shop)
    assert told(link, dependencies, "pg_constraint") == {"bare k": None}


def test_triggers_functions_and_views(server: PostgresServer, shop: str, link: Link) -> None:
    server.execute(
        "CREATE TABLE orders (id int, amount int)",
        "CREATE TABLE totals (total int)",
        "CREATE VIEW large AS SELECT * FROM orders WHERE amount > 100",
        "CREATE VIEW larger AS SELECT * FROM large WHERE amount > 1000",
        "CREATE FUNCTION total() RETURNS bigint LANGUAGE sql AS 'SELECT sum(amount) FROM Orders'",
        "CREATE FUNCTION add_up() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN UPDATE totals SET total = total(); -- not larger\nRETURN NULL; END $$",
        "CREATE TRIGGER t AFTER INSERT OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION add_up()",
        "CREATE TRIGGER u BEFORE UPDATE ON orders FOR EACH STATEMENT EXECUTE FUNCTION add_up()",
        "CREATE TRIGGER off BEFORE UPDATE ON orders FOR EACH STATEMENT EXECUTE FUNCTION add_up()",
        "ALTER TABLE orders DISABLE TRIGGER off",
        "CREATE CONSTRAINT TRIGGER w AFTER UPDATE ON orders DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION add_up()",
        "CREATE FUNCTION any_of() RETURNS void LANGUAGE plpgsql AS "
        "'BEGIN EXECUTE format(''SELECT 1 FROM %I'', ''totals''); END'",
        dbname=shop,
    )
    assert told(link, Dependencies(), "pg_trigger") == {
        "orders t": "after insert, delete for each row: public.add_up",
        "orders u": "before update for each statement: public.add_up",
        "orders w": "after update for each row, deferred: public.add_up",
    }
    assert told(link, Dependencies(), "pg_proc") == {
        "add_up": "public.total, public.totals",
        "any_of": "(execute), public.totals",
        "total": "public.orders",
    }
    assert told(link, Dependencies(), "pg_rewrite") == {"large": "public.orders", "larger": "public.large"}


def test_children_and_their_parents(server: PostgresServer, shop: str, link: Link) -> None:
    server.execute(
        "CREATE TABLE orders (id int)",
        "CREATE TABLE orders_2019 () INHERITS (orders)",
        "CREATE TABLE sales (day date) PARTITION BY RANGE (day)",
        "CREATE TABLE sales_1 PARTITION OF sales FOR VALUES FROM ('2026-01-01') TO ('2026-02-01')",
        dbname=shop,
    )
    dependencies = Dependencies()
    both = {"orders_2019": "public.orders", "sales_1": "public.sales"}
    assert told(link, dependencies, "pg_inherits") == both
    server.execute("ALTER TABLE orders_2019 NO INHERIT orders", dbname=shop)
    assert told(link, dependencies, "pg_inherits") == {"orders_2019": None}


def test_event_triggers(server: PostgresServer, shop: str, link: Link) -> None:
    server.execute(
        "CREATE FUNCTION record() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
        "CREATE EVENT TRIGGER every ON ddl_command_end EXECUTE FUNCTION record()",
        "CREATE EVENT TRIGGER a_few ON sql_drop WHEN TAG IN ('DROP TABLE', 'DROP VIEW') EXECUTE FUNCTION record()",
        "CREATE EVENT TRIGGER off ON sql_drop EXECUTE FUNCTION record()",
        "ALTER EVENT TRIGGER off DISABLE",
        dbname=shop,
    )
    assert told(link, Dependencies(), "pg_event_trigger") == {
        "shop.every": "ddl_command_end: public.record",
        "shop.a_few": "sql_drop (DROP TABLE, DROP VIEW): public.record",
    }


def test_a_function_whose_body_is_parsed(server: PostgresServer, shop: str, link: Link) -> None:
    if server.version < 14:
        pytest.skip("bodies that are parsed came with version 14")
    server.execute(
        "CREATE TABLE orders (amount int)",
        "CREATE FUNCTION total() RETURNS bigint BEGIN ATOMIC SELECT sum(amount) FROM orders; END",
        dbname=shop,
    )
    assert told(link, Dependencies(), "pg_proc") == {"total": "public.orders"}


def test_partitions_that_are_all_looked_into(server: PostgresServer, shop: str, link: Link) -> None:
    server.execute(
        "CREATE TABLE readings (day int, device int) PARTITION BY RANGE (day, (device + 1))",
        "CREATE TABLE low PARTITION OF readings FOR VALUES FROM (0, 0) TO (10, 0) PARTITION BY LIST (device)",
        *(f"CREATE TABLE low_{device} PARTITION OF low FOR VALUES IN ({device})" for device in range(3)),
        "CREATE TABLE high PARTITION OF readings FOR VALUES FROM (10, 0) TO (20, 0)",
        dbname=shop,
    )
    with closing(Relations()) as relations:
        first = rows_of("setting", relations.read(link))
        assert {row["name"]: row["value"] for row in first if row["component"] == "pg_partitioned_table"} == {
            "shop.public.readings": "range (day, (expression))"
        }
        server.execute(*["SELECT * FROM readings WHERE device + 0 = 1"] * 5, dbname=shop)
        server.execute(*["SELECT * FROM high"] * 5, dbname=shop)
        for _ in range(50):
            time.sleep(0.1)
            batches = relations.read(link)
            seen = figures(batches, "shop.public.readings")
            if seen.get("pg_partition_tree.scans", 0) > 0:
                break
    assert seen["pg_partition_tree.leaves"] == 4
    assert seen["pg_partition_tree.leaves_scanned"] == 4
    assert seen["pg_partition_tree.scans"] > 4 * seen["pg_partition_tree.least_scans"] > 0
    assert not [row for row in rows_of("setting", batches) if row["component"] == "pg_partitioned_table"]


def test_functions_where_they_are_timed(server: PostgresServer, shop: str, link: Link) -> None:
    nap = "CREATE FUNCTION nap() RETURNS void LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.01); END'"
    server.execute(nap, "ALTER DATABASE shop SET track_functions = 'pl'", dbname=shop)
    with closing(Relations()) as relations:
        relations.read(link)
        server.execute(*["SELECT nap()"] * 5, dbname=shop)
        for _ in range(50):
            time.sleep(0.1)
            seen = figures(relations.read(link), "shop.public.nap")
            if seen:
                break
    assert seen["pg_stat_user_functions.total_time"] > 5 * seen["pg_stat_user_functions.calls"] > 0


def test_policies_where_row_security_is_in_force(server: PostgresServer, shop: str, link: Link) -> None:
    server.execute(
        "CREATE TABLE documents (id int, team int)",
        "CREATE FUNCTION may_see(int) RETURNS bool LANGUAGE plpgsql STABLE AS 'BEGIN RETURN $1 > 4711; END'",
        "CREATE POLICY by_team ON documents FOR SELECT USING (may_see(team))",
        "CREATE POLICY plain ON documents USING (team = 4711)",
        "CREATE POLICY added ON documents FOR INSERT WITH CHECK (team = 1)",
        "CREATE TABLE quiet (id int)",
        "CREATE POLICY off ON quiet USING (id = 1)",
        dbname=shop,
    )
    dependencies = Dependencies()
    assert told(link, dependencies, "pg_policy") == {}
    server.execute("ALTER TABLE documents ENABLE ROW LEVEL SECURITY", dbname=shop)
    assert told(link, dependencies, "pg_policy") == {
        "documents by_team": "for select, calls public.may_see",
        "documents plain": "for all",
    }


def test_expressions_of_indexes_and_pending_lists(server: PostgresServer, shop: str, link: Link) -> None:
    server.execute(
        "CREATE EXTENSION pgstattuple",
        "CREATE TABLE notes (title text, words tsvector)",
        "CREATE INDEX by_title ON notes (lower(title))",
        "CREATE INDEX secret ON notes ((title || 'secret'))",
        "CREATE INDEX listed ON notes USING gin (words) WITH (gin_pending_list_limit = 65536)",
        "CREATE INDEX at_once ON notes USING gin (words) WITH (fastupdate = off)",
        "CREATE INDEX usual ON notes USING gin (words)",
        "INSERT INTO notes SELECT n, array_to_tsvector(ARRAY['w' || n, 'v' || n]) FROM generate_series(1, 3000) AS n",
        "ANALYZE notes",
        dbname=shop,
    )
    with closing(Relations()) as relations:
        batches = relations.read(link)
    rows = rows_of("setting", batches)
    told = (row for row in rows if row["component"] == "pg_index" and row["name"].startswith("shop.public.notes "))
    indexes = {row["name"].rpartition(" ")[2]: row["value"] for row in told}
    assert indexes == {
        "by_title": "btree ((expression lower: title))",
        "secret": indexes["secret"],
        "listed": "gin (words) pending 65536 kB",
        "at_once": "gin (words)",
        "usual": "gin (words) pending 4096 kB",
    }
    assert "secret'" not in indexes["secret"]
    assert figures(batches, "shop.public.listed")["pg_index.gin_pending_pages"] > 5
    assert figures(batches, "shop.public.at_once")["pg_index.gin_pending_pages"] == 0


def test_pending_lists_are_asked_of_gin_indexes_alone_whatever_the_plan(
    server: PostgresServer, shop: str, link: Link
) -> None:
    server.execute(
        "CREATE EXTENSION pgstattuple",
        "CREATE TABLE notes (id int PRIMARY KEY, words tsvector)",
        "CREATE INDEX listed ON notes USING gin (words)",
        dbname=shop,
    )
    indexes = link.query("SELECT indexrelid AS relid FROM pg_index WHERE indrelid = 'public.notes'::regclass")
    for forbidden in ("hashjoin", "nestloop", "mergejoin"):
        link.query(f"SELECT set_config('enable_{forbidden}', 'off', false)")
        for asked in (indexes, indexes[:1], indexes[1:]):
            told = Figures(link.db)
            pending(link, asked, told)
        link.query(f"SELECT set_config('enable_{forbidden}', 'on', false)")
    assert figures(told.batches(), "shop.public.listed")["pg_index.gin_pending_pages"] == 0
    assert link.notices.batches() == []


def test_an_index_that_cannot_be_looked_into_costs_nothing_else(server: PostgresServer, shop: str, link: Link) -> None:
    server.execute(
        "CREATE FUNCTION pgstatginindex(regclass, OUT pending_pages int) LANGUAGE plpgsql AS $$ "
        "BEGIN RAISE 'could not open relation'; END $$",
        "CREATE EXTENSION pg_trgm",
        "ALTER EXTENSION pg_trgm ADD FUNCTION pgstatginindex(regclass)",
        "UPDATE pg_extension SET extname = 'pgstattuple' WHERE extname = 'pg_trgm'",
        "CREATE TABLE notes (id int PRIMARY KEY, words tsvector)",
        "CREATE INDEX listed ON notes USING gin (words)",
        "INSERT INTO notes SELECT n, '' FROM generate_series(1, 3000) AS n",
        "ANALYZE notes",
        dbname=shop,
    )
    with closing(Relations()) as relations:
        batches = relations.read(link)
    assert {row["name"] for row in rows_of("space", batches)} >= {"public.notes", "public.listed"}
    [event] = rows_of("event", link.notices.batches())
    assert event["subject"] == "pending lists of shop"


def test_foreign_tables_and_their_servers(server: PostgresServer, shop: str, link: Link) -> None:
    server.execute(
        "CREATE EXTENSION postgres_fdw",
        "CREATE SERVER hub FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'hidden.example', fetch_size '1000')",
        "CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw",
        "CREATE FOREIGN TABLE tariffs (code int) SERVER hub",
        "CREATE FOREIGN TABLE small (code int) SERVER hub OPTIONS (fetch_size '7')",
        "CREATE FOREIGN TABLE plain (code int) SERVER other",
        "CREATE VIEW cheap AS SELECT * FROM tariffs WHERE code < 10",
        dbname=shop,
    )
    rows = rows_of("setting", Dependencies().read(link))
    named = {(row["component"], row["name"].removeprefix("shop.public.")): row["value"] for row in rows}
    assert named == {
        ("pg_foreign_table", "tariffs"): "server hub (postgres_fdw), fetch_size 1000",
        ("pg_foreign_table", "small"): "server hub (postgres_fdw), fetch_size 7",
        ("pg_foreign_table", "plain"): "server other (postgres_fdw)",
        ("pg_rewrite", "cheap"): "public.tariffs",
    }
