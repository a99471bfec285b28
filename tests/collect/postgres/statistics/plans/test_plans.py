"""Plans of the costliest statements of a real server: as their role has them, and never by running code of others."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from doctord.collect.postgres.statistics.plans.plans import Plans
from doctord.collect.postgres.statistics.statements import Statements
from postgres_samples import SECRET, link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server


@pytest.fixture
def shop(server: PostgresServer) -> Iterator[PostgresServer]:
    """A database `shop` with a schema of its own, and a role `shop_app` that finds it by its search_path."""
    server.execute("CREATE ROLE shop_app LOGIN", "CREATE DATABASE shop")
    server.execute("ALTER ROLE shop_app IN DATABASE shop SET search_path = sales")
    server.execute(
        "CREATE SCHEMA sales AUTHORIZATION shop_app",
        "GRANT CREATE ON DATABASE shop TO shop_app",
        "SET ROLE shop_app",
        "CREATE TABLE sales.orders (id int PRIMARY KEY, customer int, state text, at timestamptz DEFAULT now())",
        "CREATE INDEX orders_customer ON sales.orders (customer)",
        "INSERT INTO sales.orders SELECT n, n % 100, 'open' FROM generate_series(1, 20000) AS n",
        f"CREATE VIEW sales.open AS SELECT * FROM sales.orders WHERE state = '{SECRET}'",
        "ANALYZE sales.orders",
        dbname="shop",
    )
    yield server
    server.execute("DROP DATABASE shop WITH (FORCE)")
    server.execute("DROP ROLE shop_app")


def plans_of(
    server: PostgresServer, *statements: str, user: str = "postgres"
) -> tuple[dict[str, list[dict[str, Any]]], list[dict[str, Any]]]:
    """The nodes by the statement's text, of statements run as shop_app; and what was said."""
    with (
        closing(link_to(server.dsn(user))) as link,
        closing(Statements()) as asked,
        closing(Plans(asked)) as plans,
    ):
        link.open()
        asked.read(link)
        with server.connect("shop_app", dbname="shop") as client:
            for statement in statements:
                for _ in range(30):
                    client.execute(statement, prepare=False)
        texts = {row["statement_id"]: row["text"] for row in rows_of("statement", asked.read(link))}
        asked.costliest = [
            (number, int(statement))
            for statement, text in texts.items()
            if any(text.split()[:4] == one.split()[:4] for one in statements)
            for (number,) in server.execute("SELECT oid FROM pg_database WHERE datname = 'shop'")
        ]
        found: dict[str, list[dict[str, Any]]] = {}
        for row in rows_of("plan", plans.read(link)):
            found.setdefault(texts[row["statement_id"]], []).append(row)
        assert plans.read(link) == [], "each is asked for once an hour"
        events = [row for row in rows_of("event", link.notices.batches()) if "plans" in row["subject"]]
    return found, events


def shape(nodes: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["step"], row["parent"], row["kind"], row["relation"], row["index"]) for row in nodes]


def test_a_plan_is_that_of_the_statements_role(shop: PostgresServer) -> None:
    found, events = plans_of(
        shop,
        "SELECT * FROM orders WHERE customer = 7 AND state = 'open'",
        "SELECT count(*) FROM orders AS o WHERE at > now() - interval '3 days' AND extract(year FROM at) > 2000",
        "UPDATE orders SET state = 'done' WHERE id = 5",
        "INSERT INTO orders SELECT id + 100000, 1, 'x' FROM orders WHERE id < 0",
        "SELECT * FROM open WHERE id NOT IN (SELECT customer FROM orders)",
    )
    assert events == []
    assert {text.split()[0] for text in found} == {"SELECT", "UPDATE", "INSERT"}
    assert len(found) == 5
    by_text = {text.partition(" WHERE")[0]: nodes for text, nodes in found.items()}
    first = by_text["SELECT * FROM orders"]
    assert shape(first)[-1][2:] == ("Bitmap Index Scan", None, "orders_customer")
    assert (first[0]["kind"], first[0]["relation"]) == ("Bitmap Heap Scan", "sales.orders")
    assert first[0]["filter"] == "(orders.state = $2)"
    assert first[-1]["condition"] == "(orders.customer = $1)"
    assert first[0]["rows"] is not None
    assert first[0]["database"] == "shop"
    assert by_text["UPDATE orders SET state = $1"][0]["kind"] == "Update"
    assert by_text["UPDATE orders SET state = $1"][-1]["index"] == "orders_pkey"
    view = by_text["SELECT * FROM open"]
    assert "SubPlan 1" in view[0]["filter"]
    assert SECRET not in str(found)
    assert next(row for row in view if row["parent"] == 0)["relationship"] == "SubPlan 1"


def test_settings_of_the_role_are_the_planners(shop: PostgresServer) -> None:
    shop.execute("ALTER ROLE shop_app SET enable_bitmapscan = off", "ALTER ROLE shop_app SET enable_indexscan = off")
    found, _ = plans_of(shop, "SELECT * FROM orders WHERE customer = 7")
    [nodes] = found.values()
    assert [row["kind"] for row in nodes] == ["Seq Scan"]


@pytest.mark.parametrize(
    ("made", "statement"),
    [
        ("CREATE VIEW hidden AS SELECT * FROM orders WHERE trap(1) = id", "SELECT * FROM hidden WHERE id = 1"),
        ("CREATE VIEW one AS SELECT * FROM orders WHERE trap(1) = id; CREATE VIEW two AS SELECT * FROM one",
         "SELECT * FROM two WHERE id = 1"),
        ("CREATE POLICY own ON orders USING (trap(1) = id)", "SELECT * FROM orders WHERE id = 1"),
        ("CREATE INDEX by_trap ON orders (id) WHERE id < trap(id)", "SELECT * FROM orders WHERE id = 1"),
        ("ALTER TABLE orders ADD CHECK (id < trap(1)) NOT VALID", "SELECT * FROM orders WHERE id = 1"),
        ("ALTER TABLE orders ALTER customer SET DEFAULT trap(1)", "INSERT INTO orders (id) SELECT 0 WHERE false"),
        ("CREATE DOMAIN price AS int CHECK (trap(1) > 0); CREATE TABLE priced (p price)",
         "SELECT * FROM priced WHERE p IS NULL"),
        ("CREATE OPERATOR ~~~ (LEFTARG = int, RIGHTARG = int, FUNCTION = loud)", "SELECT * FROM plain WHERE false"),
        ("", "SELECT id FROM plain WHERE false AND id = trap(1)"),
        ("", 'SELECT id FROM plain WHERE false AND id = U&"tr\\0061p"(1)'),
    ],
)  # fmt: skip
def test_no_code_of_others_is_called(shop: PostgresServer, made: str, statement: str) -> None:
    """The function fails where it is called: nothing is planned that may reach it."""
    with psycopg.connect(shop.dsn("shop_app", dbname="shop"), autocommit=True) as owner:
        owner.execute(
            "CREATE FUNCTION trap(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN "
            "IF current_user = 'shop_app' AND current_setting('application_name') <> 'doctord' THEN RETURN n; END IF; "
            "RAISE EXCEPTION 'sprung'; END $$"
        )
        owner.execute(
            "CREATE FUNCTION loud(a int, b int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN a < b; END'"
        )
        owner.execute("CREATE TABLE plain (id int)")
        for one in made.split("; "):
            if one:
                owner.execute(one.encode())
    found, events = plans_of(shop, statement)
    assert found == {}
    assert [row["text"] for row in events] == ["planning it may run functions that are not the server's own"]
    assert "sprung" not in shop.log


def test_a_default_is_no_part_of_what_reads(shop: PostgresServer) -> None:
    with psycopg.connect(shop.dsn("shop_app", dbname="shop"), autocommit=True) as owner:
        owner.execute("CREATE FUNCTION next_id() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'")
        owner.execute("ALTER TABLE orders ALTER id SET DEFAULT next_id()")
        owner.execute("CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
        owner.execute("CREATE TRIGGER stamp BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION stamp()")
    found, events = plans_of(shop, "SELECT * FROM orders WHERE customer = 7", "UPDATE orders SET id = id WHERE id < 0")
    assert [text.split()[0] for text in found] == ["SELECT"]
    assert len(events) == 1


def test_who_may_not_read_the_tables_is_told_how(shop: PostgresServer) -> None:
    found, [event] = plans_of(shop, "SELECT * FROM orders WHERE customer = 7", user="doctord")
    assert found == {}
    assert 'relation "orders" does not exist, as the role that doctord connects as is told' in event["text"]
    assert "pg_read_all_data" in event["hint"]
    shop.execute("GRANT shop_app TO doctord")
    try:
        found, events = plans_of(shop, "SELECT * FROM orders WHERE customer = 7", user="doctord")
    finally:
        shop.execute("REVOKE shop_app FROM doctord")
    assert (len(found), events) == (1, [])


def test_what_is_locked_is_left_alone_and_asked_for_later(shop: PostgresServer) -> None:
    with shop.connect("shop_app", dbname="shop") as holder:
        for _ in range(30):
            holder.execute("SELECT * FROM orders WHERE customer = 7", prepare=False)
        holder.execute("BEGIN; LOCK TABLE orders")
        with (
            closing(link_to(shop.dsn("postgres"))) as link,
            closing(Statements()) as asked,
            closing(Plans(asked)) as plans,
        ):
            link.open()
            asked.read(link)
            [(number, statement)] = shop.execute(
                "SELECT s.dbid, queryid FROM pg_stat_statements AS s JOIN pg_database AS d ON d.oid = s.dbid "
                "WHERE datname = 'shop' AND query LIKE 'SELECT * FROM orders WHERE customer%'"
            )
            asked.costliest = [(number, statement)]
            assert plans.read(link) == []
            assert rows_of("event", link.notices.batches()) == []
            assert link.query("SELECT 1 AS one") == [{"one": 1}]


def test_nothing_is_left_in_log_and_figures(shop: PostgresServer) -> None:
    before, entries = (
        len(shop.log),
        "SELECT count(*) FROM pg_stat_statements WHERE query ILIKE '%execute doctord_plan%'",
    )
    of_others = shop.execute(entries)
    found, _ = plans_of(
        shop,
        "SELECT * FROM orders WHERE customer = 7",
        "SELECT date_trunc('day', at) FROM orders GROUP BY date_trunc('day', at)",
    )
    assert len(found) == 1, "the one that cannot be prepared from its text alone is not planned"
    assert "ERROR" not in shop.log[before:]
    assert shop.execute(entries) == of_others
