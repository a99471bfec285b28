"""Collations whose version is not the one that was recorded."""

from collections.abc import Iterator

from doctord.analyse.sql.collations import INDEXES, changed
from doctord.dataset.collations import COMPONENT
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation


@rule(COMPONENT)
def collation_version_changed(subject: Subject) -> Iterator[Violation]:
    """The version of a collation is not the one that was recorded.

    Why: the rules by which text is sorted come from the C library or from ICU. An index that was built by others is in
        an order that does not hold: rows are not found, a unique one may hold the same key twice, without any error.
    Evidence: the recorded version, the actual one, and how many indexes the collation sorts.
    Fix: amcheck's bt_index_check of each index, REINDEX INDEX CONCURRENTLY, and only then ALTER DATABASE ... REFRESH
        COLLATION VERSION (ALTER COLLATION ... REFRESH VERSION).
    Verify: pg_database.datcollversion equals pg_database_collation_actual_version(oid), pg_collation.collversion
        pg_collation_actual_version(oid).
    Source: PostgreSQL documentation, ALTER DATABASE (REFRESH COLLATION VERSION), ALTER COLLATION (Notes), amcheck.
    """
    for one in changed(subject.case.dataset):
        if one.db != subject.db:
            continue
        counted = [
            Evidence("statistic", f"name = '{INDEXES}' and entity = '{one.name}'",
                     phrase("{:count index/indexes} sorted by it", one.indexes), "",
                     phrase("{} of them unique", one.unique))
        ] if one.indexes is not None else []  # fmt: skip
        yield subject.violation(
            phrase("{}: recorded version {}, now {}", one.name, *one.versions),
            one.name,
            cost="no index is sorted by it" if one.indexes == 0 else "what its indexes find may be wrong",
            severity=Severity.NOTE if one.indexes == 0 else Severity.ERROR,
            evidence=counted,
        )
