"""BRIN indexes that leave hardly a page of their table out."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from doctord.analyse.sql.indexes import Index, indexes
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import FOR_WANT_OF_AN_INDEX, per_call
from doctord.diagnose.common.slowed import is_slowed, severity, works
from doctord.diagnose.common.whole_reads import BLOCKS
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, at_most
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

INDEX_SCANS: Final = "pg_stat_user_indexes.idx_scan"
TABLE_SCANS, WHOLE_SCANS = "pg_stat_user_tables.idx_scan", "pg_stat_user_tables.seq_scan"
HEAP_BYTES, PAGES, AUTOVACUUM = "pg_class.heap_bytes", "pg_class.relpages", "pg_class.autovacuum_enabled"
PAGE_BYTES: Final = 8192
# Half of the table's pages: an index that leaves no more out is none. 8 MB is looked at in a millisecond.
HALF: Final = 0.5
LEAST_PAGES: Final = 1000.0
# Scans of the index are nearly all of the table's.
ALIKE: Final = 0.8
THE_PLAN: Final = NotMeasured(
    "which pages it looks at in vain",
    "plans are not recorded",
    "explain (analyze, buffers): Heap Blocks (lossy) and Rows Removed by Index Recheck of the bitmap heap scan",
)


class Poor(NamedTuple):
    """A BRIN index of a table (`database.schema.table`), the pages that a scan of it looks at, and all that there are.

    `since` are the pages that came since the last VACUUM or ANALYZE counted them; null where that is not known.
    """

    db: str
    entity: str
    by: Index
    scans_per_s: float
    a_scan: float
    pages: float
    since: float | None

    @property
    def table(self) -> str:
        """The table with its schema."""
        return self.entity.partition(".")[2]

    @property
    def is_new(self) -> bool:
        """Whether most of what a scan looks at may be pages that came since."""
        return self.since is not None and self.since >= HALF * self.a_scan


@cause(explains=(*FOR_WANT_OF_AN_INDEX, "slow_for_few_rows"))
def brin_index_leaves_nothing_out(case: Case) -> Iterator[Claim]:
    """A search by a BRIN index looks at most of the table's pages.

    Looks like: a table whose searches go by a BRIN index; the pages of the table that are looked at for each scan of
        the index are half of all and more; a call takes 5 ms and more.
    Hurts because: a BRIN index knows the least and the greatest value of a range of pages. Ranges that it has no
        summary of, and ranges in which all values may stand, are read whole.
    Speaks for it: pages a scan beside all pages; pages that came since the last VACUUM, which alone (or autosummarize)
        summarizes new ranges; autovacuum switched off for the table.
    Speaks against it: pages that were there at the last VACUUM: who wants most of the table reads most of it by any
        index, and then it is a note.
    Remedy: Where the pages are new: select brin_summarize_new_values('index'), or VACUUM the table, after each load;
        autosummarize = on for the index. Where they are not: the rows do not lie in the order of the column (inserted
        late, updated, loaded in another order): see pg_stats.correlation; CLUSTER by a B-tree or load in order, a
        smaller pages_per_range, minmax_multi operator classes (PostgreSQL 14), or a B-tree.
    Verify: Heap Blocks (lossy) of the plan fall to what holds the rows; the statement's time per call falls.
    Source: PostgreSQL documentation, "BRIN Indexes" (Index Maintenance), CREATE INDEX (autosummarize,
        pages_per_range), "Index Maintenance Functions".
    """
    for poor in _poor(case):
        for one in _statements(case, poor)[:1]:
            new = "new pages are not summarized"
            why = new if poor.is_new else "its values are not in the table's order, or are not summarized"
            yield Claim(
                phrase("By BRIN index {} a search looks at {:,.0f} of the {:,.0f} pages of {}: {}", poor.by.name,
                       poor.a_scan, poor.pages, poor.table, why),
                impact=at_most(one.share),
                confidence=0.85 if poor.is_new else 0.7,
                severity=severity(case, one.share, slowed=True) if poor.is_new else "note",
                for_=[*_evidence(case, poor),
                      Evidence("statement", f"statement_id = '{one.statement_id}'", per_call(one), "",
                               shortened(one.text or ""))],
                first_steps=[phrase("First: select brin_summarize_new_values('{}.{}'), which takes a moment.",
                                    poor.table.rpartition(".")[0], poor.by.name)] if poor.is_new else [],
                not_measured=[THE_PLAN],
                database=poor.db,
            )  # fmt: skip


def _poor(case: Case) -> Iterator[Poor]:
    """The BRIN indexes by which a table is searched, and nothing else, each scan looking at half of it and more."""
    for heap in case.figures(HEAP_BYTES):
        db, entity = heap.db or "", heap.entity or ""
        pages, table_scans = heap.last / PAGE_BYTES, _of(case, TABLE_SCANS, db, entity) or 0.0
        if pages < LEAST_PAGES or not table_scans or _of(case, WHOLE_SCANS, db, entity):
            continue
        blocks = sum(_of(case, name, db, entity) or 0.0 for name in BLOCKS)
        counted = _of(case, PAGES, db, entity)
        for index in [one for one in indexes(case.dataset, db, entity) or () if one.method == "brin" and one.is_valid]:
            scans = _of(case, INDEX_SCANS, db, f"{entity.rpartition('.')[0]}.{index.name}") or 0.0
            if scans >= ALIKE * table_scans and blocks / scans >= max(HALF * pages, LEAST_PAGES):
                since = None if counted is None else max(pages - counted, 0.0)
                yield Poor(db, entity, index, scans, min(blocks / scans, pages), pages, since)


def _statements(case: Case, poor: Poor) -> list[Statement]:
    """The slow statements that name the table, and may make these scans."""
    name = re.compile(rf"\b{re.escape(poor.table.rpartition('.')[2])}\b", re.IGNORECASE)
    return [
        one
        for one in case.statements
        if one.db == poor.db and name.search(one.text or "") and is_slowed(one, 1.0) and works(case, one)
        and one.gets_per_s is not None and one.gets_per_s >= HALF * poor.a_scan * (one.calls_per_s or 0.0)
    ]  # fmt: skip


def _of(case: Case, name: str, db: str, entity: str) -> float | None:
    one = case.figure(name, db, entity)
    return one and one.mean


def _evidence(case: Case, poor: Poor) -> list[Evidence]:
    told = [
        Evidence("statistic", f"name in {BLOCKS} and entity = '{poor.entity}'",
                 phrase("{:,.0f} pages a scan of {} ({}), of {:,.0f}", poor.a_scan, poor.by.name,
                        ", ".join(poor.by.columns), poor.pages),
                 phrase("{:share}", HALF), phrase("{:.1f scans/s}, and no other way into the table", poor.scans_per_s),
                 "at_least")
    ]  # fmt: skip
    if poor.is_new:
        told.append(
            Evidence("statistic", f"name = '{PAGES}' and entity = '{poor.entity}'",
                     phrase("{:,.0f} pages came since the last VACUUM or ANALYZE", poor.since), "",
                     "VACUUM, or autosummarize, makes the summaries of new ranges; ANALYZE does not")
        )  # fmt: skip
    if _of(case, AUTOVACUUM, poor.db, poor.entity) == 0:
        told.append(
            Evidence("statistic", f"name = '{AUTOVACUUM}' and entity = '{poor.entity}'",
                     "autovacuum is switched off for it", "", "nobody vacuums it but who is told to")
        )  # fmt: skip
    return told
