"""Wide values that lie beside their rows (TOAST), and statements that fetch one for each row that they look at."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.tables.wide_values_written import rewrites
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, at_most
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

IO = "pg_statio_user_tables."
# Those of the TOAST table and of its index, and those of the table and its indexes.
OUT_OF_LINE = tuple(f"{IO}{name}" for name in ("toast_blks_hit", "toast_blks_read", "tidx_blks_hit", "tidx_blks_read"))
IN_LINE = tuple(f"{IO}{name}" for name in ("heap_blks_hit", "heap_blks_read", "idx_blks_hit", "idx_blks_read"))
ROWS = ("pg_stat_user_tables.seq_tup_read", "pg_stat_user_tables.idx_tup_fetch")
# Of what is looked at: then most of the work is the fetching.
MOST = 0.5
# For each row that comes of it: with fewer, what is fetched is what was asked for.
ROWS_EACH = 10.0
THE_COLUMN = NotMeasured(
    "which column it is, and whether its values are compressed",
    "the server counts blocks by table",
    "select avg(pg_column_size(COLUMN)), avg(octet_length(COLUMN::text)) of a few rows; explain (analyze, buffers) of "
    "the statement with the column and without",
)


class Fetched(NamedTuple):
    """A table whose wide values are fetched: blocks looked at a second for them and for the rows, and rows a second."""

    db: str | None
    entity: str
    toast_per_s: float
    heap_per_s: float
    rows_per_s: float

    @property
    def table(self) -> str:
        """The table with its schema."""
        return self.entity.partition(".")[2]

    def is_named_by(self, statement: Statement) -> bool:
        """Whether the text of a statement names the table."""
        bare = re.escape(self.table.rpartition(".")[2])
        return re.search(rf"\b{bare}\b", statement.text or "", re.IGNORECASE) is not None

    def part_of(self, statement: Statement) -> float:
        """Part (0 to 1) of the blocks that a statement looks at that are of these values, at most."""
        return min(self.toast_per_s / statement.gets_per_s, 1.0) if statement.gets_per_s else 0.0


@cause(
    explains=(
        "statement_dominates",
        "few_rows_of_many_blocks",
        "missing_index",
        "cpu_saturated",
        "cpu_few_statements",
        "buffer_pool_small",
    )
)
def wide_values_fetched(case: Case) -> Iterator[Claim]:
    """A statement fetches wide values, which lie beside their rows (TOAST), for many more rows than come of it.

    Looks like: blocks of a TOAST table and of its index are most of what is looked at; a statement that names the table
        takes milliseconds and more, though it finds its rows by an index, or the table itself is small.
    Hurts because: a value of more than some 2 kB is cut in pieces of 2 kB, which are looked up by an index of their
        own, put together and mostly decompressed, again for each row and each use in the statement.
    Speaks for it: blocks of the TOAST table against those of the table; the part of the statement's blocks that they
        are; rows that are looked at for each that comes of it.
    Speaks against it: a statement that returns the values: whoever asked for them wants them. One that writes them anew
        is wide_values_rewritten.
    Remedy: Keep what is asked of the value in a column of its own (its length, a key of a document), generated or
        written with it, and look at that; an index on the expression; conditions that leave few rows come first, the
        value only for those (a subquery with OFFSET 0 or MATERIALIZED). Do not select * where the value is not shown.
        PostgreSQL: SET STORAGE EXTERNAL where parts of a value are read (substr); default_toast_compression = lz4.
    Verify: toast_blks_hit and toast_blks_read of the table fall at as many calls of the statement.
    Source: PostgreSQL documentation, "TOAST" (TOAST_TUPLE_THRESHOLD, TOAST_MAX_CHUNK_SIZE), pg_statio_all_tables
        (toast_blks_read, tidx_blks_read), ALTER TABLE SET STORAGE.
    """
    for fetched in _fetched(case):
        statement = _fetching(case, fetched)
        if statement is None or rewrites(case, fetched.db, fetched.entity, statement):
            continue
        part = fetched.part_of(statement)
        slowed, share = is_slowed(statement, part), statement.share * part
        if slowed or case.worth_saying(share):
            yield _claim(case, fetched, statement, slowed=slowed)


def _claim(case: Case, fetched: Fetched, statement: Statement, *, slowed: bool) -> Claim:
    share = statement.share * fetched.part_of(statement)
    wanted = _rows_each(fetched, statement) < ROWS_EACH
    text = shortened(statement.text or "")
    return Claim(
        phrase("A statement fetches wide values of {} for each row: {}", fetched.table, text),
        impact=at_most(share),
        confidence=0.6 if wanted else 0.85,
        severity="note" if wanted else severity(case, share, slowed=slowed),
        for_=[
            Evidence("statistic", f"entity = '{fetched.entity}' and name like '{IO}t%'",
                     phrase("{:,.0f} blocks/s of its TOAST table", fetched.toast_per_s),
                     phrase("{:,.0f} blocks/s of the table itself", fetched.heap_per_s),
                     "values that lie beside their rows", "at_least"),
            Evidence("statement", f"statement_id = '{statement.statement_id}'",
                     phrase("{:share} of the blocks that it looks at", fetched.part_of(statement)),
                     phrase("{:share}", MOST), per_call(statement), "at_least"),
            *([] if wanted else [_for_each(fetched, statement)]),
        ],
        against=[_for_each(fetched, statement)] if wanted else [],
        not_measured=[THE_COLUMN],
        database=fetched.db,
    )  # fmt: skip


def _for_each(fetched: Fetched, statement: Statement) -> Evidence:
    each = _rows_each(fetched, statement)
    return Evidence("statement", f"statement_id = '{statement.statement_id}'",
                    phrase("{:,.0f} rows of the table for each that comes of it", each), phrase("{:.0f}", ROWS_EACH),
                    "they are fetched to be counted, compared or left out" if each >= ROWS_EACH
                    else "the values may be what was asked for", "at_least")  # fmt: skip


def _rows_each(fetched: Fetched, statement: Statement) -> float:
    """Rows of the table that are looked at for each that comes of the statement; one a call, where none does."""
    comes = max((statement.rows_per_call or 0.0), 1.0) * (statement.calls_per_s or 0.0)
    return fetched.rows_per_s / comes if comes else 0.0


def _fetching(case: Case, fetched: Fetched) -> Statement | None:
    """The statement that may have fetched most: the one with most blocks of those that name the table.

    Null where all of them look at less than half as many blocks as were fetched: then it was somebody else, such as a
    VACUUM or a dump that has not ended.
    """
    naming = [one for one in case.statements if one.db == fetched.db and one.calls_per_s and fetched.is_named_by(one)]
    if sum(one.gets_per_s or 0.0 for one in naming) < MOST * fetched.toast_per_s:
        return None
    able = [one for one in naming if fetched.part_of(one) >= MOST]
    return max(able, key=lambda one: (one.gets_per_s or 0.0, one.statement_id), default=None)


def _fetched(case: Case) -> list[Fetched]:
    """Tables of whose blocks most are of wide values, most such blocks first."""
    toast, heap, rows = (_per_s(case, names) for names in (OUT_OF_LINE, IN_LINE, ROWS))
    found = [
        Fetched(db, entity, blocks, heap.get((db, entity), 0.0), rows.get((db, entity), 0.0))
        for (db, entity), blocks in toast.items()
        if blocks > heap.get((db, entity), 0.0)
    ]
    return sorted(found, key=lambda one: (-one.toast_per_s, one.entity))


def _per_s(case: Case, names: tuple[str, ...]) -> dict[tuple[str | None, str], float]:
    sums = dict[tuple[str | None, str], float]()
    for figure in (figure for name in names for figure in case.figures(name)):
        key = (figure.db, figure.entity or "")
        sums[key] = sums.get(key, 0.0) + figure.mean
    return sums
