"""Conditions that are looked at only after everything was computed: above a window function, DISTINCT, LIMIT, a CTE."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from doctord.analyse.sql.plan_trees import Node, Plan
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.plan_steps import may_read, slow_plans, step
from doctord.diagnose.common.scans import FOR_WANT_OF_AN_INDEX, SELECTIVE, per_call
from doctord.diagnose.common.slowed import severity
from doctord.diagnose.common.whole_reads import LARGE_SCAN_ROWS
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

SEES_ALL: Final = ("Sort", "Aggregate", "Hash", "SetOp")
OF_A_CTE: Final = "a WITH query that is computed by itself"
# What the planner takes for the rows that come of a condition on a value it does not know may be far from them.
WHAT_IT_IS: Final = "all these rows are made before the condition is looked at"


class Late(NamedTuple):
    """A condition that stands above what needs all rows: the node that has it, what that is, and what it is made of."""

    statement: Statement
    plan: Plan
    node: Node
    above: Words
    rows: float


@cause(explains=("missing_index", "index_not_used", "index_reads_many_entries", "sort_spill", *FOR_WANT_OF_AN_INDEX))
def condition_not_pushed_down(case: Case) -> Iterator[Claim]:
    """A statement computes all rows of a view or a subquery, and only then looks at its condition.

    Looks like: a statement that takes 5 ms and more and returns few rows, called again and again; its plan has a
        condition on a Subquery Scan or a CTE Scan, and below it a window function, DISTINCT, LIMIT, or a WITH query.
    Hurts because: a condition may not pass a window function unless it is on a column that all its windows are
        partitioned by, nor LIMIT, nor into a WITH query that is MATERIALIZED, used twice or not simply a SELECT: no
        index helps, and each call does the work for all rows.
    Speaks for it: the node that has the condition, and what is below it; rows that are made for each that is wanted.
    Speaks against it: nothing that is counted: where the condition is on the window function's own result, as the first
        row of each group, all rows may be needed.
    Remedy: Have the condition inside: PARTITION BY the column of the condition in each window; a function or a
        parameter in place of the view; the condition within the WITH query, or WITH ... AS NOT MATERIALIZED. What is
        not asked for (a rank that only one report shows) does not belong into a view that all use. Where the first rows
        of a group are wanted: DISTINCT ON, or LATERAL with LIMIT, by an index on the group and the order.
    Verify: explain shows the condition at the scan of the table (Index Cond); blocks and time of a call fall.
    Source: PostgreSQL documentation, "Window Functions", "WITH Queries (Common Table Expressions)" (MATERIALIZED);
        its source, src/backend/optimizer/path/allpaths.c (subquery_is_pushdown_safe, qual_is_pushdown_safe).
    """
    for found in [*_late(case)][:1]:
        one, rows = found.statement, found.statement.rows_per_call or 0.0
        yield Claim(
            phrase("{:share of database} in a statement that makes {:,.0f} rows for {}: its condition stands above {}",
                   one.share, found.rows, phrase("{:,.0f}", rows) if rows >= 2 else "one or none", found.above),
            impact=one.share,
            confidence=0.85,
            severity=severity(case, one.share, slowed=True),
            for_=[
                step(one, found.node, phrase("the condition stands above {}", found.above)),
                *(step(one, below, WHAT_IT_IS) for below in _made_by(found)),
                Evidence("statement", f"statement_id = '{one.statement_id}'", per_call(one),
                         phrase("{:share} of {:,.0f} rows", SELECTIVE, found.rows), shortened(one.text or "")),
            ],
            database=one.db,
        )  # fmt: skip


def _late(case: Case) -> Iterator[Late]:
    for one, plan in slow_plans(case):
        for node in plan.nodes:
            if not node.filter or node.kind not in ("Subquery Scan", "CTE Scan"):
                continue
            made = _made(plan, node)
            if made is None:
                continue
            above = OF_A_CTE if node.kind == "CTE Scan" else plan.gathers(made)
            rows = _rows(plan, made)
            if (
                above
                and rows >= LARGE_SCAN_ROWS
                and may_read(one, rows)
                and (one.rows_per_call or 0.0) <= SELECTIVE * rows
            ):
                yield Late(one, plan, node, above, rows)


def _made(plan: Plan, node: Node) -> Node | None:
    """What makes the rows that a node looks at: the node below it, or the WITH query that it reads."""
    if node.kind == "CTE Scan":
        return next((each for each in plan.nodes if each.relationship == f"CTE {node.relation}"), None)
    return plan.outer(node)


def _rows(plan: Plan, node: Node) -> float:
    """The most rows that any node makes; of LIMIT no more than that, unless what is below has to see all first."""
    below = plan.outer(node)
    if node.kind == "Limit" and below and not any(part in below.kind for part in SEES_ALL):
        return plan.rows(node)
    return max([plan.rows(node), *(_rows(plan, each) for each in plan.below(node))])


def _made_by(found: Late) -> list[Node]:
    """The nodes below the condition that need all rows, and the scan that they come from."""
    made = _made(found.plan, found.node)
    within = [*found.plan.within(made)] if made else []
    gathering = [each for each in within if "Scan" not in each.kind and "Sort" not in each.kind][:1]
    return [
        *gathering,
        *sorted((each for each in within if each.is_seq_scan), key=lambda each: -(each.rows or 0.0))[:1],
    ]
