"""What a database's catalogue adds to an error's words."""

from collections.abc import Mapping, Sequence

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.case import Case
from doctord.diagnose.common.error_context import in_the_catalogue
from doctord.report.phrases import said

NO_PARTITION = 'no partition of relation "readings" found for row'
STACK = "stack depth limit exceeded"
DENIED = "permission denied for table prices"
RING = {
    ("pg_trigger", "shop.public.lines total"): "after insert, update for each row: public.total",
    ("pg_trigger", "shop.public.baskets stamp"): "after update for each row: public.stamp",
    ("pg_proc", "shop.public.total"): "public.baskets, public.lines",
    ("pg_proc", "shop.public.stamp"): "public.lines",
}


def told(message: str, tables: Sequence[str] = (), settings: Mapping[tuple[str, str], str] | None = None) -> list[str]:
    rows = [
        {"component": component, "db": DB, "name": name, "value": value}
        for (component, name), value in (settings or {}).items()
    ]
    figures: dict[tuple[str | None, str], float] = {(table, "pg_stat_user_tables.n_live_tup"): 10.0 for table in tables}
    dataset = host(postgres=figures, extra={"setting": rows})
    return [said(one.figure) for one in in_the_catalogue(Case(dataset), DB, message)]


def children(*numbers: int) -> dict[tuple[str, str], str]:
    return {("pg_inherits", f"shop.public.readings_{one}"): "public.readings" for one in numbers}


def test_a_partition_that_was_detached() -> None:
    tables = [f"shop.public.readings_{one}" for one in (8, 9, 10, 11)]
    assert told(NO_PARTITION, tables, children(9, 10, 8)) == [
        "partitions of readings: readings_8, readings_9, readings_10",
        "called like a partition, and none: public.readings_11",
    ]


def test_the_next_partition_was_not_created() -> None:
    tables = [*(f"shop.public.readings_{one}" for one in range(20)), "shop.public.others_20"]
    (figure,) = told(NO_PARTITION, tables, children(*range(20)))
    assert figure.startswith("partitions of readings: readings_8, ")
    assert figure.endswith("readings_19")


def test_with_more_children_than_are_recorded_nobody_knows_which_are_none() -> None:
    more = {("pg_inherits", f"shop.public.others_{one}"): "public.others" for one in range(500)}
    tables = [f"shop.public.readings_{one}" for one in (8, 9)]
    assert told(NO_PARTITION, tables, children(9) | more) == ["partitions of readings: readings_9"]


def test_two_tables_of_one_name() -> None:
    tables = ["shop.app.prices", "shop.public.prices", "other.public.prices"]
    assert told(DENIED, tables) == ["database shop has 2 of that name: app.prices, public.prices"]
    assert told('column "net" of relation "prices" does not exist', tables)
    assert told(DENIED, tables[1:]) == []
    assert told("permission denied for schema prices", tables) == []
    assert told('relation "prices" already exists', tables) == []


def test_triggers_that_call_each_other() -> None:
    assert told(STACK, settings=RING) == ["triggers stamp of public.baskets and total of public.lines"]


@pytest.mark.parametrize("changed", [{("pg_proc", "shop.public.stamp"): "public.stock"}, {}])
def test_no_ring(changed: Mapping[tuple[str, str], str]) -> None:
    assert told(STACK, settings=RING | changed if changed else {}) == []
    assert told("division by zero", settings=RING) == []
