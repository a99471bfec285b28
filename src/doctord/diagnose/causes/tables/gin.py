"""GIN indexes whose list of pending entries every search reads from end to end."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.sql.conditions import condition
from doctord.analyse.sql.gin import PENDING, Gin, gins
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import asks_for, per_call, scans
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

# 8 MB, twice what gin_pending_list_limit lets a list grow to unless told otherwise: a millisecond and more a search.
LONG_PAGES: Final = 1000.0


@cause(
    explains=(
        "buffer_pool_small",
        "cpu_saturated",
        "cpu_few_statements",
        "device_saturated",
        "few_rows_of_many_blocks",
        "index_not_used",
        "missing_index",
        "statement_dominates",
    )
)
def gin_pending_list_long(case: Case) -> Iterator[Claim]:
    """Searches by a GIN index read a long list of entries that it has not taken in yet.

    Looks like: searches become slow after many rows came in, though their GIN index is there; fastupdate is on, and
        gin_pending_list_limit is large. The index is looked into by thousands of blocks a scan, or the planner,
        who counts its pages too, reads the whole table in its place.
    Hurts because: every search reads the pending list from end to end beside the index itself; it is taken in by
        VACUUM, by autovacuum's ANALYZE, or once it is longer than gin_pending_list_limit, at the cost of one insert.
    Speaks for it: pages of the list, where pgstattuple tells them; blocks of the index for each scan; how long the list
        may grow; a table that is read whole in spite of the index.
    Speaks against it: a list that is short: then statistics, or a search for what most rows have.
    Remedy: SELECT gin_clean_pending_list('INDEX'), or VACUUM the table. Then a smaller gin_pending_list_limit (ALTER
        INDEX ... SET or RESET), fastupdate = off where searches matter more than inserts, or autovacuum that comes
        sooner (autovacuum_vacuum_insert_scale_factor); after a bulk load VACUUM.
    Verify: pgstatginindex shows few pending pages; the searches' time and blocks per call fall.
    Source: PostgreSQL documentation, "GIN Fast Update Technique", gin_pending_list_limit, gin_clean_pending_list,
        pgstatginindex, CREATE INDEX (fastupdate).
    """
    for gin in gins(case.dataset):
        statement = next((one for one in case.statements if _searches(case, one, gin)), None)
        if statement is None:
            continue
        scanned = _is_read_whole(case, gin, statement)
        confidence = _confidence(gin, scanned=scanned)
        if confidence is None:
            continue
        yield Claim(
            phrase("{:share of database} searches {} by GIN index {}, {}", statement.share,
                   gin.table.partition(".")[2], gin.index.name, _list(gin)),
            impact=statement.share,
            confidence=confidence,
            severity=severity(case, statement.share, slowed=is_slowed(statement, 1.0)),
            for_=[*_signs(gin), *([_whole(gin)] if scanned else []), _statement(statement)],
            not_measured=[] if gin.pages is not None else [_unseen(gin)],
            first_steps=[_first(gin)],
            database=gin.db,
        )  # fmt: skip


def _searches(case: Case, statement: Statement, gin: Gin) -> bool:
    """Whether a statement that is worth saying has a condition by an operator on a column of the index."""
    if statement.db != gin.db or not asks_for(statement, gin.table.partition(".")[2]):
        return False
    if not (case.worth_saying(statement.share) or is_slowed(statement, 1.0)):
        return False
    on = condition(statement.text or "", gin.table.rpartition(".")[2])
    return on is not None and bool(on.others & {*gin.index.columns})


def _is_read_whole(case: Case, gin: Gin, statement: Statement) -> bool:
    """Whether the statement reads the whole table although the index is there, for a few rows of it."""
    return any(
        (scan.figure.db, scan.entity, scan.statement.statement_id) == (gin.db, gin.table, statement.statement_id)
        and scan.is_selective is not False
        for scan in scans(case)
    )


def _confidence(gin: Gin, *, scanned: bool) -> float | None:
    """How sure it is; null where it is not, or where the list is known to be short, or kept short."""
    if gin.pages is not None:
        return 0.9 if gin.pages >= LONG_PAGES else None
    if gin.may_pages < LONG_PAGES:
        return None
    if gin.blocks_per_scan is not None and gin.blocks_per_scan >= LONG_PAGES:
        return 0.75
    return 0.6 if scanned else None


def _list(gin: Gin) -> Words:
    if gin.pages is not None:
        return phrase("whose pending list has {:,.0f} pages", gin.pages)
    return phrase("whose pending list may have grown to {:bytes}", gin.may_pages * 8192)


def _signs(gin: Gin) -> Iterator[Evidence]:
    at_least = phrase("{:,.0f}", LONG_PAGES)
    if gin.pages is not None:
        yield Evidence("statistic", f"name = '{PENDING}' and entity = '{gin.entity}'",
                       phrase("{:,.0f} pages in the pending list", gin.pages), at_least,
                       "every search reads them all", "at_least")  # fmt: skip
    if gin.blocks_per_scan is not None:
        yield Evidence("statistic", f"name like 'pg_statio_user_indexes.%' and entity = '{gin.entity}'",
                       phrase("{:,.0f} blocks of the index are looked at for each scan of it", gin.blocks_per_scan),
                       at_least, "a few dozen are usual", "at_least")  # fmt: skip
    yield Evidence("setting", f"component = 'pg_index' and name = '{gin.table} {gin.index.name}'",
                   phrase("fastupdate is on; the list may grow to {:,.0f} pages", gin.may_pages), at_least,
                   "before an insert takes it in", "at_least")  # fmt: skip


def _whole(gin: Gin) -> Evidence:
    return Evidence("statistic", f"name = 'pg_stat_user_tables.seq_tup_read' and entity = '{gin.table}'",
                    "the table is read whole in spite of the index", "",
                    "the planner counts the pages of the list too")  # fmt: skip


def _statement(statement: Statement) -> Evidence:
    where = f"statement_id = '{statement.statement_id}'"
    return Evidence("statement", where, per_call(statement), "", shortened(statement.text or ""))


def _unseen(gin: Gin) -> NotMeasured:
    name = gin.entity.partition(".")[2]
    return NotMeasured(
        f"how long the pending list of {name} is",
        "pgstattuple is not installed in that database, or may not be used",
        f"create extension pgstattuple; then pending_pages of pgstatginindex('{name}'); explain (analyze, buffers)",
    )


def _first(gin: Gin) -> Words:
    return phrase("First: SELECT gin_clean_pending_list('{}'), as the owner of the index, and look whether searches "
                  "are quick again.", gin.entity.partition(".")[2])  # fmt: skip
