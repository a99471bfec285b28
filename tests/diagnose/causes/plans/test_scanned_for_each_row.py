"""Tables that are read whole for each row of another."""

from typing import Any

import pytest

from diagnose.hosts import DB
from diagnose.planned import findings, of
from doctord.report.phrases import said

CAUSE = "table_scanned_for_each_row"
ITEMS = {"kind": "Seq Scan", "relation": "app.items", "alias": "i", "filter": "(i.order_id = o.id)", "rows": 2.0,
         "cost": 5e3}  # fmt: skip
OUTER = {"kind": "Seq Scan", "relation": "app.few", "alias": "o", "rows": 60.0, "cost": 300e3}
SUBPLAN: list[dict[str, Any]] = [
    OUTER,
    {"parent": 0, "kind": "Aggregate", "relationship": "SubPlan 1", "rows": 1.0, "cost": 5e3},
    {"parent": 1, "relationship": "Outer", **ITEMS},
]
NESTED: list[dict[str, Any]] = [
    {"kind": "Nested Loop Left Join", "filter": "(i.order_id = o.id)", "rows": 60.0, "cost": 300e3},
    {"parent": 0, "relationship": "Outer", **OUTER},
    {"parent": 0, "relationship": "Inner", **ITEMS, "filter": None},
]


def test_another_database_or_statement_may_scan_a_table_of_that_name() -> None:
    elsewhere = {
        (f"other.{entity.partition('.')[2]}", name): value for (entity, name), value in read().items() if entity
    }
    assert of(CAUSE, findings(SUBPLAN, figures=elsewhere)) is None
    blocks: dict[tuple[str | None, str], float] = {("bench.app.items", "pg_statio_user_tables.heap_blks_hit"): 90_000.0}
    assert of(CAUSE, findings(SUBPLAN, figures=read() | blocks)) is None


def read(scans_per_s: float = 240.0) -> dict[tuple[str | None, str], float]:
    """Sixty scans of a thousand rows for each call, unless told otherwise."""
    return {
        ("bench.app.items", "pg_stat_user_tables.seq_scan"): scans_per_s,
        ("bench.app.items", "pg_stat_user_tables.seq_tup_read"): 1000.0 * scans_per_s,
    }


@pytest.mark.parametrize("plan", [SUBPLAN, NESTED])
def test_a_table_that_is_scanned_for_each_row(plan: list[dict[str, Any]]) -> None:
    finding = of(CAUSE, findings(plan, figures=read()))
    assert finding is not None
    assert "scans app.items 60 times a call" in said(finding.title)
    assert said(finding.remedy[0]).startswith("First: CREATE INDEX CONCURRENTLY ON app.items (order_id)")


def test_an_index_that_is_there_is_named() -> None:
    index = {"component": "pg_index", "db": DB, "name": "bench.app.items by_order", "value": "btree (order_id)"}
    finding = of(CAUSE, findings(SUBPLAN, figures=read(), extra={"setting": [index]}))
    assert finding is not None
    assert "ANALYZE app.items" in said(finding.remedy[0])
    assert "by_order is there" in said(finding.remedy[0])


@pytest.mark.parametrize(
    ("plan", "scans_per_s"),
    [
        (SUBPLAN, 12.0),  # three scans a call
        ([OUTER | {"filter": "(NOT (hashed SubPlan 1))"}, *SUBPLAN[1:]], 240.0),  # another statement scans it
        ([NESTED[0] | {"kind": "Hash Join"}, *NESTED[1:]], 240.0),
        ([*NESTED[:2], {"parent": 0, "kind": "Materialize", "relationship": "Inner"}, {"parent": 2, **ITEMS}], 240.0),
        ([OUTER | {"kind": "Index Scan"}], 240.0),
        # what is run once within a subplan
        (
            [
                OUTER,
                {"parent": 0, "kind": "Result", "relationship": "SubPlan 1"},
                {"parent": 1, "kind": "Aggregate", "relationship": "InitPlan 2"},
                {"parent": 2, **ITEMS},
            ],
            240.0,
        ),
    ],
)
def test_what_is_none(plan: list[dict[str, Any]], scans_per_s: float) -> None:
    assert of(CAUSE, findings(plan, figures=read(scans_per_s))) is None
