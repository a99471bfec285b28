"""Plans as trees, of the rows of `plan`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.sql.plan_trees import alternatives, looked_up, plan_of, qualifiers
from doctord.dataset.dataset import Dataset

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
NODES: list[dict[str, Any]] = [
    {"step": 0, "kind": "Subquery Scan", "filter": "(v.a = $1)", "cost": 100.0, "rows": 5.0},
    {"step": 1, "parent": 0, "relationship": "Subquery", "kind": "WindowAgg", "cost": 95.0, "rows": 9000.0},
    {"step": 2, "parent": 1, "relationship": "Outer", "kind": "Gather Merge", "cost": 60.0,
     "detail": "Workers Planned: 2"},
    {"step": 3, "parent": 2, "relationship": "Outer", "kind": "Sort", "cost": 50.0},
    {"step": 4, "parent": 3, "relationship": "Outer", "kind": "Parallel Seq Scan", "relation": "app.t", "alias": "x",
     "cost": 10.0, "rows": 1000.0, "filter": "((x.b = $2) AND (x.c > ?))"},
]  # fmt: skip


def dataset(*rows: dict[str, Any]) -> Dataset:
    common = {"ts": NOW, "host": "h", "db": "postgresql:5432", "database": "shop", "statement_id": "7"}
    return Dataset.from_rows(plan=[common | row for row in rows])


def test_a_plan_knows_what_is_above_and_below() -> None:
    plan = plan_of(dataset(*NODES), "postgresql:5432", "7")
    assert plan is not None
    top, window, *_, scan = plan.nodes
    assert [node.step for node in plan.above(scan)] == [3, 2, 1, 0]
    assert [node.step for node in plan.within(window)] == [1, 2, 3, 4]
    assert plan.gathers(window) == "a window function"
    assert plan.gathers(scan) is None
    assert plan.reading("app.t") == [scan]
    assert plan.dearest().step == 3
    assert plan.own_cost(top) == pytest.approx(5.0)


def test_rows_below_gather_are_of_one_process() -> None:
    plan = plan_of(dataset(*NODES), "postgresql:5432", "7")
    assert plan is not None
    assert plan.rows(plan.nodes[4]) == pytest.approx(2400.0)
    assert plan.rows(plan.nodes[1]) == 9000.0


def test_the_last_plan_counts_and_a_part_of_one_does_not() -> None:
    later = {"ts": NOW + timedelta(hours=1), "step": 0, "kind": "Index Scan"}
    plan = plan_of(dataset(*NODES, later), "postgresql:5432", "7")
    assert plan is not None
    assert [node.kind for node in plan.nodes] == ["Index Scan"]
    assert plan_of(dataset(*NODES[1:]), "postgresql:5432", "7") is None
    assert plan_of(dataset(), "postgresql:5432", "7") is None


def test_what_a_node_compares() -> None:
    plan = plan_of(dataset(*NODES), "postgresql:5432", "7")
    assert plan is not None
    on = looked_up(plan.nodes[4])
    assert on is not None
    assert (on.equal, on.ranges) == ({"b"}, {"c"})
    assert looked_up(plan.nodes[0]) is None


@pytest.mark.parametrize(
    ("condition", "sides", "tables"),
    [
        ("((o.id = $1) OR (c.name = $2))", ["(o.id = $1)", "(c.name = $2)"], {"o", "c"}),
        ("(o.id = $1)", [], {"o"}),
        ("((\"My t\".a = $1) AND (NOT (hashed SubPlan 1)))", [], {"My t"}),
        ("((o.a)::text ~~ ?)", [], {"o"}),
        ("(((o.a = $1) OR (o.b = $2) OR (o.c = $3)) AND ((o.d = $4) OR (o.e = $5)))",
         ["(o.a = $1)", "(o.b = $2)", "(o.c = $3)"], {"o"}),
        ("(unbalanced OR", [], set()),
    ],
)  # fmt: skip
def test_alternatives_and_whose_columns_they_name(condition: str, sides: list[str], tables: set[str]) -> None:
    assert alternatives(condition) == sides
    assert qualifiers(condition) == tables
