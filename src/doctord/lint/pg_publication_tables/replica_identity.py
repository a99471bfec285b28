"""Published tables of which no change may be made."""

from collections.abc import Iterator

from doctord.analyse.sql.publications import CHANGES, without_identity
from doctord.dataset.publications import COMPONENT
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation


@rule(COMPONENT)
def replica_identity_missing(subject: Subject) -> Iterator[Violation]:
    """A table is published with its UPDATEs or DELETEs, and has no replica identity.

    Why: the server refuses each of these changes, for a subscriber could not tell which row was meant; rows can only be
        added to the table.
    Evidence: what its publications publish; rows that were updated or deleted since the statistics were reset.
    Fix: A primary key, or ALTER TABLE ... REPLICA IDENTITY USING INDEX; FULL where there is neither. Or publish inserts
        alone, or the tables that are wanted in place of ALL TABLES.
    Verify: The table is no row of pg_publication_tables without a primary key, or its relreplident in pg_class is f or
        i.
    Source: PostgreSQL documentation, "Logical Replication" (Publication), CREATE PUBLICATION (Notes), ALTER TABLE
        (REPLICA IDENTITY).
    """
    for one in without_identity(subject.case.dataset):
        if one.db != subject.db:
            continue
        counted = [
            Evidence("statistic", f"name = '{CHANGES}' and entity = '{one.table}'",
                     phrase("{:,.0f} rows updated or deleted", one.changes), "", "whoever does so is refused now")
        ] if one.changes else []  # fmt: skip
        yield subject.violation(
            phrase("{}: published by {}, without a replica identity", one.table, one.published),
            one.table,
            cost="each such change fails"
            if counted
            else "none was made since the statistics were reset: rows may only be added to it",
            severity=Severity.ERROR if counted else Severity.NOTE,
            evidence=counted,
        )
