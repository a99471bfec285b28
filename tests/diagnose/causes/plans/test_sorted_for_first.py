"""Sorts of everything for the first few rows."""

from typing import Any

import pytest

from diagnose.planned import findings, of
from doctord.report.phrases import said

CAUSE = "sort_for_first_rows"
PLAN: list[dict[str, Any]] = [
    {"kind": "Limit", "rows": 20.0, "cost": 9e3},
    {"parent": 0, "kind": "Sort", "rows": 200e3, "cost": 9e3, "detail": "Sort Key: o.at DESC, o.id"},
    {"parent": 1, "kind": "Seq Scan", "relation": "app.orders", "alias": "o", "rows": 200e3, "cost": 4e3},
]


def test_a_sort_of_all_rows_for_the_first() -> None:
    finding = of(CAUSE, findings(PLAN))
    assert finding is not None
    assert "sorts 200,000 rows for the first one, by o.at DESC, o.id" in said(finding.title)
    assert said(finding.remedy[0]).startswith("First: CREATE INDEX CONCURRENTLY ON app.orders (at DESC, id)")


def test_the_columns_of_a_condition_come_first() -> None:
    finding = of(CAUSE, findings([*PLAN[:2], PLAN[2] | {"filter": "(o.state = $1)"}]))
    assert finding is not None
    assert "(..., at DESC, id): the columns of its condition" in said(finding.remedy[0])


def test_rows_at_random() -> None:
    finding = of(CAUSE, findings([PLAN[0], PLAN[1] | {"detail": "Sort Key: (random())"}, PLAN[2]]))
    assert finding is not None
    assert "for the first one at random" in said(finding.title)
    assert "TABLESAMPLE" in said(finding.remedy[0])


@pytest.mark.parametrize(
    "plan",
    [
        [*PLAN[1:2], PLAN[2] | {"parent": 0}],  # no LIMIT
        [*PLAN[:2], {**PLAN[2], "kind": "HashAggregate"}],  # the first of all groups: all are needed
        [*PLAN[:2], PLAN[2] | {"rows": 100.0}],
        # a sort for a merge join, below an aggregate of which one row comes anyway
        [
            PLAN[0],
            {"parent": 0, "kind": "Aggregate"},
            {"parent": 1, "kind": "Merge Join"},
            PLAN[1] | {"parent": 2},
            PLAN[2] | {"parent": 3},
        ],
        [PLAN[0], PLAN[1] | {"kind": "Incremental Sort"}, PLAN[2]],
    ],
)
def test_what_is_none(plan: list[dict[str, Any]]) -> None:
    plan = [node | ({"parent": None} if number == 0 else {}) for number, node in enumerate(plan)]
    assert of(CAUSE, findings(plan)) is None


def test_who_looks_at_too_few_blocks_reads_fewer_rows_than_expected() -> None:
    assert of(CAUSE, findings(PLAN, hit_blocks_per_s=4 * 600.0)) is None


def test_who_returns_much_sorts_for_good() -> None:
    assert of(CAUSE, findings(PLAN, rows_per_s=40_000.0)) is None
