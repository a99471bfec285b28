"""The rules by which text is sorted changed below a server: its indexes are in an order that holds no longer."""

from collections.abc import Iterator, Sequence

from doctord.analyse.errors import LOGGED, Logged, logged
from doctord.analyse.sql.collations import INDEXES, LARGEST, Changed, changed
from doctord.dataset.collations import COMPONENT
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, Words, phrase

# What the server warns of at the first use in each session.
WARNED = ("has a collation version mismatch", "has version mismatch")
MOST_NAMED = 4
WHICH_INDEXES = NotMeasured(
    "which indexes are sorted by it",
    "that database was not looked into",
    "CONNECT on it, for the role that doctord connects as; or in it: select indexrelid::regclass from pg_index where "
    "0 <> any (indcollation::oid[])",
)


@cause()
def collation_version_changed(case: Case) -> Iterator[Claim]:
    """The version of a collation is not the one with which indexes were built: what they find may be wrong.

    Looks like: the server warns, once in a session, that a database or collation has a version mismatch; rows that are
        there are not found by their name; the same key stands twice below a unique index. No error, no wait.
    Hurts because: an index of text is sorted by rules of the C library or of ICU, which an upgrade of the system, a
        move to another host or a restored copy of the files changes. Searches, joins, ORDER BY and unique keys follow
        an order that no longer holds: wrong answers, duplicates, and a damaged index with each new row.
    Speaks for it: the recorded version against the actual one; the number of indexes that the collation sorts; the
        server's own warning.
    Speaks against it: no index is sorted by it: then nothing is wrong, and the recorded version can be set anew.
    Remedy: Find out first what is damaged, before anything is called right: in each database CREATE EXTENSION
        amcheck, then bt_index_check(index, heapallindexed => true) for each index that is named here (a unique one from
        version 17 on with checkunique => true); an order that the change did not touch is told by no error. Where the
        answers matter now, stop writing to those tables, or go back to the old library until they are rebuilt. Then
        REINDEX INDEX CONCURRENTLY each of them (REINDEX DATABASE CONCURRENTLY for all of a database); a unique index
        that fails to be built has duplicates: resolve these first. Tables that are partitioned by ranges of text, and
        CHECK constraints that compare text, have to be looked through too. Last of all ALTER DATABASE ... REFRESH
        COLLATION VERSION (ALTER COLLATION ... REFRESH VERSION), in the template databases too: never this alone, for it
        silences the warning and mends no index. So that it does not come again: the builtin provider or C where order
        for people is not needed (version 17 on), and a REINDEX in the plan of each upgrade of the system.
    Verify: bt_index_check passes for each index; pg_database.datcollversion equals
        pg_database_collation_actual_version(oid) (pg_collation.collversion pg_collation_actual_version(oid)); no new
        warning in the log.
    Source: PostgreSQL documentation, ALTER DATABASE (REFRESH COLLATION VERSION), ALTER COLLATION (Notes), pg_database,
        "Database Object Management Functions", amcheck, REINDEX; PostgreSQL wiki, "Locale data changes".
    """
    found = changed(case.dataset)
    for one in found:
        if one.indexes is None or one.indexes:
            yield _unsafe(case, one)
    for db in sorted({one.db for one in found}):
        idle = [one for one in found if one.db == db and one.indexes == 0]
        if idle and len(idle) == sum(one.db == db for one in found):
            yield _without_indexes(case, db, idle)
    looked_at = {one.db for one in found}
    for db in sorted({one.db for one in logged(case.dataset)} - looked_at):
        if warned := _warned(case, db):
            yield _of_log(db, warned)


def _unsafe(case: Case, one: Changed) -> Claim:
    """The claim on a collation that sorts indexes, or may."""
    counted = one.indexes is not None
    wrong = phrase("{:count index/indexes}", one.indexes) if counted else "indexes of text"
    return Claim(
        phrase("{} changed from version {} to {}: {} may give wrong answers", _whose(one), *one.versions, wrong),
        impact=NOT_MEASURED,
        confidence=0.95 if counted else 0.75,
        severity="critical" if counted else "warning",
        for_=[_versions(one), *_indexes(one), *_told(_warned(case, one.db))],
        not_measured=() if counted else [WHICH_INDEXES],
        first_steps=_first(one),
        database=one.db,
    )


def _without_indexes(case: Case, db: str, idle: Sequence[Changed]) -> Claim:
    """The claim that versions differ and no index depends on them."""
    return Claim(
        phrase("{} changed from version {} to {}; no index is sorted by it", _whose(idle[0]), *idle[0].versions),
        impact=NOT_MEASURED,
        confidence=0.95,
        severity="note",
        for_=[*map(_versions, idle[:MOST_NAMED]), *_told(_warned(case, db))],
        against=[
            Evidence("statistic", f"name = '{INDEXES}' and entity = '{one.name}'", "no index is sorted by it",
                     "", "nothing is in an order that holds no longer")
            for one in idle[:1]
        ],
        first_steps=["No index depends on it: after a look at partitions by ranges of text, only the recorded version "
                     "is to be set anew."],
        database=db,
    )  # fmt: skip


def _of_log(db: str, warned: Sequence[Logged]) -> Claim:
    """The claim of a server whose log alone tells of it."""
    return Claim(
        phrase("The server {} warns that a collation has another version than was recorded", db),
        impact=NOT_MEASURED,
        confidence=0.9,
        severity="warning",
        for_=_told(warned),
        not_measured=[WHICH_INDEXES],
        database=db,
    )


def _whose(one: Changed) -> Phrase:
    if one.collation is None:
        return phrase("The collation of database {}", one.database)
    return phrase("Collation {} of database {}", one.collation, one.database)


def _versions(one: Changed) -> Evidence:
    return Evidence(
        "setting",
        f"component = '{COMPONENT}' and name = '{one.name}'",
        phrase("{}: recorded {}, now {}", one.name, *one.versions),
        "",
        "the order of text may be another than that in which indexes were built",
    )


def _indexes(one: Changed) -> list[Evidence]:
    """How many it sorts, and the largest of them."""
    if not one.indexes:
        return []
    counted = Evidence(
        "statistic",
        f"name = '{INDEXES}' and entity = '{one.name}'",
        phrase("{:count index/indexes} sorted by it, {:bytes}", one.indexes, one.bytes),
        "",
        phrase("{} of them unique: they may hold the same key twice", one.unique) if one.unique else "none is unique",
    )
    return [
        counted,
        *(
            Evidence("statistic", f"name = '{LARGEST}' and entity = '{name}'", phrase("{}: {:bytes}", name, size), "",
                     "to be checked, then built anew")
            for name, size in one.largest[:MOST_NAMED]
        ),
    ]  # fmt: skip


def _first(one: Changed) -> list[Words]:
    """The commands in their order, with the names of this database."""
    if one.collation is None:
        last = phrase('ALTER DATABASE "{}" REFRESH COLLATION VERSION', one.database)
    else:
        last = phrase("ALTER COLLATION {} REFRESH VERSION", one.collation)
    index = one.largest[0][0].partition(" on ")[0].partition(".")[2] if one.largest else "..."
    return [
        phrase("In database {}: CREATE EXTENSION amcheck; SELECT bt_index_check('{}', true); and so each index; then "
               "REINDEX INDEX CONCURRENTLY {}; and so each; and only when all are built {}.",
               one.database, index, index, last)
    ]  # fmt: skip


def _warned(case: Case, db: str) -> list[Logged]:
    return [one for one in logged(case.dataset) if one.db == db and any(words in one.message for words in WARNED)]


def _told(warned: Sequence[Logged]) -> list[Evidence]:
    """The server's own words."""
    return [
        Evidence("statistic", f"name = '{LOGGED}' and entity = '{one.entity}'",
                 phrase("{}: {:count time/times}", one.entity, round(one.count)), "", "the server's own warning")
        for one in warned[:MOST_NAMED]
    ]  # fmt: skip
