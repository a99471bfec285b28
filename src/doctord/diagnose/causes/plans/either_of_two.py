"""An OR over columns of several tables, or of a column and a subquery: no index serves it."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.sql.plan_trees import Node, Plan, alternatives, qualifiers
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.statements.work_per_row import BLOCKS_PER_CALL, BLOCKS_PER_ROW
from doctord.diagnose.common.plan_steps import MOST_OF_THE_COST, slow_plans, step
from doctord.diagnose.common.scans import FOR_WANT_OF_AN_INDEX, per_call
from doctord.diagnose.common.slowed import severity
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened

SUBQUERY: Final = "SubPlan"


@cause(explains=("missing_index", "index_not_used", "index_reads_many_entries", *FOR_WANT_OF_AN_INDEX))
def or_over_two_tables(case: Case) -> Iterator[Claim]:
    """A statement has an OR over columns of several tables, or of a column and a subquery, and reads all for few rows.

    Looks like: a statement that takes 5 ms and more and returns few rows, called again and again; its plan has a join
        with a Filter of alternatives on columns of different tables, or a scan with one on a subquery; below it tables
        are read whole.
    Hurts because: either side alone could use an index; together they can only be looked at once the rows are joined,
        or for each row of the table: all rows are.
    Speaks for it: the node of the plan with its alternatives; blocks looked at for the rows that are returned.
    Speaks against it: nothing that is counted.
    Remedy: Two statements, each with one side of the OR, and UNION between them (UNION ALL where no row can come of
        both): each uses its own index. Of IN or EXISTS under OR: likewise.
    Verify: explain shows an index scan on both sides; blocks and time of a call fall.
    Source: PostgreSQL documentation, "Combining Multiple Indexes" (of one table alone), "Combining Queries"; M. Winand,
        SQL Performance Explained, 2012.
    """
    for one, plan in slow_plans(case):
        node = next((node for node in plan.nodes if _sides(plan, node) and _is_most(plan, node)), None)
        blocks = one.blocks_per_call or 0.0
        if node is None or blocks < max(BLOCKS_PER_CALL, BLOCKS_PER_ROW * (one.rows_per_call or 0.0)):
            continue
        yield Claim(
            phrase("{:share of database} in a statement that looks at {:,.0f} blocks for an OR over {}", one.share,
                   blocks, _over(plan, node)),
            impact=one.share,
            confidence=0.85,
            severity=severity(case, one.share, slowed=True),
            for_=[
                step(one, node, "no index serves alternatives on several tables"),
                *(step(one, scan) for scan in _scans(plan, node)[:2] if scan is not node),
                Evidence("statement", f"statement_id = '{one.statement_id}'", per_call(one),
                         phrase("{:,.0f} blocks", BLOCKS_PER_CALL), shortened(one.text or "")),
            ],
            database=one.db,
        )  # fmt: skip
        return


def _sides(plan: Plan, node: Node) -> list[frozenset[str]]:
    """The tables of each alternative of a condition that no one index serves; empty where one may.

    A side without a table ($1 IS NULL) is no alternative: whether it holds is known before a row is looked at.
    """
    aliases = {one.alias for one in plan.nodes if one.alias}
    sides = alternatives(node.filter or "")
    tables = [qualifiers(side) & aliases for side in sides]
    is_join = "Join" in node.kind or node.kind.startswith("Nested Loop")
    if is_join and all(tables) and len(frozenset().union(*tables)) > 1 and len({*tables}) > 1:
        return tables
    return tables if node.is_seq_scan and any(SUBQUERY in side for side in sides) else []


def _is_most(plan: Plan, node: Node) -> bool:
    """Whether tables are read whole at or below a node, and that is most of what the plan costs."""
    return bool(_scans(plan, node)) and (node.cost or 0.0) >= MOST_OF_THE_COST * (plan.nodes[0].cost or 0.0)


def _over(plan: Plan, node: Node) -> Words:
    if SUBQUERY in (node.filter or ""):
        return "a column and a subquery"
    names = sorted(frozenset().union(*_sides(plan, node)))
    return phrase("columns of {}", listed(*names, by=" and "))


def _scans(plan: Plan, node: Node) -> list[Node]:
    return sorted((each for each in plan.within(node) if each.is_seq_scan), key=lambda each: -(each.rows or 0.0))
