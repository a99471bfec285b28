"""Work per row: statements that look at very much for the little that comes of it."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.sql.conditions import tables_of
from doctord.analyse.sql.statements import Statement
from doctord.dataset.tables import CLIENT
from doctord.dataset.waits.kinds import READS
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.holders import largest
from doctord.diagnose.common.plan_steps import dearest, unseen
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import FELT_MS, is_slowed
from doctord.diagnose.finding import WARNING_SHARE, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, phrase
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
SKIPS: Final = regex(r"\bskip\s+locked\b", re.IGNORECASE)
LOCKS: Final = regex(r"\bfor\s+(no\s+key\s+)?update\b|^\s*(update|delete|merge)\b", re.IGNORECASE)
# A worker that takes one row and commits when its work is done has it for less, or is what a queue is for.
OPEN_S: Final = 5.0
OWN_WORK: Final = ("cpu", "run queue", *READS)
HALF = 0.5
MOST_TOLD = 3
THE_PLAN = NotMeasured(
    "where in its plan the blocks are looked at",
    "plans are not recorded",
    "explain (analyze, buffers) with its parameters: the node with many rows removed by a filter, or many heap "
    "fetches; auto_explain with log_nested_statements for what triggers and functions do",
)


class Locking(NamedTuple):
    """A session whose open transaction has locked rows, or may have: since when (seconds), by which last statement."""

    who: Phrase
    sid: int
    state: str | None
    since_s: float
    text: str | None

    @property
    def is_known(self) -> bool:
        """Whether its last statement is one that locked rows there; null texts were run before we looked."""
        return self.text is not None

    @property
    def evidence(self) -> Evidence:
        """How long the rows have been locked, and by what."""
        return Evidence("session", f"sid = {self.sid}",
                        phrase("a transaction of {:time}, {}", self.since_s, self.state or "state unknown"),
                        phrase("{:time}", OPEN_S),
                        phrase("SKIP LOCKED tries, and steps over, each row that it holds: {}",
                               shortened(self.text or "its last statement ran before we looked")),
                        "at_least")  # fmt: skip


@cause(explains=("statement_dominates",))
def few_rows_of_many_blocks(case: Case) -> Iterator[Claim]:
    """A statement looks at hundreds of blocks and more for each row that comes of it, again and again.

    Looks like: a statement without any count or sum that takes 5 ms and more a call, returns or changes a handful of
        rows, and looks at 1,000 blocks (8 MB) and more, 100 and more for each row.
    Hurts because: its callers wait for work of which nothing comes; in memory it is CPU time, and no wait shows it.
    Speaks for it: blocks looked at for each row; time and calls; which tables are looked at most; of a queue that is
        read FOR UPDATE SKIP LOCKED, an open transaction that has locked rows of it, which are all stepped over.
    Speaks against it: nothing that is counted: whether the work is needed, its plan alone tells.
    Remedy: Look at its plan. What it may be: a filter behind a scan (an index on more of the condition's columns); an
        OFFSET that reads and throws away what it skips (remember the last key instead), a sort of all rows for the
        first few (an index in that order), dead rows that every reader steps over (who holds vacuum back?), a
        trigger, a foreign key's check, a row-level security policy or a function that reads a table by itself. Of a
        queue: consumers that take few rows at a time and commit soon, or mark what they take and commit before the
        work.
        PostgreSQL: explain (analyze, buffers).
    Verify: Blocks and time per call fall at the same rows.
    Source: PostgreSQL documentation, "Using EXPLAIN" and pg_stat_statements; C. Millsap and J. Holt, Optimizing Oracle
        Performance, 2003 (logical reads per row).
    """
    told = [one for one in case.statements if one.db.startswith("postgresql") and _is_much(one) and _works(case, one)]
    for one in [one for one in told if is_slowed(one, 1.0)][:MOST_TOLD]:
        locking = _locking(case, one)
        each = (one.gets_per_s or 0.0) / (one.calls_per_s or 1.0)
        rows = one.rows_per_call or 0.0
        yield Claim(
            phrase("A statement looks at {:,.0f} blocks for {}{}: {}", each,
                   phrase("{:,.0f} rows", rows) if rows >= 2 else "one row or none",
                   phrase(", stepping over rows that {} has locked{}", locking.who,
                          "" if locking.is_known else ", it seems") if locking else "",
                   shortened(one.text or "")),
            impact=one.share,
            confidence=0.8 if locking and locking.is_known else 0.6,
            severity="warning" if one.share >= WARNING_SHARE else "note",
            for_=[
                Evidence("statement", f"statement_id = '{one.statement_id}'",
                         phrase("{:,.0f} blocks for each row", each / max(rows, 1.0)),
                         phrase("{:,.0f}", BLOCKS_PER_ROW), per_call(one), "at_least"),
                Evidence("statement", f"statement_id = '{one.statement_id}'",
                         phrase("{:.1f ms} a call", one.elapsed_ms), phrase("{:.1f}", FELT_MS),
                         "its callers wait for that", "at_least"),
                *([locking.evidence] if locking else []),
                *dearest(case, one),
                *_segments(case),
            ],
            first_steps=(
                phrase("See what {} is doing, and let it commit or end it: its locks go with it.", locking.who),
            ) if locking else (),
            not_measured=unseen(case, one, THE_PLAN),
            database=one.db,
        )  # fmt: skip


def _locking(case: Case, one: Statement) -> Locking | None:
    """Of a statement that skips locked rows the oldest open transaction whose last statement locked rows there.

    Where none is known to, the oldest of those of which that is not told.
    """
    if SKIPS.search(one.text or "") is None:
        return None
    tables = {*tables_of(one.text or "")}
    sessions = case.dataset.frame("session").filter(
        (pl.col("db") == one.db) & (pl.col("transaction_s") >= OPEN_S) & (pl.col("kind") == CLIENT)
    )
    newest = (
        sessions.group_by("sid", maintain_order=True)
        .last()
        .sort("transaction_s", "sid", descending=[True, False], maintain_order=True)
    )
    found = list[Locking]()
    for row in newest.iter_rows(named=True):
        text = case.statement_text(row["statement_id"]) if row["statement_id"] else None
        is_untold = text is None and row["state"] == "idle in transaction"
        if is_untold or (text and LOCKS.search(text) and tables & {*tables_of(text)}):
            names = " ".join(part for part in (row["user"] or "an unknown user", row["program"]) if part)
            who = phrase("session {} of {}", row["sid"], names)
            found.append(Locking(who, row["sid"], row["state"], row["transaction_s"], text))
    return next((each for each in found if each.is_known), next(iter(found), None))


def _is_much(one: Statement) -> bool:
    text = one.text or ""
    if one.gets_per_s is None or one.rows_per_call is None or not one.calls_per_s:
        return False
    each = one.gets_per_s / one.calls_per_s
    is_much = each >= max(BLOCKS_PER_CALL, BLOCKS_PER_ROW * one.rows_per_call)
    return is_much and ON_TABLES.search(text) is not None and OF_MANY.search(text) is None


def _works(case: Case, one: Statement) -> bool:
    """Whether it works for most of its time: what waits for a lock is slow for another reason."""
    own = case.samples_of(one)
    working_s = float(own.filter(pl.col("wait_kind").is_in(OWN_WORK))["interval_s"].sum())
    return own.is_empty() or working_s >= HALF * float(own["interval_s"].sum())


def _segments(case: Case) -> list[Evidence]:
    """The table that is looked at most, of all statements."""
    return [
        Evidence("statistic", f"entity = '{one.name}'", phrase("{:share} of the logical reads", one.gets_share), "",
                 phrase("table {}", one.name.partition(".")[2]))
        for one in largest(case, "gets_share", "segment", 1)
    ]  # fmt: skip
