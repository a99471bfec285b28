"""OR over columns of two tables, or of a column and a subquery."""

from typing import Any

import pytest

from diagnose.planned import findings, of
from doctord.report.phrases import said

CAUSE = "or_over_two_tables"
SCAN = {"kind": "Seq Scan", "relation": "public.orders", "alias": "o", "rows": 200e3, "cost": 4e3}
JOIN: list[dict[str, Any]] = [
    {"kind": "Hash Join", "condition": "(o.customer = c.id)", "filter": "((o.id = $1) OR (c.name = $2))", "rows": 3.0},
    {"parent": 0, "relationship": "Outer", **SCAN},
    {"parent": 0, "kind": "Hash", "relationship": "Inner", "rows": 20e3},
    {"parent": 2, "kind": "Seq Scan", "relation": "public.customers", "alias": "c", "rows": 20e3},
]


def test_an_or_over_two_tables() -> None:
    finding = of(CAUSE, findings(JOIN))
    assert finding is not None
    assert "looks at 3,000 blocks for an OR over columns of c and o" in said(finding.title)
    assert "UNION" in said(finding.remedy[0])


def test_an_or_that_is_little_of_the_plan_is_silent() -> None:
    little = [{"kind": "Nested Loop", "rows": 3.0, "cost": 90e3}, {"parent": 0, **JOIN[0], "cost": 10.0},
              {**JOIN[1], "parent": 1}]  # fmt: skip
    assert of(CAUSE, findings(little)) is None
    found = [{"kind": "Index Scan", "filter": "((o.id = $1) OR (hashed SubPlan 1))", "rows": 1.0, "alias": "o"}]
    assert of(CAUSE, findings(found)) is None


def test_an_or_with_a_subquery() -> None:
    finding = of(CAUSE, findings([SCAN | {"filter": "((o.id = $1) OR (hashed SubPlan 1))"}]))
    assert finding is not None
    assert "an OR over a column and a subquery" in said(finding.title)
    assert len(finding.for_) == 2


@pytest.mark.parametrize(
    ("filtered", "changes"),
    [
        ("((o.id = $1) OR (o.name = $2))", {}),  # one table: two of its indexes may be combined
        ("((o.id = $1) AND (c.name = $2))", {}),
        (None, {}),
        ("(($1 IS NULL) OR (o.id = $2))", {}),  # known before a row is looked at
        ("((o.state = 'a'::lib.state) OR (o.state IS NULL))", {}),  # the schema of a type is no table
        ("((o.id = $1) OR (c.name = $2))", {"hit_blocks_per_s": 400.0}),  # it looks at little
        ("((o.id = $1) OR (c.name = $2))", {"rows_per_s": 4000.0}),  # or much comes of it
    ],
)
def test_what_is_none(filtered: str | None, changes: dict[str, Any]) -> None:
    assert of(CAUSE, findings([JOIN[0] | {"filter": filtered}, *JOIN[1:]], **changes)) is None
