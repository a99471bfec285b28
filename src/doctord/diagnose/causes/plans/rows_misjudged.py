"""Indexes of which far fewer rows come than the planner expects: it then reads whole tables for them."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.sql.plan_trees import Node, Plan
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.statements.plans import N_DISTINCT, OPTIONS
from doctord.diagnose.common.plan_steps import slow_plans, step
from doctord.diagnose.common.scans import FOR_WANT_OF_AN_INDEX, per_call
from doctord.diagnose.common.slowed import severity
from doctord.diagnose.common.whole_reads import LARGE_SCAN_ROWS
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

SCANS, READ = "pg_stat_user_indexes.idx_scan", "pg_stat_user_indexes.idx_tup_read"
# What is planned for no values in particular is the mean of all: for one value it may be wrong by some tens.
MISJUDGED: Final = 100.0
# What hashes and joins its rows costs as much again.
MUCH_OF_THE_COST: Final = 0.25
# Scans and calls of one statement are counted at different moments.
ALIKE: Final = (0.5, 2.0)


class Few(NamedTuple):
    """An index scan of a plan: the rows expected of it, those that come, and the scan of a whole table beside it.

    `table` and `entity` are the table and the index, with database and schema.
    """

    statement: Statement
    node: Node
    whole: Node
    table: str
    entity: str
    expected: float
    found: float


@cause(explains=("index_not_used", "missing_index", *FOR_WANT_OF_AN_INDEX))
def rows_overestimated(case: Case) -> Iterator[Claim]:
    """A statement reads a whole table because the planner expects far more rows of an index than come of it.

    Looks like: a statement that takes 5 ms and more, called again and again; its plan joins what comes of an index scan
        with a table that it reads whole; of each scan of that index come a hundredth of the rows expected, or less.
    Hurts because: for thousands of rows a hash join that reads the whole table is right; for two it is thousands of
        rows too many, in each call.
    Speaks for it: entries of a scan of the index as they are counted, against the rows that the plan expects; a number
        of values (n_distinct) that is set by hand for a column of its condition.
    Speaks against it: nothing that is counted; that the plan is one for no values in particular: the mean of all.
    Remedy: n_distinct in pg_stats for the columns of the index's condition, against SELECT count(DISTINCT ...). ANALYZE
        the table; a higher statistics target where ANALYZE itself counts too few values; ALTER TABLE ... ALTER
        COLUMN ... RESET (n_distinct) where it is set by hand, and ANALYZE then.
    Verify: explain expects the rows that come, and shows an index scan in place of the Seq Scan; the time of a call
        falls.
    Source: PostgreSQL documentation, "Statistics Used by the Planner", ALTER TABLE (n_distinct), pg_stat_all_indexes,
        "Row Estimation Examples".
    """
    for found in [*_few(case)][:1]:
        one = found.statement
        by_hand = _by_hand(case, found)
        yield Claim(
            phrase("{:share of database} reads all of {}, for the planner expects {:,.0f} rows of index {} and {:,.0f} "
                   "come", one.share, found.whole.relation, found.expected, found.node.index, found.found),
            impact=one.share,
            confidence=0.9 if by_hand else 0.8,
            severity=severity(case, one.share, slowed=True),
            for_=[
                Evidence("statistic", f"name = '{READ}' and entity = '{found.entity}'",
                         phrase("{:,.1f} entries come of a scan of {}", found.found, found.node.index),
                         phrase("{:,.1f}", found.expected / MISJUDGED), "as they are counted", "at_most"),
                step(one, found.node),
                step(one, found.whole, "it is read whole for so many rows"),
                Evidence("statement", f"statement_id = '{one.statement_id}'", per_call(one), "",
                         shortened(one.text or "")),
                *by_hand.values(),
            ],
            first_steps=[_reset(name) for name in by_hand],
            database=one.db,
        )  # fmt: skip


def _few(case: Case) -> Iterator[Few]:
    scans, read = ({(one.db, one.entity or ""): one.mean for one in case.figures(name)} for name in (SCANS, READ))
    least, most = ALIKE
    for one, plan in slow_plans(case):
        # Of what stops early few entries come whatever there are.
        whole = None if plan.stops_early else _read_whole(plan)
        for node in plan.nodes if whole else ():
            table = _table(plan, node)
            entity = f"{table.rpartition('.')[0]}.{node.index}"
            per_s = scans.get((one.db, entity), 0.0)
            if whole is None or not node.index or not per_s:
                continue
            found, expected = read.get((one.db, entity), 0.0) / per_s, plan.rows(node)
            is_its = least <= per_s / (one.calls_per_s or 1.0) <= most
            if is_its and expected >= MISJUDGED * max(found, 1.0):
                yield Few(one, node, whole, table, entity, expected, found)


def _read_whole(plan: Plan) -> Node | None:
    """The large table that a plan reads whole, where that is much of its cost."""
    large = [node for node in plan.nodes if node.is_seq_scan and plan.rows(node) >= LARGE_SCAN_ROWS]
    node = max(large, key=lambda one: one.cost or 0.0, default=None)
    total = plan.nodes[0].cost or 0.0
    return node if node and (node.cost or 0.0) >= MUCH_OF_THE_COST * total else None


def _table(plan: Plan, node: Node) -> str:
    """The table of an index, with its database and schema; of a bitmap it is named above, beyond BitmapAnd and Or."""
    relation = next((one.relation for one in (node, *plan.above(node)) if one.relation), "")
    return f"{plan.database}.{relation}"


def _reset(name: str) -> Words:
    table, _, column = name.rpartition(" ")
    table = table.partition(".")[2]
    return phrase("First: ALTER TABLE {} ALTER COLUMN {} RESET (n_distinct), and ANALYZE it.", table, column)


def _by_hand(case: Case, found: Few) -> dict[str, Evidence]:
    """Numbers of values set by hand, of columns in the index's condition, by `database.schema.table column`."""
    rows = case.dataset.frame("setting").filter(
        (pl.col("component") == OPTIONS)
        & (pl.col("db") == found.statement.db)
        & pl.col("name").str.starts_with(f"{found.table} ")
    )
    told = dict(rows.sort("ts", maintain_order=True).select("name", "value").iter_rows())
    return {
        name: Evidence("setting", f"component = '{OPTIONS}' and name = '{name}'",
                 phrase("{} of column {}", value, name.rpartition(" ")[2]), "", "set by hand: ANALYZE keeps to it")
        for name, value in told.items()
        if N_DISTINCT.search(value or "")
        and re.search(rf"\b{re.escape(name.rpartition(' ')[2])}\b", found.node.condition or "")
    }  # fmt: skip
