"""What the plan of a statement says, as evidence: plans are of no values in particular, and prove nothing alone."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.sql.plan_trees import Node, Plan, plan_of
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.common.slowed import is_slowed, works
from doctord.diagnose.finding import Evidence, NotMeasured
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened

# Less than half of the plan's cost, and what the node does need not be what takes the time.
MOST_OF_THE_COST: Final = 0.5
# A page of 8 kB has room for so many rows and no more (PostgreSQL, src/include/access/htup_details.h,
# MaxHeapTuplesPerPage).
ROWS_A_BLOCK: Final = 291
_GENERIC: Final = "its plan for no values in particular"


def plan(case: Case, one: Statement) -> Plan | None:
    """The plan of a statement; null where it was not read."""
    return plan_of(case.dataset, one.db, one.statement_id)


def slow_plans(case: Case) -> Iterator[tuple[Statement, Plan]]:
    """Statements that their callers wait for, which work all that time, and their plans, where these were read."""
    for one in case.statements:
        if one.db.startswith("postgresql") and is_slowed(one, 1.0) and (known := plan(case, one)) and works(case, one):
            yield one, known


def may_read(one: Statement, rows: float) -> bool:
    """Whether a call looks at enough blocks to read so many rows: else the planner expects more than there are."""
    return one.blocks_per_call is None or one.blocks_per_call * ROWS_A_BLOCK >= rows


def step(one: Statement, node: Node, why: Words = _GENERIC) -> Evidence:
    """A node of a statement's plan as evidence."""
    parts: tuple[Words, ...] = (
        node.condition or "",
        phrase("Filter: {}", shortened(node.filter)) if node.filter else "",
        phrase("{}", node.detail) if node.detail else "",
        "" if node.rows is None else phrase("{:,.0f} rows expected", node.rows),
    )
    where = f"statement_id = '{one.statement_id}' and step = {node.step}"
    return Evidence("plan", where, listed(named(node), *parts), "", why)


def named(node: Node) -> Words:
    """What a node does, and to what, as EXPLAIN writes it."""
    of = phrase("{} on {}", node.kind, node.relation) if node.relation else node.kind
    return phrase("{} using {}", of, node.index) if node.index else of


def dearest(case: Case, one: Statement) -> list[Evidence]:
    """The node of its plan that costs most by itself, where that is most of the cost; empty where none was read."""
    known = plan(case, one)
    if known is None or known.stops_early:
        return []
    node = known.dearest()
    part = known.own_cost(node) / (known.nodes[0].cost or 1.0)
    if part < MOST_OF_THE_COST:
        return []
    return [step(one, node, phrase("{:share} of the cost of its plan for no values in particular", min(part, 1.0)))]


def reading_whole(case: Case, one: Statement, table: str) -> list[Evidence]:
    """That the plan of a statement reads a table (`schema.name`) whole, where it was read."""
    known = plan(case, one)
    return [step(one, node) for node in known.reading(table)[:1]] if known else []


def unseen(case: Case, one: Statement, otherwise: NotMeasured) -> list[NotMeasured]:
    """What is not known where no plan was read; empty where one was."""
    return [] if plan(case, one) else [otherwise]
