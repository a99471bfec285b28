"""Policies of row-level security that keep an index out of use."""

from typing import Any

import pytest

from diagnose.causes.tables.test_indexes import BUSY, LOOKED, LOOKUP, PRIMARY_KEY, index
from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

BY_TITLE = LOOKUP | {"text": "SELECT id FROM orders WHERE lower(title) = $1", "rows_per_s": 20.0}
EXPRESSION = index("(expression lower: title)", name="orders_title")
POLICY = {"component": "pg_policy", "db": DB, "name": "bench.public.orders by_team",
          "value": "for all, calls public.may_see"}  # fmt: skip
SESSION = {"statement_id": "7", "user": "portal", "samples": 5}


def found(statement: dict[str, Any] = BY_TITLE, *settings: dict[str, str], **more: Any) -> dict[str, Finding]:
    rows = {"setting": [PRIMARY_KEY, *settings]}
    findings = diagnose(host(time=BUSY, statements=[statement], postgres=LOOKED, extra=rows, **more)).findings
    return {finding.cause: finding for finding in findings}


def test_an_index_of_an_expression_below_a_policy() -> None:
    told = found(BY_TITLE, EXPRESSION, POLICY, sessions=[SESSION])
    finding = next(iter(told.values()))
    assert (finding.cause, finding.severity, finding.confidence) == ("row_security_checked_first", "critical", 0.85)
    assert said(finding.title).endswith(
        "reads all of table public.orders: its row-level security is checked before index orders_title may be used"
    )
    assert "policy by_team, for all, calls public.may_see" in [said(item.figure) for item in finding.for_]
    assert "EXPLAIN (ANALYZE, BUFFERS) as portal (SET ROLE)" in said(finding.remedy[0])
    assert told["index_not_used"].explained_by == "row_security_checked_first"
    assert "missing_index" not in told


@pytest.mark.parametrize(
    ("statement", "settings"),
    [
        (BY_TITLE, [EXPRESSION]),
        (BY_TITLE, [POLICY]),
        (LOOKUP, [index("customer"), POLICY]),
        (BY_TITLE, [EXPRESSION, POLICY | {"name": "bench.public.orders_old by_team"}]),
        (BY_TITLE, [EXPRESSION, POLICY | {"db": "postgresql:5433"}]),
    ],
    ids=["no policy", "no index would serve", "a plain comparison is leakproof", "another table's", "another server's"],
)
def test_it_is_another_reason(statement: dict[str, Any], settings: list[dict[str, str]]) -> None:
    assert "row_security_checked_first" not in found(statement, *settings)


def test_a_statement_that_wants_much_speaks_against_it() -> None:
    finding = found(BY_TITLE | {"rows_per_s": 2e6}, EXPRESSION, POLICY)["row_security_checked_first"]
    assert finding.confidence == 0.6
    assert [item.why for item in finding.against] == ["it wants much of what it reads"]


def test_a_text_that_nobody_can_read_is_less_sure() -> None:
    statement = BY_TITLE | {"text": "SELECT FROM WHERE orders where ("}
    finding = found(statement, EXPRESSION, POLICY)["row_security_checked_first"]
    assert finding.confidence == 0.6
