"""Nested loops that run thousands of times where the planner expected a few rows."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from doctord.analyse.sql.plan_trees import Node, Plan
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.plan_steps import slow_plans, step
from doctord.diagnose.common.scans import CHANGED_SHARE, FOR_WANT_OF_AN_INDEX, per_call
from doctord.diagnose.common.slowed import severity
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened

SCANS: Final = "pg_stat_user_indexes.idx_scan"
CHANGED, LIVE = "pg_stat_user_tables.n_mod_since_analyze", "pg_stat_user_tables.n_live_tup"
# A look-up by an index takes some microseconds: fewer are felt by nobody.
MANY_LOOKUPS: Final = 1000.0
# What is planned for no values in particular may be wrong by some tens for one value, and right for all.
MISJUDGED: Final = 100.0
# The root of an index and a row of its table: less is looked at by no look-up.
BLOCKS_A_LOOKUP: Final = 2.0


class Loop(NamedTuple):
    """A nested loop: the node, what it runs for each row (`inner`), rows expected of the other side, and look-ups."""

    statement: Statement
    node: Node
    outer: Node
    inner: Node
    expected: float
    lookups: float
    entity: str
    tables: tuple[str, ...]


@cause(explains=("index_reads_many_entries", *FOR_WANT_OF_AN_INDEX))
def nested_loop_misjudged(case: Case) -> Iterator[Claim]:
    """A nested loop looks up thousands of rows one by one, where the planner expected a few.

    Looks like: a statement that takes 5 ms and more, called again and again; its plan has a Nested Loop of which the
        outer side is expected to give a row or a few, and the index of the inner side is scanned a thousand times and
        more for each call.
    Hurts because: a nested loop is quick for a few rows; for thousands a hash join reads the table once. One wrong
        estimate at the bottom of a plan makes all that stands above it wrong.
    Speaks for it: scans of the inner index for each call against the rows expected; rows changed since the last ANALYZE
        of the tables on the outer side.
    Speaks against it: statistics that are fresh: then conditions depend on one another, stand on an expression, or come
        of a function; another statement may scan the index too.
    Remedy: explain (analyze), and find the lowest node where rows expected and rows found part. ANALYZE its table.
        Columns that depend on one another: CREATE STATISTICS (dependencies, mcv) on them. An expression: CREATE
        STATISTICS on it (14 and later), or an index of it. A function: its ROWS. Values that are skewed: a higher
        statistics target for the column.
    Verify: explain shows a hash or merge join, or as many rows as there are; idx_scan of the index stands still.
    Source: PostgreSQL documentation, "Statistics Used by the Planner", "Extended Statistics", CREATE FUNCTION (ROWS),
        "Using EXPLAIN"; V. Leis et al., "How Good Are Query Optimizers, Really?", PVLDB 9 (2015).
    """
    for found in [*_misjudged(case)][:1]:
        one = found.statement
        for_, against = weigh([sign for table in found.tables for sign in _stale(case, one, table)])
        yield Claim(
            phrase("{:share of database} in a nested loop that looks up {} {:,.0f} times a call, where {} expected: {}",
                   one.share, found.inner.relation, found.lookups,
                   phrase("{:count row was/rows were}", round(found.expected)), shortened(one.text or "")),
            impact=one.share,
            confidence=0.85 if for_ else 0.75,
            severity=severity(case, one.share, slowed=True),
            for_=[
                Evidence("statistic", f"name = '{SCANS}' and entity = '{found.entity}'",
                         phrase("{:,.0f} scans of {} a call", found.lookups, found.inner.index),
                         phrase("{:,.0f}", MANY_LOOKUPS), per_call(one), "at_least"),
                step(one, found.outer, "the outer side: so many rows are looked up one by one"),
                step(one, found.inner, "the inner side"),
                *for_,
            ],
            against=against,
            first_steps=[phrase("First: ANALYZE {}, which takes seconds, and look at the plan again.",
                                listed(*(table.partition(".")[2] for table in found.tables)))] if for_ else [],
            database=one.db,
        )  # fmt: skip


def _misjudged(case: Case) -> Iterator[Loop]:
    scans = {(one.db, one.entity or ""): one.mean for one in case.figures(SCANS)}
    for one, plan in slow_plans(case):
        calls, gets = one.calls_per_s or 0.0, one.gets_per_s or 0.0
        for node, outer, inner in _loops(plan):
            schema = (inner.relation or "").rpartition(".")[0]
            entity = f"{plan.database}.{schema}.{inner.index}"
            per_s, expected = scans.get((one.db, entity), 0.0), plan.loops(inner)
            lookups, is_its = per_s / calls, BLOCKS_A_LOOKUP * per_s <= gets
            if expected is not None and is_its and lookups >= max(MANY_LOOKUPS, MISJUDGED * expected):
                yield Loop(one, node, outer, inner, expected, lookups, entity, _tables(plan, outer, entity))


def _loops(plan: Plan) -> Iterator[tuple[Node, Node, Node]]:
    """Each nested loop, its outer side, and the index scan that it runs for each row of that."""
    for node in plan.nodes:
        sides = [*plan.below(node)]
        outer = next((side for side in sides if side.relationship == "Outer"), None)
        inner = next((side for side in sides if side.relationship == "Inner"), None)
        if node.kind.startswith("Nested Loop") and outer and inner and inner.index:
            yield node, outer, inner


def _tables(plan: Plan, outer: Node, index: str) -> tuple[str, ...]:
    """The tables of the outer side, each with the database before it."""
    database = index.partition(".")[0]
    return tuple(dict.fromkeys(f"{database}.{one.relation}" for one in plan.within(outer) if one.relation))


def _stale(case: Case, one: Statement, table: str) -> list[Sign]:
    changed, live = (case.figure(name, one.db, table) for name in (CHANGED, LIVE))
    part = changed.last / max(live.last, 1.0) if changed and live else None
    why: Words = "the planner goes by what was there before"
    return [
        Sign("statistic", f"name = '{CHANGED}' and entity = '{table}'", part, CHANGED_SHARE,
             "{:share} as many rows changed since the last ANALYZE as the table has", why,
             "statistics are fresh: conditions depend on one another, or stand on an expression",
             subject=table.partition(".")[2])
    ]  # fmt: skip
