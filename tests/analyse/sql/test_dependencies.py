"""By which ways statements read tables that they do not name."""

from datetime import UTC, datetime

import pytest

from doctord.analyse.sql.dependencies import Dependencies, ForeignKey, Trigger, writes
from doctord.dataset.dataset import Dataset

DB = "postgresql:5432"
TOLD = {
    ("pg_constraint", "orders orders_fkey"): "(customer, region) references public.customers",
    ("pg_trigger", "orders add_up"): "after insert, update for each row: public.add_up",
    ("pg_proc", "add_up"): "public.total_of, public.totals",
    ("pg_proc", "total_of"): "public.orders",
    ("pg_rewrite", "open_orders"): "public.all_orders",
    ("pg_rewrite", "all_orders"): "public.orders",
    ("pg_inherits", "orders_2019"): "public.orders",
}


def dependencies(changes: dict[tuple[str, str], str | None] | None = None) -> Dependencies:
    rows = [
        {"ts": datetime(2026, 11, 23, hour, tzinfo=UTC), "component": component, "db": DB,
         "name": f"shop.public.{name}", "value": value}
        for hour, told in ((1, TOLD), (2, changes or {}))
        for (component, name), value in told.items()
    ]  # fmt: skip
    return Dependencies(Dataset.from_rows(setting=rows), DB, "shop")


def test_keys_and_triggers() -> None:
    depends = dependencies()
    assert [*depends.foreign_keys("public.orders")] == [
        ForeignKey("orders_fkey", ("customer", "region"), "public.customers")
    ]
    assert [*depends.foreign_keys("public.customers")] == []
    assert [*depends.triggers("INSERT INTO public.orders VALUES ($1)")] == [
        Trigger("add_up", "public.orders", "after", ("insert", "update"), "row", "public.add_up")
    ]
    assert [*depends.triggers("DELETE FROM orders")] == []
    assert [*depends.triggers("SELECT * FROM orders")] == []


def test_what_is_gone_is_told_no_more() -> None:
    assert [*dependencies({("pg_constraint", "orders orders_fkey"): None}).foreign_keys("public.orders")] == []


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("SELECT * FROM open_orders", "view public.open_orders"),
        ("SELECT total_of($1)", "function public.total_of"),
        ("SELECT * FROM customers", None),
    ],
)
def test_views_and_functions_lead_on_to_tables(text: str, way: str | None) -> None:
    assert dependencies().way(text, "public.orders") == way


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("SELECT amount FROM orders WHERE id = $1", "parent public.orders"),
        ("SELECT * FROM open_orders", "view public.open_orders"),
        ("SELECT * FROM customers", None),
    ],
)
def test_who_reads_a_parent_reads_its_children(text: str, way: str | None) -> None:
    assert dependencies().way(text, "public.orders_2019") == way


def test_a_circle_of_functions_ends() -> None:
    circle = dependencies({("pg_proc", "total_of"): "public.add_up, public.orders"})
    assert circle.reads("public.add_up") == {
        "public.add_up", "public.total_of", "public.totals", "public.orders", "public.orders_2019"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "table", "events"),
    [
        ('INSERT INTO "orders" VALUES ($1)', "orders", ("insert",)),
        ("update only s.orders set a = $1", "orders", ("update",)),
        ("merge into orders using b on a = b", "orders", ("insert", "update", "delete")),
        ("COPY orders FROM STDIN", "orders", ("insert",)),
        ("truncate table orders", "orders", ("truncate",)),
    ],
)
def test_what_a_statement_writes(text: str, table: str, events: tuple[str, ...]) -> None:
    assert [(write.table, write.events) for write in writes(text)] == [(table, events)]
