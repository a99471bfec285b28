"""Conditions above what needs all rows."""

from typing import Any

import pytest

from diagnose.planned import findings, of
from doctord.report.phrases import said

CAUSE = "condition_not_pushed_down"
VIEW: list[dict[str, Any]] = [
    {"kind": "Subquery Scan", "filter": "(v.customer = $1)", "rows": 10.0, "cost": 30e3},
    {"parent": 0, "kind": "WindowAgg", "relationship": "Subquery", "rows": 200e3, "cost": 28e3},
    {"parent": 1, "kind": "Sort", "relationship": "Outer", "rows": 200e3, "cost": 24e3, "detail": "Sort Key: o.total"},
    {"parent": 2, "kind": "Seq Scan", "relation": "public.orders", "alias": "o", "rows": 200e3, "cost": 4e3},
]
CTE: list[dict[str, Any]] = [
    {"kind": "CTE Scan", "relation": "w", "filter": "(w.id = $1)", "rows": 1e3, "cost": 9e3},
    {"parent": 0, "kind": "Seq Scan", "relationship": "CTE w", "relation": "public.orders", "rows": 2e5, "cost": 5e3},
]


def test_a_condition_above_a_window_function() -> None:
    found = findings(VIEW)
    finding = of(CAUSE, found)
    assert finding is not None
    assert "makes 200,000 rows for one or none: its condition stands above a window function" in said(finding.title)
    figures = [said(item.figure) for item in finding.for_]
    assert figures[:3] == [
        "Subquery Scan, Filter: (v.customer = $1), 10 rows expected",
        "WindowAgg, 200,000 rows expected",
        "Seq Scan on public.orders, 200,000 rows expected",
    ]
    assert all(one.explained_by == CAUSE for one in found if one.cause == "few_rows_of_many_blocks")


def test_a_condition_outside_of_a_with_query() -> None:
    finding = of(CAUSE, findings(CTE))
    assert finding is not None
    assert "its condition stands above a WITH query" in said(finding.title)


@pytest.mark.parametrize(
    "changes",
    [
        {"rows_per_s": 40_000.0},  # it returns much of what it makes
        {"calls_per_s": 0.1},  # a report
        {"elapsed_s_per_s": 0.01},  # quick
        {"wait": ("Application", "transactionid")},  # it waits for others
    ],
)
def test_what_is_wanted_or_not_felt_is_silent(changes: dict[str, Any]) -> None:
    assert of(CAUSE, findings(VIEW, **changes)) is None


@pytest.mark.parametrize(
    "plan",
    [
        [VIEW[0], VIEW[1] | {"kind": "Append"}, *VIEW[2:]],  # nothing that needs all rows
        [VIEW[0] | {"filter": None}, *VIEW[1:]],
        [VIEW[0], *({**node, "rows": 50.0} for node in VIEW[1:])],
        [],
        [VIEW[0], {"parent": 0, "kind": "Result", "relationship": "Subquery", "rows": 200e3}],  # nothing below it
        # what stops at fifty rows makes no more
        [VIEW[0], {"parent": 0, "kind": "Limit", "relationship": "Subquery", "rows": 50.0},
         {"parent": 1, "kind": "Index Scan", "relationship": "Outer", "rows": 200e3}],
        # another subquery's aggregate, which runs once
        [VIEW[0], {"parent": 0, "kind": "Aggregate", "relationship": "InitPlan 1", "rows": 1.0},
         {**VIEW[3], "parent": 1, "relationship": "Outer"},
         {"parent": 0, "kind": "Append", "relationship": "Subquery", "rows": 200e3}],
    ],
)  # fmt: skip
def test_other_plans_are_silent(plan: list[dict[str, Any]]) -> None:
    assert of(CAUSE, findings(plan)) is None
