"""Writes: what indexes cost that no query reads."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.sql.dependencies import bare, writes
from doctord.analyse.sql.statements import Statement
from doctord.analyse.sql.unused_indexes import BLOCKS, SCANS, TABLE_SCANS, Unused, unused_indexes
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.finding import Claim, Evidence, measured
from doctord.diagnose.phrase import listed, phrase
from doctord.diagnose.words import shortened

# Of what the writes look at: a smaller part is not felt if it is gone.
LEAST_PART: Final = 0.25
MOST_NAMED: Final = 4


@cause(
    explains=(
        "buffer_pool_small",
        "cpu_saturated",
        "cpu_few_statements",
        "statement_dominates",
    )
)
def indexes_unused(case: Case) -> Iterator[Claim]:
    """Writes keep indexes up to date that no query reads.

    Looks like: inserts and updates that look at dozens of blocks for each row; the table has many indexes, and the
        count of scans of most of them stands at nought.
    Hurts because: each new row version goes into every index of its table, wherever its key belongs: blocks looked at,
        changed and logged for each of them; an index on a column that changes prevents HOT updates, so that all of
        them are written to. Cached blocks of theirs take the room of those that are read.
    Speaks for it: the indexes without a scan since the statistics were reset; their part of the blocks that the writes
        of the table look at; the writes' share of database time.
    Speaks against it: a table that nobody reads meanwhile: it may be being loaded, and its indexes be for later. What
        keeps a constraint (unique, exclusion, replica identity) is never counted.
    Remedy: Look when the statistics were reset (pg_stat_database.stats_reset), on the standbys as well, and whether a
        report of the month's end needs one; then DROP INDEX CONCURRENTLY, one at a time. Before a bulk load drop
        them and build them afterwards. Columns that change often are better left out of indexes (HOT updates).
    Verify: Blocks for each row written and the writes' time per call fall; no statement has become slower.
    Source: PostgreSQL documentation, "Examining Index Usage", "Heap-Only Tuples (HOT)", "Populating a Database: Remove
        Indexes", pg_stat_all_indexes; D. Shasha, P. Bonnet, "Database Tuning", 2003, ch. 3.
    """
    for unused in unused_indexes(case.dataset):
        writers = [one for one in case.statements if _writes(one, unused)]
        looked_at = sum(one.gets_per_s or 0.0 for one in writers)
        part = min(unused.blocks_per_s / looked_at, 1.0) if looked_at else 0.0
        share = part * sum(one.share for one in writers)
        slowed = any(is_slowed(one, part) for one in writers)
        if part >= LEAST_PART and (slowed or case.worth_saying(share)):
            yield _claim(case, unused, writers[0], part, share, slowed=slowed)


def _writes(statement: Statement, unused: Unused) -> bool:
    """Whether it writes to the table, and its blocks were counted."""
    named = (one.table == bare(unused.table) for one in writes(statement.text or ""))
    return statement.db == unused.db and bool(statement.gets_per_s) and any(named)


def _claim(case: Case, unused: Unused, writer: Statement, part: float, share: float, *, slowed: bool) -> Claim:
    database, _, table = unused.table.partition(".")
    names = ", ".join(f"'{database}.{table.rpartition('.')[0]}.{name}'" for name in unused.names)
    told = [*unused.names[:MOST_NAMED], *(["..."] if len(unused.names) > MOST_NAMED else [])]
    return Claim(
        phrase("{:share of database} keeps {:count index/indexes} of {} up to date that nothing reads",
               share, len(unused.names), table),
        impact=measured(share),
        confidence=0.85 if unused.is_read else 0.6,
        severity=severity(case, share, slowed=slowed) if unused.is_read else "note",
        for_=[
            Evidence("statistic", f"name = '{SCANS}' and entity in ({names})",
                     phrase("not one scan since the statistics were reset: {}", listed(*told)), "",
                     "no constraint needs them"),
            Evidence("statistic", f"name in {BLOCKS} and entity in ({names})",
                     phrase("{:share} of the blocks that writes of {} look at are theirs", part, table),
                     phrase("{:share}", LEAST_PART), phrase("{:,.0f} blocks/s", unused.blocks_per_s), "at_least"),
            Evidence("statement", f"statement_id = '{writer.statement_id}'", per_call(writer), "",
                     shortened(writer.text or "")),
        ],
        against=[] if unused.is_read else [
            Evidence("statistic", f"name in {TABLE_SCANS} and entity = '{unused.table}'",
                     "nobody reads the table meanwhile", "", "it may be being loaded, its indexes be for later"),
        ],
        database=unused.db,
    )  # fmt: skip
