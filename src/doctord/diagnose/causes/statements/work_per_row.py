"""Work per row: statements that look at very much for the little that comes of it."""

import re
from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.analyse.sql.statements import Statement
from doctord.dataset.waits.kinds import READS
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.holders import largest
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import FELT_MS, is_slowed
from doctord.diagnose.finding import WARNING_SHARE, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

# An index leads to a row by four or five blocks; a join of several tables takes some dozens for each that it returns.
BLOCKS_PER_ROW = 100.0
# 8 MB: less is looked at in a millisecond.
BLOCKS_PER_CALL = 1000.0
# Statements of which few rows come by their nature: they count, add up, or look whether there is any.
OF_MANY: Final = regex(
    r"\b(count|sum|avg|min|max|array_agg|string_agg|json\w*_agg|bool_\w+|every|stddev\w*|percentile_\w+)\s*\("
    r"|\b(group\s+by|distinct|having|over\s*\(|exists|union|except|intersect)\b",
    re.IGNORECASE,
)
ON_TABLES: Final = regex(r"^\s*(with\b|select\b.*\bfrom\b|insert\b|update\b|delete\b|merge\b)", re.I | re.DOTALL)
OWN_WORK: Final = ("cpu", "run queue", *READS)
HALF = 0.5
MOST_TOLD = 3
THE_PLAN = NotMeasured(
    "where in its plan the blocks are looked at",
    "plans are not recorded",
    "explain (analyze, buffers) with its parameters: the node with many rows removed by a filter, or many heap "
    "fetches; auto_explain with log_nested_statements for what triggers and functions do",
)


@cause(explains=("statement_dominates",))
def few_rows_of_many_blocks(case: Case) -> Iterator[Claim]:
    """A statement looks at hundreds of blocks and more for each row that comes of it, again and again.

    Looks like: a statement without any count or sum that takes 5 ms and more a call, returns or changes a handful of
        rows, and looks at 1,000 blocks (8 MB) and more, 100 and more for each row.
    Hurts because: its callers wait for work of which nothing comes; in memory it is CPU time, and no wait shows it.
    Speaks for it: blocks looked at for each row; time and calls; which tables are looked at most.
    Speaks against it: nothing that is counted: whether the work is needed, its plan alone tells.
    Remedy: Look at its plan. What it may be: a filter behind a scan (an index on more of the condition's columns); an
        OFFSET that reads and throws away what it skips (remember the last key instead), a sort of all rows for the
        first few (an index in that order), dead rows that every reader steps over (who holds vacuum back?), a
        trigger, a foreign key's check, a row-level security policy or a function that reads a table by itself.
        PostgreSQL: explain (analyze, buffers).
    Verify: Blocks and time per call fall at the same rows.
    Source: PostgreSQL documentation, "Using EXPLAIN" and pg_stat_statements; C. Millsap and J. Holt, Optimizing Oracle
        Performance, 2003 (logical reads per row).
    """
    told = [one for one in case.statements if one.db.startswith("postgresql") and _is_much(one) and _works(case, one)]
    for one in [one for one in told if is_slowed(one, 1.0)][:MOST_TOLD]:
        each = (one.gets_per_s or 0.0) / (one.calls_per_s or 1.0)
        rows = one.rows_per_call or 0.0
        yield Claim(
            phrase("A statement looks at {:,.0f} blocks for {}: {}", each,
                   phrase("{:,.0f} rows", rows) if rows >= 2 else "one row or none", shortened(one.text or "")),
            impact=one.share,
            confidence=0.6,
            severity="warning" if one.share >= WARNING_SHARE else "note",
            for_=[
                Evidence("statement", f"statement_id = '{one.statement_id}'",
                         phrase("{:,.0f} blocks for each row", each / max(rows, 1.0)),
                         phrase("{:,.0f}", BLOCKS_PER_ROW), per_call(one), "at_least"),
                Evidence("statement", f"statement_id = '{one.statement_id}'",
                         phrase("{:.1f ms} a call", one.elapsed_ms), phrase("{:.1f}", FELT_MS),
                         "its callers wait for that", "at_least"),
                *_segments(case),
            ],
            not_measured=[THE_PLAN],
            database=one.db,
        )  # fmt: skip


def _is_much(one: Statement) -> bool:
    text = one.text or ""
    if one.gets_per_s is None or one.rows_per_call is None or not one.calls_per_s:
        return False
    each = one.gets_per_s / one.calls_per_s
    is_much = each >= max(BLOCKS_PER_CALL, BLOCKS_PER_ROW * one.rows_per_call)
    return is_much and ON_TABLES.search(text) is not None and OF_MANY.search(text) is None


def _works(case: Case, one: Statement) -> bool:
    """Whether it works for most of its time: what waits for a lock is slow for another reason."""
    own = case.active.filter((pl.col("db") == one.db) & (pl.col("statement_id") == one.statement_id))
    working_s = float(own.filter(pl.col("wait_kind").is_in(OWN_WORK))["interval_s"].sum())
    return own.is_empty() or working_s >= HALF * float(own["interval_s"].sum())


def _segments(case: Case) -> list[Evidence]:
    """The table that is looked at most, of all statements."""
    return [
        Evidence("statistic", f"entity = '{one.name}'", phrase("{:share} of the logical reads", one.gets_share), "",
                 phrase("table {}", one.name.partition(".")[2]))
        for one in largest(case, "gets_share", "segment", 1)
    ]  # fmt: skip
