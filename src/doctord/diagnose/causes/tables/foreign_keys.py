"""Foreign keys: what the server reads by itself to see that no row is left without the one that it refers to."""

from collections.abc import Iterator

from doctord.analyse.sql.dependencies import ForeignKey, writes
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.common.whole_reads import MOST, WholeRead, dependencies, in_its_blocks, scanned, whole_reads
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, measured
from doctord.diagnose.phrase import listed, phrase
from doctord.diagnose.words import shortened

DELETED, UPDATED = "pg_stat_user_tables.n_tup_del", "pg_stat_user_tables.n_tup_upd"
CHECKS = frozenset({"update", "delete"})


@cause(
    explains=(
        "missing_index",
        "index_not_used",
        "statement_dominates",
        "few_rows_of_many_blocks",
        "cpu_saturated",
        "cpu_few_statements",
        "buffer_pool_small",
        "device_saturated",
    )
)
def foreign_key_without_index(case: Case) -> Iterator[Claim]:
    """Each row that is deleted, or whose key is changed, has the whole referencing table read: its key has no index.

    Looks like: a foreign key whose columns no index of its table begins with; sequential scans of that large table as
        often as rows of the referenced one are deleted; a short DELETE or UPDATE that takes tens of milliseconds and
        looks at as many blocks as the other table has.
    Hurts because: the server itself looks for rows that refer to the one that goes (ON DELETE NO ACTION, RESTRICT,
        CASCADE, SET NULL alike), once for each row; the index on the referenced column, which every foreign key has,
        does not help. The row that goes stays locked meanwhile.
    Speaks for it: the key without an index; rows of the referenced table deleted or updated; as many scans; how much of
        what the statement looks at is of the other table.
    Speaks against it: scans of the table far more often than rows go: others read it, too.
    Remedy: PostgreSQL: CREATE INDEX CONCURRENTLY on the referencing columns. Where rows seldom go, delete them in
        one statement at a quiet hour. Where nobody needs the constraint, drop it.
    Verify: The scans of the referencing table stop; the time of each DELETE falls to that of an INSERT.
    Source: PostgreSQL documentation, "Foreign Keys" ("it is often a good idea to index the referencing columns too"),
        pg_constraint, pg_stat_all_tables.
    """
    for read in whole_reads(case):
        for key in dependencies(case, read).foreign_keys(read.table):
            claim = _claim(case, read, key)
            if claim is not None:
                yield claim
                break  # the columns of one key are read whole by that key; a second would tell the same scans


def _claim(case: Case, read: WholeRead, key: ForeignKey) -> Claim | None:
    deleted, updated = (_rows(case, name, read, key) for name in (DELETED, UPDATED))
    statement = _statement(case, read, key)
    matched = deleted >= MOST * read.scans_per_s
    part = read.part_of(statement) if statement else None
    if not deleted + updated or not (matched or part):
        return None
    share = statement.share * (1.0 if part is None else part) if statement else None
    slowed = statement is not None and is_slowed(statement, 1.0 if part is None else part)
    if share is not None and not slowed and not case.worth_saying(share):
        return None
    return Claim(
        phrase("Foreign key {} has no index: each row that goes from {} has all of {} read",
               key.name, key.referenced, read.table),
        impact=NOT_MEASURED if share is None else measured(share),
        confidence=0.95 if matched and part else 0.85 if part else 0.7,
        severity=None if share is None else severity(case, share, slowed=slowed),
        for_=[_key(read, key), scanned(read), *_gone(read, key, deleted, updated), *_work(read, statement)],
        against=[] if matched else _more_scans(read, deleted),
        first_steps=[phrase("First: CREATE INDEX CONCURRENTLY ON {} ({});", read.table, listed(*key.columns))],
        database=read.figure.db,
    )  # fmt: skip


def _rows(case: Case, name: str, read: WholeRead, key: ForeignKey) -> float:
    """Rows of the referenced table a second, as a figure counts them."""
    entity = f"{read.database}.{key.referenced}"
    return sum(it.mean for it in case.figures(name) if (it.db, it.entity) == (read.figure.db, entity))


def _statement(case: Case, read: WholeRead, key: ForeignKey) -> Statement | None:
    """The statement that deletes or changes the referenced rows, with most time; by its work, where none names them."""
    own = [one for one in case.statements if one.db == read.figure.db and one.calls_per_s and not read.is_named_by(one)]
    likely = [one for one in own if read.part_of(one) is None or read.part_of(one)]
    named = [one for one in likely if _changes(one, key.referenced)]
    return next(iter(named or [one for one in likely if (read.part_of(one) or 0.0) >= MOST]), None)


def _changes(statement: Statement, table: str) -> bool:
    bare = table.rpartition(".")[2].lower()
    return any(write.table == bare and CHECKS & {*write.events} for write in writes(statement.text or ""))


def _key(read: WholeRead, key: ForeignKey) -> Evidence:
    return Evidence(
        "setting",
        f"component = 'pg_constraint' and name = '{read.entity} {key.name}'",
        phrase("{} ({}) references {}", key.name, ", ".join(key.columns), key.referenced),
        "",
        phrase("no index of {} begins with one of these columns", read.table),
    )


def _gone(read: WholeRead, key: ForeignKey, deleted: float, updated: float) -> list[Evidence]:
    """Rows of the referenced table that go or change, against the scans."""
    entity = f"{read.database}.{key.referenced}"
    name, per_s, what = (DELETED, deleted, "deleted") if deleted else (UPDATED, updated, "updated")
    return [
        Evidence(
            "statistic",
            f"name = '{name}' and entity = '{entity}'",
            phrase("{:.1f rows/s} of {} are {}", per_s, key.referenced, what),
            phrase("{:.1f} scans of {}", read.scans_per_s, read.table),
            "one scan for each, by the server's own check"
            if deleted
            else "where the key itself is changed, one for each",
        )
    ]


def _work(read: WholeRead, statement: Statement | None) -> list[Evidence]:
    if statement is None:
        return []
    where = f"statement_id = '{statement.statement_id}'"
    told = Evidence("statement", where, per_call(statement), "", shortened(statement.text or ""))
    return [told, *in_its_blocks(read, statement)]


def _more_scans(read: WholeRead, deleted: float) -> list[Evidence]:
    where = f"name = 'pg_stat_user_tables.seq_scan' and entity = '{read.entity}'"
    figure = phrase("{:.1f scans/s}, and {:.1f rows/s} deleted", read.scans_per_s, deleted)
    return [Evidence("statistic", where, figure, "", "others read the table whole as well")]
