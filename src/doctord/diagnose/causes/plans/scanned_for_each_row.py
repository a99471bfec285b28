"""Tables that are read whole for each row of another: subqueries and joins without an index."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from doctord.analyse.sql.indexes import indexes, served
from doctord.analyse.sql.plan_trees import Node, Plan, looked_up
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.plan_steps import slow_plans, step
from doctord.diagnose.common.scans import FOR_WANT_OF_AN_INDEX, per_call
from doctord.diagnose.common.slowed import severity
from doctord.diagnose.common.whole_reads import BLOCKS, LARGE_SCAN_ROWS, MOST, SCANS
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

READ: Final = "pg_stat_user_tables.seq_tup_read"
# A plan reads a table twice, or three times, for good reasons.
MANY_SCANS: Final = 10.0
# What keeps the rows of a scan, so that who asks again does not scan again.
KEEPS: Final = ("Materialize", "Memoize", "Hash", "Sort", "CTE Scan")


class Repeated(NamedTuple):
    """A scan that a statement makes again and again: the table with its database, scans and rows of each call."""

    statement: Statement
    plan: Plan
    node: Node
    entity: str
    scans: float
    rows: float

    @property
    def table(self) -> str:
        """The table with its schema."""
        return self.entity.partition(".")[2]


@cause(explains=("missing_index", "index_not_used", "index_reads_many_entries", *FOR_WANT_OF_AN_INDEX))
def table_scanned_for_each_row(case: Case) -> Iterator[Claim]:
    """A statement reads a whole table again for each row of another: in a subquery, or in a join.

    Looks like: a statement that takes 5 ms and more, called again and again; its plan has a Seq Scan in a subquery that
        is run for each row (SubPlan), or on the inner side of a Nested Loop; the table is scanned ten times and more
        for each call.
    Hurts because: a hundred rows of the one by ten thousand of the other are a million comparisons; both tables grow,
        and the time with the product of them.
    Speaks for it: scans of the table for each call, and the rows that they read; the node of the plan; that no index of
        the table begins with a column that it compares.
    Speaks against it: that it looks at less than half of the blocks that are read of the table: then another statement
        scans it, and nothing is said.
    Remedy: An index on the column by which the subquery or the join looks up the table. Where there is one, ANALYZE
        both tables: the planner expected fewer rows. A subquery in the list of columns or under OR is better written as
        a join, NOT IN as NOT EXISTS.
    Verify: explain shows an index scan there, or a hash join; seq_scan of the table stands still; the time of a call
        falls.
    Source: PostgreSQL documentation, "Using EXPLAIN", "Planner/Optimizer" (joins), pg_stat_all_tables.
    """
    for found in [*_repeated(case)][:1]:
        one, node = found.statement, found.node
        columns, index = _looked_up_by(case, found)
        yield Claim(
            phrase("{:share of database} in a statement that scans {} {:,.0f} times a call: {}", one.share,
                   found.table, found.scans, shortened(one.text or "")),
            impact=one.share,
            confidence=0.9,
            severity=severity(case, one.share, slowed=True),
            for_=[
                Evidence("statistic", f"name = '{SCANS}' and entity = '{found.entity}'",
                         phrase("{:,.0f} scans of {} a call", found.scans, found.table),
                         phrase("{:,.0f}", MANY_SCANS), phrase("{:,.0f} rows are read a call", found.rows),
                         "at_least"),
                Evidence("statement", f"statement_id = '{one.statement_id}'", per_call(one), "",
                         shortened(one.text or "")),
                step(one, node, _for_whom(found)),
            ],
            first_steps=[_first(found, columns, index)],
            database=one.db,
        )  # fmt: skip


def _repeated(case: Case) -> Iterator[Repeated]:
    scans, read = ({(one.db, one.entity or ""): one.mean for one in case.figures(name)} for name in (SCANS, READ))
    blocks = [{(one.db, one.entity or ""): one.mean for one in case.figures(name)} for name in BLOCKS]
    for one, plan in slow_plans(case):
        for node in plan.nodes:
            if not node.is_seq_scan or _repeats(plan, node) is None or not one.calls_per_s:
                continue
            entity = f"{plan.database}.{node.relation}"
            key = (one.db, entity)
            # Who looks at far less than is read of the table is not who scans it.
            if one.gets_per_s is not None and one.gets_per_s < MOST * sum(of.get(key, 0.0) for of in blocks):
                continue
            each, rows = scans.get(key, 0.0) / one.calls_per_s, read.get(key, 0.0) / one.calls_per_s
            if each >= MANY_SCANS and rows >= LARGE_SCAN_ROWS:
                yield Repeated(one, plan, node, entity, each, rows)


def _repeats(plan: Plan, node: Node) -> Node | None:
    """The node that has a scan made again and again; null where the rows of one scan are kept."""
    for one in (node, *plan.above(node)):
        above = plan.nodes[one.parent] if one.parent is not None else None
        if one.kind.startswith(KEEPS):
            return None
        if (one.relationship or "").startswith("SubPlan"):
            hashed = re.compile(rf"hashed {one.relationship}\b")
            return None if any(hashed.search(each.filter or "") for each in plan.nodes) else one
        if (one.relationship or "").startswith(("InitPlan", "CTE")):
            return None
        if above and one.relationship == "Inner" and above.kind.startswith("Nested Loop"):
            return above
    return None


def _for_whom(found: Repeated) -> Words:
    by = _repeats(found.plan, found.node)
    if by and by.kind.startswith("Nested Loop"):
        return "the inner side of a Nested Loop: once for each row of the outer side"
    return phrase("{}: once for each row that asks for it", by.relationship if by else "")


def _looked_up_by(case: Case, found: Repeated) -> tuple[list[str], str | None]:
    """The columns of the table that the node compares, and an index that could serve them."""
    above = found.plan.nodes[found.node.parent] if found.node.parent is not None else None
    of_join = above.filter if above else None
    on = looked_up(found.node if found.node.filter else replace(found.node, filter=of_join))
    known = indexes(case.dataset, found.statement.db, found.entity) or ()
    index = served(known, on).index if on else None
    return sorted(on.equal or on.ranges) if on else [], index.name if index else None


def _first(found: Repeated, columns: list[str], index: str | None) -> Words:
    if index:
        return phrase("First: ANALYZE {} and the table that asks for it: index {} is there, and not used.", found.table,
                      index)  # fmt: skip
    if columns:
        return phrase("First: CREATE INDEX CONCURRENTLY ON {} ({}), and look at the plan again.", found.table,
                      ", ".join(columns))  # fmt: skip
    return phrase("First: find the column by which {} is looked up in the plan, and give it an index.", found.table)
