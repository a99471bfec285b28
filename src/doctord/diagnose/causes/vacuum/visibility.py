"""Index-only scans that fetch each row from the table all the same, as the visibility map does not vouch for it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from doctord.analyse.sql.conditions import columns_of, condition, tables_of
from doctord.analyse.sql.indexes import Index, indexes
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import is_slowed, severity, works
from doctord.diagnose.common.whole_reads import BLOCKS
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, at_most
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

READ, FETCHED = "pg_stat_user_indexes.idx_tup_read", "pg_stat_user_indexes.idx_tup_fetch"
SCANS: Final = "pg_stat_user_indexes.idx_scan"
VISIBLE, PAGES = "pg_class.relallvisible", "pg_class.relpages"
# Of the entries that are read, those whose row is fetched; and of what a statement looks at, the table's own blocks.
HALF: Final = 0.5
# Fewer rows a scan are fetched in a fraction of a millisecond.
ROWS_A_SCAN: Final = 500.0
MOST_TOLD: Final = 2


class Fetching(NamedTuple):
    """A statement that an index holds all columns of, and whose rows are fetched from the table all the same.

    `entity` is the table with its database, `by` the index; `entries` are read of it a scan, the part `fetched` (0 to
    1) of them has its row fetched; `in_table` is the part of the blocks that the statement looks at which are the
    table's, null where that is not counted.
    """

    statement: Statement
    entity: str
    by: Index
    entries: float
    fetched: float
    in_table: float | None

    @property
    def table(self) -> str:
        """The table with its schema."""
        return self.entity.partition(".")[2]


@cause(explains=("statement_dominates", "few_rows_of_many_blocks", "buffer_pool_small", "cpu_few_statements"))
def visibility_map_stale(case: Case) -> Iterator[Claim]:
    """Index-only scans fetch each row from the table all the same: nothing says that its pages are all-visible.

    Looks like: a statement needs columns of one index alone, reads hundreds of its entries a call and more, and as many
        rows are fetched by that index (idx_tup_fetch beside idx_tup_read); most of the blocks that it looks at are the
        table's and not the index's.
    Hurts because: whether a row is visible stands in the table, unless the visibility map vouches for its page; then an
        index-only scan looks at as many pages as an ordinary one, by chance all over the table.
    Speaks for it: entries read and rows fetched; pages that are all-visible; the last VACUUM.
    Speaks against it: a map that was fresh at the last VACUUM: rows that change all the time wear it off again,
        and no VACUUM helps for long.
    Remedy: VACUUM the table, which sets the map, and see why autovacuum did not come: switched off for it,
        autovacuum_vacuum_scale_factor and autovacuum_vacuum_insert_scale_factor too large for its size, an old
        transaction that holds vacuum back. After a bulk load or a restore VACUUM (ANALYZE) at once. Whether the plan
        is an index-only scan, and its Heap Fetches, explain (analyze, buffers) says.
    Verify: Heap Fetches: 0 in explain (analyze); idx_tup_fetch of the index stands still while idx_tup_read goes on.
    Source: PostgreSQL documentation, "Index-Only Scans and Covering Indexes", "Updating the Visibility Map",
        "Visibility Map", pg_stat_all_indexes.
    """
    for one in [*_fetching(case)][:MOST_TOLD]:
        share = one.statement.share
        slowed = is_slowed(one.statement, 1.0 if one.in_table is None else one.in_table)
        if not slowed and not case.worth_saying(share):
            continue
        for_, against = weigh(_signs(case, one))
        yield Claim(
            phrase("Index-only scans of {} fetch all rows from {}: its visibility map does not vouch for them",
                   one.by.name, one.table),
            impact=at_most(share),
            confidence=0.85 if for_ and not against else 0.6,
            severity=severity(case, share, slowed=slowed),
            for_=[*_fetched(one), *for_, *_last_vacuum(case, one)],
            against=against,
            database=one.statement.db,
        )  # fmt: skip


def _fetching(case: Case) -> Iterator[Fetching]:
    rates = _by_index(case)
    dbs = {db for db, _ in rates}  # of others no statement is parsed, which takes longer than most causes
    for one in case.statements:
        is_asked = one.db in dbs and one.db.startswith("postgresql") and one.calls_per_s
        columns = columns_of(one.text or "") if is_asked else None
        if not columns or not works(case, one):
            continue
        for entity in _tables(case, one):
            in_table = _in_table(case, one, entity)
            if in_table is not None and in_table < HALF:
                continue
            for index in [each for each in indexes(case.dataset, one.db, entity) or () if _covers(each, columns)]:
                read = rates.get((one.db, f"{entity.rpartition('.')[0]}.{index.name}"))
                if read and not _others_fetch(case, one, entity, index):
                    yield Fetching(one, entity, index, *read, in_table)


def _tables(case: Case, one: Statement) -> list[str]:
    """The tables of that name, with database and schema, of which the server told how they are read."""
    (name,) = tables_of(one.text or "")
    told = (figure.entity or "" for block in BLOCKS for figure in case.figures(block) if figure.db == one.db)
    return [*dict.fromkeys(entity for entity in told if entity.rpartition(".")[2].lower() == name)]


def _covers(index: Index, columns: frozenset[str]) -> bool:
    is_usable = index.is_valid and not index.is_partial and index.method == "btree"
    return is_usable and columns <= {*index.columns, *index.included}


def _by_index(case: Case) -> dict[tuple[str | None, str | None], tuple[float, float]]:
    """Of each index by which most rows are fetched, of many a scan: entries read a scan, and the part fetched."""
    read, fetched, scans = (
        {(one.db, one.entity): one.mean for one in reversed(case.figures(figure))} for figure in (READ, FETCHED, SCANS)
    )
    return {
        index: (rate / scans[index], min(fetched[index] / rate, 1.0))
        for index, rate in read.items()
        if rate and fetched.get(index) and scans.get(index)
        and fetched[index] >= HALF * rate and rate >= ROWS_A_SCAN * scans[index]
    }  # fmt: skip


def _in_table(case: Case, one: Statement, entity: str) -> float | None:
    """The part (0 to 1) of the blocks that a statement looks at which may be the table's; null if uncounted."""
    blocks = sum(_of(case, block, one.db, entity) or 0.0 for block in BLOCKS)
    return min(blocks / one.gets_per_s, 1.0) if one.gets_per_s else None


def _of(case: Case, name: str, db: str, entity: str) -> float | None:
    """Mean of a figure of a table or an index; of a gauge that hardly changes as good as its last reading."""
    one = case.figure(name, db, entity)
    return one and one.mean


def _others_fetch(case: Case, one: Statement, entity: str, index: Index) -> bool:
    """Whether another statement may be behind the fetches: by the same index, for columns that it does not hold."""
    table = entity.rpartition(".")[2]
    for other in case.statements:
        if other is one or other.db != one.db or (other.gets_per_s or 0.0) < HALF * (one.gets_per_s or 0.0):
            continue
        on, columns = condition(other.text or "", table), columns_of(other.text or "")
        is_covered = columns is not None and _covers(index, columns)
        if table.lower() in tables_of(other.text or "") and on and index.columns[0] in on.columns and not is_covered:
            return True
    return False


def _fetched(one: Fetching) -> list[Evidence]:
    name = f"{one.entity.rpartition('.')[0]}.{one.by.name}"
    held = ", ".join((*one.by.columns, *one.by.included))
    told = [
        Evidence("statistic", f"name = '{FETCHED}' and entity = '{name}'",
                 phrase("{:share} of {:,.0f} entries a scan have their row fetched from the table", one.fetched,
                        one.entries),
                 phrase("{:share}", HALF), phrase("the index holds all that is asked for ({})", held), "at_least"),
        Evidence("statement", f"statement_id = '{one.statement.statement_id}'", per_call(one.statement), "",
                 shortened(one.statement.text or "")),
    ]  # fmt: skip
    if one.in_table is not None:
        told.append(
            Evidence("statistic", f"name in {BLOCKS} and entity = '{one.entity}'",
                     phrase("{:share} of the blocks that it looks at are the table's", one.in_table),
                     phrase("{:share}", HALF), "and not the index's", "at_least")
        )  # fmt: skip
    return told


def _signs(case: Case, one: Fetching) -> list[Sign]:
    """Pages that are not all-visible, as a part of all."""
    visible, pages = (_of(case, name, one.statement.db, one.entity) for name in (VISIBLE, PAGES))
    hidden = None if visible is None or not pages else 1 - visible / pages
    return [
        Sign("statistic", f"name = '{VISIBLE}' and entity = '{one.entity}'", hidden, HALF,
             "{:share} of its pages were not all-visible at the last VACUUM or ANALYZE",
             "pg_class.relallvisible of relpages", "the map was fresh then: rows were changed since")
    ]  # fmt: skip


def _last_vacuum(case: Case, one: Fetching) -> list[Evidence]:
    """When it was vacuumed last, and whether autovacuum may."""
    db, name = one.statement.db, "pg_stat_user_tables.last_vacuum_age_s"
    age_s = _of(case, name, db, one.entity)
    is_off = _of(case, "pg_class.autovacuum_enabled", db, one.entity) == 0
    figure: Words = "no VACUUM is on record" if age_s is None else phrase("the last VACUUM was {:duration} ago", age_s)
    why = "autovacuum is switched off for it" if is_off else ""
    return [Evidence("statistic", f"name = '{name}' and entity = '{one.entity}'", figure, "", why)]
