"""Indexes of which far fewer rows come than the planner expects."""

from typing import Any

import pytest

from diagnose.hosts import DB
from diagnose.planned import findings, of
from doctord.report.phrases import said

CAUSE = "rows_overestimated"
PLAN: list[dict[str, Any]] = [
    {"kind": "Hash Join", "rows": 50e3, "cost": 9e3},
    {"parent": 0, "kind": "Seq Scan", "relationship": "Outer", "relation": "app.tracks", "rows": 150e3, "cost": 4e3},
    {"parent": 0, "kind": "Hash", "relationship": "Inner"},
    {"parent": 2, "kind": "Bitmap Heap Scan", "relationship": "Outer", "relation": "app.parcels", "rows": 33e3},
    {"parent": 3, "kind": "Bitmap Index Scan", "relationship": "Outer", "index": "by_shipment", "rows": 33e3,
     "condition": "(p.shipment = $1)"},
]  # fmt: skip
BY_HAND = {
    "component": "pg_attribute.attoptions", "db": DB, "name": "bench.app.parcels shipment", "value": "n_distinct=3",
}  # fmt: skip


def read(entries: float = 2.0, scans_a_call: float = 1.0) -> dict[tuple[str | None, str], float]:
    return {
        ("bench.app.by_shipment", "pg_stat_user_indexes.idx_scan"): 4.0 * scans_a_call,
        ("bench.app.by_shipment", "pg_stat_user_indexes.idx_tup_read"): 4.0 * scans_a_call * entries,
    }


def test_far_fewer_rows_come_than_are_expected() -> None:
    finding = of(CAUSE, findings(PLAN, figures=read()))
    assert finding is not None
    assert finding.confidence == 0.8
    assert "reads all of app.tracks, for the planner expects 33,000 rows of index by_shipment and 2 come" in said(
        finding.title
    )


def test_a_number_of_values_that_was_set_by_hand_is_why() -> None:
    finding = of(CAUSE, findings(PLAN, figures=read(), extra={"setting": [BY_HAND]}))
    assert finding is not None
    assert finding.confidence == 0.9
    assert said(finding.remedy[0]) == (
        "First: ALTER TABLE app.parcels ALTER COLUMN shipment RESET (n_distinct), and ANALYZE it."
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "bench.app.parcels carrier"},
        {"name": "bench.app.tracks shipment"},
        {"value": "n_distinct_inherited=3"},
    ],
)
def test_another_columns_number_is_not_why(changes: dict[str, str]) -> None:
    finding = of(CAUSE, findings(PLAN, figures=read(), extra={"setting": [BY_HAND | changes]}))
    assert finding is not None
    assert finding.confidence == 0.8


def test_of_two_bitmaps_the_table_is_named_further_above() -> None:
    both = [*PLAN[:4], {"parent": 3, "kind": "BitmapAnd", "relationship": "Outer"}, PLAN[4] | {"parent": 4}]
    assert of(CAUSE, findings(both, figures=read())) is not None


@pytest.mark.parametrize(
    ("plan", "figures"),
    [
        (PLAN, read(entries=5000.0)),  # as many, give or take
        (PLAN, read(scans_a_call=20.0)),  # others scan it too
        (PLAN, {}),
        # what stops at ten rows reads ten entries, however many there are
        (
            [
                {"kind": "Limit", "cost": 10.0},
                *(
                    {**node, "parent": node.get("parent", -1) + 1, "relationship": node.get("relationship", "Outer")}
                    for node in PLAN
                ),
            ],
            read(),
        ),
        ([PLAN[0], PLAN[1] | {"cost": 100.0}, *PLAN[2:]], read()),  # the scan of the table is not what costs
        ([PLAN[0], PLAN[1] | {"kind": "Index Scan"}, *PLAN[2:]], read()),
    ],
)
def test_what_is_none(plan: list[dict[str, Any]], figures: dict[tuple[str | None, str], float]) -> None:
    assert of(CAUSE, findings(plan, figures=figures)) is None
