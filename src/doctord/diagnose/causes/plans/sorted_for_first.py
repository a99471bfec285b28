"""Sorts of everything for the first few rows."""

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
from doctord.regex import regex

SORT_KEY: Final = regex(r"Sort Key: (?P<key>[^;]*)")
_COLUMN: Final = r"(?:[\w$\"]+\.)?[\w$\"]+(?: DESC| NULLS FIRST| NULLS LAST)*"
# A list of plain columns, each with how it is ordered.
COLUMNS: Final = regex(rf"{_COLUMN}(?:, {_COLUMN})*")
RANDOM: Final = (
    "First: draw a random number, and take the first rows from it on by an index (WHERE id >= ... ORDER BY id LIMIT "
    "...); or TABLESAMPLE, where any rows will do."
)
HANDING_ON: Final = ("Gather Merge", "LockRows", "Result", "Subquery Scan", "Append", "Merge Append", "MergeAppend")
OF_ALL: Final = ("Aggregate", "WindowAgg", "Unique", "SetOp", "Group")


class Sorted(NamedTuple):
    """A sort for LIMIT: its node, what it sorts by, the rows that it expects, and whether it is of one partition."""

    statement: Statement
    plan: Plan
    node: Node
    key: str
    rows: float
    is_of_parts: bool


@cause(explains=("missing_index", "index_not_used", "index_reads_many_entries", "sort_spill", *FOR_WANT_OF_AN_INDEX))
def sort_for_first_rows(case: Case) -> Iterator[Claim]:
    """A statement sorts thousands of rows to return the first few (ORDER BY ... LIMIT without an index in that order).

    Looks like: a statement that takes 5 ms and more, called again and again; its plan has a Sort of 10,000 rows and
        more below Limit, and of each call one row in a hundred comes.
    Hurts because: all rows have to be read and compared to know which are the first; an index in that order gives them
        at once. ORDER BY random() has no such order at all.
    Speaks for it: the Sort, its key, and the rows that go into it; rows and time of a call.
    Speaks against it: nothing that is counted. Aggregates and window functions are left out: they need all rows.
    Remedy: An index on the columns of the condition that are compared for equality, followed by those of the order, in
        its direction (DESC and NULLS FIRST where the order says so). Columns of several tables, or of an expression,
        need an index of that expression, or a column that holds it.
    Verify: explain shows an Index Scan below Limit, and no Sort; blocks and time of a call fall.
    Source: PostgreSQL documentation, "Indexes and ORDER BY", TABLESAMPLE; M. Winand, SQL Performance Explained, 2012,
        ch. 6 (pipelined order by).
    """
    for found in [*_sorted(case)][:1]:
        one, rows = found.statement, found.statement.rows_per_call or 0.0
        is_random = "random()" in found.key
        yield Claim(
            phrase("{:share of database} in a statement that sorts {:,.0f} rows for the first {}{}", one.share,
                   found.rows, phrase("{:,.0f}", rows) if rows >= 2 else "one",
                   " at random" if is_random else phrase(", by {}", found.key)),
            impact=one.share,
            confidence=0.85,
            severity=severity(case, one.share, slowed=True),
            for_=[
                step(one, found.node, phrase("{:,.0f} rows go into it", found.rows)),
                *(step(one, below) for below in found.plan.within(found.node) if below.is_seq_scan),
                Evidence("statement", f"statement_id = '{one.statement_id}'", per_call(one),
                         phrase("{:share} of {:,.0f} rows", SELECTIVE, found.rows), shortened(one.text or "")),
            ],
            first_steps=_first(found),
            database=one.db,
        )  # fmt: skip


def _sorted(case: Case) -> Iterator[Sorted]:
    for one, plan in slow_plans(case):
        for node in plan.nodes:
            key = SORT_KEY.search(node.detail or "")
            below = next(plan.below(node), None)
            if node.kind != "Sort" or key is None or below is None:
                continue
            above = _up_to_limit(plan, node)
            if above is None:
                continue
            is_of_all = any(part in each.kind for each in plan.within(below) for part in OF_ALL)
            rows = plan.rows(below)
            if (
                not is_of_all
                and rows >= LARGE_SCAN_ROWS
                and may_read(one, rows)
                and (one.rows_per_call or 0.0) <= SELECTIVE * rows
            ):
                yield Sorted(
                    one, plan, node, key["key"], rows, is_of_parts=any("Append" in each.kind for each in above)
                )


def _up_to_limit(plan: Plan, node: Node) -> list[Node] | None:
    """The nodes between a sort and the LIMIT that it is for; null where it is for something else, as a merge join."""
    between = list[Node]()
    for above in plan.above(node):
        if above.kind == "Limit":
            return between
        if above.kind not in HANDING_ON:
            return None
        between.append(above)
    return None


def _first(found: Sorted) -> list[Words]:
    """The index that the order asks for, where it is one of plain columns of a table that is read alone."""
    if "random()" in found.key:
        return [RANDOM]
    scans = [each for each in found.plan.within(found.node) if each.relation]
    if found.is_of_parts or len(scans) != 1 or scans[0].relation is None or not COLUMNS.fullmatch(found.key):
        return []
    columns = found.key.replace(f"{scans[0].alias}.", "")
    before = " the columns of its condition that are compared for equality, then" if scans[0].filter else ""
    return [phrase("First: CREATE INDEX CONCURRENTLY ON {} ({}):{} those of the order.", scans[0].relation,
                   f"..., {columns}" if before else columns, before)]  # fmt: skip
