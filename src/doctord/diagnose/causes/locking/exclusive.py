"""Statements that lock others out of a table, and how each of them is done without, by PostgreSQL's documentation."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from doctord.regex import regex

COMMENT: Final = regex(r"/\*.*?\*/|--[^\n]*", re.DOTALL)


class Exclusive(NamedTuple):
    """A kind of statement, by what its text begins with, and what to do in its place."""

    begins: re.Pattern[str]
    instead: str


def _begins(words: str) -> re.Pattern[str]:
    return re.compile(r"\s*" + words.replace(" ", r"\s+") + r"(?!\w)", re.IGNORECASE)


# Sources: the pages of these commands, and "Explicit Locking".
KINDS: Final = (
    Exclusive(
        _begins("refresh materialized view(?! concurrently)"),
        "REFRESH MATERIALIZED VIEW CONCURRENTLY lets readers go on: it takes a unique index on plain columns of the "
        "view, without WHERE, and longer; and refresh it no more often than its readers need.",
    ),
    Exclusive(
        _begins("create (?:unique )?index(?! concurrently)"),
        "CREATE INDEX CONCURRENTLY lets writers go on; it takes longer, and one that fails leaves an invalid index.",
    ),
    Exclusive(
        _begins(r"reindex(?! (?:\([^)]*\) )?(?:index|table|schema|database|system) concurrently)"),
        "REINDEX ... CONCURRENTLY lets readers and writers go on.",
    ),
    Exclusive(_begins("drop index(?! concurrently)"), "DROP INDEX CONCURRENTLY waits without making others wait."),
    Exclusive(
        _begins(r"(?:vacuum (?:\([^)]*\bfull\b[^)]*\)|full)|cluster)"),
        "VACUUM FULL and CLUSTER lock everybody out as long as they copy the table: a plain VACUUM is enough for dead "
        "rows; to give space back while it is used, an extension (pg_repack), or a quiet time.",
    ),
    Exclusive(
        _begins("alter (?:table|index|materialized view)"),
        "ALTER TABLE: set lock_timeout, and try again; nothing else in its transaction. ADD CONSTRAINT ... NOT VALID, "
        "and VALIDATE CONSTRAINT after it; DETACH PARTITION ... CONCURRENTLY; a new type or a volatile default "
        "writes the whole table anew: a new column in its place, filled by and by.",
    ),
    Exclusive(
        _begins("(?:truncate|drop (?:table|view|materialized view))"),
        "TRUNCATE and DROP: set lock_timeout, and try again; commit at once.",
    ),
    Exclusive(
        _begins("lock"),
        "LOCK TABLE: the weakest mode that serves (SHARE ROW EXCLUSIVE lets readers go on), NOWAIT or lock_timeout; or "
        "lock the rows that are meant (SELECT ... FOR UPDATE).",
    ),
    Exclusive(
        regex(r"(?s).*\bpg_(?:try_)?advisory_(?:xact_)?lock", re.IGNORECASE),
        "Advisory locks: take them for as short as can be, pg_advisory_xact_lock late in the transaction, one key for "
        "each thing and not one for all; pg_try_advisory_xact_lock where another may do the work later.",
    ),
)


def instead_of(texts: Iterable[str | None]) -> list[str]:
    """What to do in place of statements that lock others out, once for each kind.

    >>> [words.partition(" lets")[0] for words in instead_of(["refresh materialized view v", "SELECT 1", None])]
    ['REFRESH MATERIALIZED VIEW CONCURRENTLY']
    """
    plain = [COMMENT.sub(" ", text) for text in texts if text]
    found = (kind.instead for text in plain for kind in KINDS if kind.begins.match(text))
    return [*dict.fromkeys(found)]
