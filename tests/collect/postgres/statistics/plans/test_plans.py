"""Plans of the costliest statements of a real server: as their role has them, and with its rights alone."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from doctord.collect.core.notices import Notices
from doctord.collect.postgres.connection.connect import Target
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.plans.explain import Asked, NotExplained, explain
from doctord.collect.postgres.statistics.plans.nodes import nodes
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


TRAP = """\
CREATE FUNCTION trap(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    BEGIN
        EXECUTE 'RESET ROLE';
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
    BEGIN
        EXECUTE 'SET SESSION AUTHORIZATION DEFAULT';
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
    BEGIN
        PERFORM pg_read_file('PG_VERSION');
        RAISE EXCEPTION 'a superuser runs it';
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END;
    RAISE EXCEPTION 'run as %', current_user;
END $$"""
HIDING = (
    "CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
    "RAISE EXCEPTION 'hidden'; END $$",
    "CREATE FUNCTION evil.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN "
    "RAISE EXCEPTION 'hidden'; END $$",
)


def explained(server: PostgresServer, text: str, user: str = "postgres") -> Any:
    """What is told of one statement over a connection like the collector's."""
    link = Link(Target.from_dsn(server.dsn(user, dbname="shop")), Notices(), limits=False)
    with closing(link):
        link.open()
        told = link.ask(lambda connection: explain(connection, Asked(1, "shop", 1, "shop_app", text)))
        prepared = link.query("SELECT name FROM pg_prepared_statements")
        [left] = link.query("SELECT count(*) AS functions FROM pg_proc WHERE proname = 'doctord_plan'")
    assert (prepared, left) == ([], {"functions": 0}), "nothing is left of it"
    return told


@pytest.mark.parametrize("user", ["postgres", "doctord"])
@pytest.mark.parametrize(
    ("made", "statement"),
    [
        ("", "SELECT * FROM orders WHERE id = trap(1)"),
        ("CREATE VIEW hidden AS SELECT * FROM orders WHERE trap(1) = id", "SELECT * FROM hidden"),
        ("CREATE DOMAIN price AS int CHECK (trap(1) > 0)", "SELECT $1::price"),
    ],
)
def test_code_of_others_runs_with_their_rights_alone(
    shop: PostgresServer, made: str, statement: str, user: str
) -> None:
    with psycopg.connect(shop.dsn("shop_app", dbname="shop"), autocommit=True) as owner:
        owner.execute(TRAP.encode())
        owner.execute(made.encode())
    shop.execute("GRANT shop_app TO doctord")
    try:
        told = explained(shop, statement, user)
    finally:
        shop.execute("REVOKE shop_app FROM doctord")
    assert isinstance(told, NotExplained)
    assert told.text == "run as shop_app"


def test_what_cannot_be_cancelled_is_ended(shop: PostgresServer) -> None:
    with psycopg.connect(shop.dsn("shop_app", dbname="shop"), autocommit=True) as owner:
        owner.execute(
            b"CREATE FUNCTION stuck(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN LOOP BEGIN "
            b"PERFORM pg_sleep(100); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$"
        )
        owner.execute(b"CREATE VIEW slow AS SELECT id FROM orders WHERE id < 5")
        for _ in range(30):
            owner.execute(b"SELECT id FROM slow WHERE id > 0", prepare=False)
        owner.execute(b"CREATE OR REPLACE VIEW slow AS SELECT id FROM orders WHERE id = stuck(1)")
    with closing(link_to(shop.dsn("postgres"))) as link, closing(Statements()) as asked, closing(Plans(asked)) as plans:
        link.open()
        asked.read(link)
        asked.costliest = shop.execute(
            "SELECT s.dbid, queryid FROM pg_stat_statements AS s JOIN pg_database AS d ON d.oid = s.dbid "
            "WHERE datname = 'shop' AND query LIKE 'SELECT id FROM slow%'"
        )
        assert len(asked.costliest) == 1
        assert plans.read(link) == []
        assert rows_of("event", link.notices.batches()) == []
        until = time.monotonic() + 10
        stuck = "SELECT pid FROM pg_stat_activity WHERE query LIKE '%doctord_plan(%' AND state = 'active'"
        while link.query(f"{stuck} AND pid <> pg_backend_pid()") and time.monotonic() < until:
            time.sleep(0.1)
        assert link.query(f"{stuck} AND pid <> pg_backend_pid()") == []
        assert plans.read(link) == [], "and never asked for again"


def test_of_who_may_do_anything_nothing_is_planned(shop: PostgresServer) -> None:
    shop.execute("ALTER ROLE shop_app SUPERUSER")
    told = explained(shop, "SELECT 1")
    assert isinstance(told, NotExplained)
    assert told.why == "superuser"


def test_an_error_of_somebody_is_short_and_plain(shop: PostgresServer) -> None:
    with psycopg.connect(shop.dsn("shop_app", dbname="shop"), autocommit=True) as owner:
        owner.execute(
            b"CREATE FUNCTION loud(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN "
            b"RAISE EXCEPTION USING MESSAGE = E'red \\x1b[31m' || repeat('x', 1000000); END $$"
        )
    told = explained(shop, "SELECT loud(1)")
    assert isinstance(told, NotExplained)
    assert len(told.text) <= 200
    assert told.text.startswith("red [31mxxx")


def test_what_a_database_looks_for_first_is_not_looked_for_by_us(shop: PostgresServer) -> None:
    with psycopg.connect(shop.dsn("shop_app", dbname="shop"), autocommit=True) as owner:
        owner.execute("CREATE SCHEMA evil")
        for one in HIDING:
            owner.execute(one.encode())
    shop.execute("ALTER DATABASE shop SET search_path = evil, pg_catalog")
    told = explained(shop, "SELECT 1")
    assert told[0]["Plan"]["Node Type"] == "Result"


def test_a_statement_that_a_rule_makes_none_or_another(shop: PostgresServer) -> None:
    with psycopg.connect(shop.dsn("shop_app", dbname="shop"), autocommit=True) as owner:
        owner.execute("CREATE TABLE quiet (a int)")
        owner.execute("CREATE RULE nothing AS ON INSERT TO quiet DO INSTEAD NOTHING")
    assert nodes(explained(shop, "INSERT INTO quiet SELECT 1")) == []


def test_event_triggers_are_not_made_to_look(shop: PostgresServer) -> None:
    shop.execute(
        "CREATE FUNCTION looks() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN NULL; END'",
        "CREATE EVENT TRIGGER looks ON ddl_command_end EXECUTE FUNCTION looks()",
        dbname="shop",
    )
    told = explained(shop, "SELECT 1")
    assert isinstance(told, NotExplained)
    assert told.why == "event triggers"


def test_who_may_not_read_the_tables_is_told_how(shop: PostgresServer) -> None:
    found, [event] = plans_of(shop, "SELECT * FROM orders WHERE customer = 7", user="doctord")
    assert found == {}
    assert event["text"] == "shop_app, who runs them, is no role of ours, or may make nothing here"
    assert event["hint"] == "GRANT the roles that run them TO the role that doctord connects as"
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
