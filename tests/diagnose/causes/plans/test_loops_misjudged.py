"""Nested loops that run far more often than the planner expected."""

from typing import Any

import pytest

from diagnose.planned import findings, of
from doctord.report.phrases import said

CAUSE = "nested_loop_misjudged"
PLAN: list[dict[str, Any]] = [
    {"kind": "Nested Loop", "rows": 1.0, "cost": 20.0},
    {"parent": 0, "kind": "Seq Scan", "relationship": "Outer", "relation": "app.cars", "alias": "c", "rows": 1.0,
     "filter": "((c.make = $1) AND (c.model = $2))"},
    {"parent": 0, "kind": "Index Scan", "relationship": "Inner", "relation": "app.owners", "alias": "o", "rows": 1.0,
     "index": "owners_pkey", "condition": "(o.id = c.owner)"},
]  # fmt: skip


def read(lookups_a_call: float = 1200.0, changed: float = 0.0) -> dict[tuple[str | None, str], float]:
    return {
        ("bench.app.owners_pkey", "pg_stat_user_indexes.idx_scan"): 4.0 * lookups_a_call,
        ("bench.app.cars", "pg_stat_user_tables.n_live_tup"): 100_000.0,
        ("bench.app.cars", "pg_stat_user_tables.n_mod_since_analyze"): changed,
    }


def test_a_loop_that_runs_a_thousand_times_for_one_row_expected() -> None:
    finding = of(CAUSE, findings(PLAN, figures=read()))
    assert finding is not None
    assert "looks up app.owners 1,200 times a call, where 1 row was expected" in said(finding.title)
    assert finding.confidence == 0.75
    assert any("statistics are fresh" in said(item.why) for item in finding.against)


def test_stale_statistics_are_why() -> None:
    finding = of(CAUSE, findings(PLAN, figures=read(changed=60_000.0)))
    assert finding is not None
    assert finding.confidence == 0.85
    assert said(finding.remedy[0]).startswith("First: ANALYZE app.cars")


@pytest.mark.parametrize(
    ("plan", "lookups"),
    [
        # a loop within a loop: as many as the planner expects of both
        (
            [
                {"kind": "Nested Loop"},
                {"parent": 0, "kind": "Seq Scan", "relationship": "Outer", "rows": 1000.0},
                PLAN[0] | {"parent": 0, "relationship": "Inner"},
                PLAN[1] | {"parent": 2},
                PLAN[2] | {"parent": 2},
            ],
            1200.0,
        ),
        ([PLAN[0], PLAN[1] | {"rows": 900.0}, PLAN[2]], 1200.0),  # as many as expected
        (PLAN, 200.0),
        (PLAN, 6000.0),  # more than the blocks that the statement looks at: another one scans the index
        ([PLAN[0] | {"kind": "Hash Join"}, *PLAN[1:]], 1200.0),
        ([*PLAN[:2], PLAN[2] | {"index": None, "kind": "Seq Scan"}], 1200.0),
    ],
)
def test_what_is_none(plan: list[dict[str, Any]], lookups: float) -> None:
    assert of(CAUSE, findings(plan, figures=read(lookups))) is None
