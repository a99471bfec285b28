"""Published tables: changes that the server refuses, for no subscriber would know which row was meant."""

from collections.abc import Iterator, Sequence
from typing import Final

from doctord.analyse.errors import LOGGED, Logged, failures, logged
from doctord.analyse.sql.publications import CHANGES, WithoutIdentity, without_identity
from doctord.dataset.publications import COMPONENT
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.failures import OFTEN, OTHER, failed
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import Phrase, Words, phrase
from doctord.diagnose.words import shortened

REFUSED: Final = "does not have a replica identity"
FAILING: Final = ("transactions_fail", "errors_logged", "rollbacks_many")
MOST: Final = 0.5
MOST_NAMED: Final = 4


@cause()
def replica_identity_missing(case: Case) -> Iterator[Claim]:
    """A table is published without a replica identity: every UPDATE and DELETE of it fails.

    Looks like: errors 55000, "cannot update table ... because it does not have a replica identity and publishes
        updates" (or "cannot delete from table"); inserts into the table go on. It begins as a publication is made, FOR
        ALL TABLES or IN SCHEMA above all, or as the primary key of a published table is dropped.
    Hurts because: the change is refused whether or not anybody subscribes; all others work, so that the part of the
        transactions that fail may be small.
    Speaks for it: the catalogue (pg_publication_tables; no primary key that is checked at once, relreplident neither
        full nor an index); errors of that message; rows of the table that were updated or deleted before.
    Speaks against it: none was updated or deleted since the statistics were reset: rows are only added to it.
    Remedy: Give the table a primary key, or ALTER TABLE ... REPLICA IDENTITY USING INDEX (unique, not partial, not
        deferrable, of columns that are NOT NULL). REPLICA IDENTITY FULL helps at once and needs no index: each old row
        goes into the WAL whole, and a subscriber without an index looks for it in all rows. Or publish less of it:
        ALTER PUBLICATION ... SET (publish = 'insert'), or the tables that are wanted in place of ALL TABLES.
    Verify: No new error of that message; the table is updated.
    Source: PostgreSQL documentation, "Logical Replication" (Publication), CREATE PUBLICATION (Notes), ALTER TABLE
        (REPLICA IDENTITY), "PostgreSQL Error Codes" (55000).
    """
    found, messages = without_identity(case.dataset), failures(logged(case.dataset))
    for db in sorted({*(one.db for one in found), *(one.db for one in messages)}):
        tables = [one for one in found if one.db == db]
        refused = [one for one in messages if one.db == db and REFUSED in one.message]
        if refused:
            yield _refused(case, db, refused, tables)
        elif tables:
            yield _to_come(db, tables)


def _refused(case: Case, db: str, refused: Sequence[Logged], tables: Sequence[WithoutIdentity]) -> Claim:
    """The claim on changes that failed."""
    count = sum(one.count for one in refused)
    of_all = sum(one.count for each in failed(case, db) if each.kind is OTHER for one in each.messages)
    return Claim(
        phrase("{}: {:count time/times} (log of {})", shortened(refused[0].message, 110), round(count), db),
        impact=NOT_MEASURED,
        confidence=0.95,
        severity="critical" if count >= OFTEN else "warning",
        for_=[
            *(Evidence("statistic", f"name = '{LOGGED}' and entity = '{one.entity}'",
                       phrase("{:count time/times}", round(one.count)), "", shortened(one.message))
              for one in refused[:MOST_NAMED]),
            *(_catalogued(one) for one in _named(refused, tables)[:MOST_NAMED]),
        ],
        first_steps=_steps(_named(refused, tables)),
        database=db,
        explains=FAILING if count >= MOST * of_all else (),
    )  # fmt: skip


def _to_come(db: str, tables: Sequence[WithoutIdentity]) -> Claim:
    """The claim on tables of which the next change will fail."""
    changed = [one for one in tables if one.changes]
    return Claim(
        phrase("UPDATE or DELETE of {}{} will fail: published without a replica identity", tables[0].table,
               phrase(" and {:count other table/other tables}", len(tables) - 1) if tables[1:] else ""),
        impact=NONE_YET,
        confidence=0.95,
        severity="warning" if changed else "note",
        for_=[*map(_catalogued, tables[:MOST_NAMED]), *map(_changed, changed[:MOST_NAMED])],
        against=[] if changed else [
            Evidence("statistic", f"name = '{CHANGES}' and db = '{db}'", phrase("{:count row/rows}", 0), "",
                     "none was updated or deleted since the statistics were reset")
            for one in tables[:1] if one.changes is not None
        ],
        first_steps=_steps(tables),
        database=db,
    )  # fmt: skip


def _named(refused: Sequence[Logged], tables: Sequence[WithoutIdentity]) -> list[WithoutIdentity]:
    """The tables that messages are about, where these name them; else all that the catalogue knows."""
    own = [one for one in tables if any(f'"{one.name.rpartition(".")[2]}"' in each.message for each in refused)]
    return own or [*tables]


def _catalogued(one: WithoutIdentity) -> Evidence:
    return Evidence(
        "setting",
        f"component = '{COMPONENT}' and name = '{one.table}'",
        phrase("{}: published by {}", one.table, one.published),
        "",
        "no primary key, and no other replica identity",
    )


def _changed(one: WithoutIdentity) -> Evidence:
    return Evidence(
        "statistic",
        f"name = '{CHANGES}' and entity = '{one.table}'",
        phrase("{}: {:,.0f} rows updated or deleted", one.table, one.changes),
        "",
        "since the statistics were reset: whoever does so is refused now",
    )


def _steps(tables: Sequence[WithoutIdentity]) -> list[Words]:
    """What helps at once, for the tables that are named."""
    return [_step(one) for one in tables[:MOST_NAMED]]


def _step(one: WithoutIdentity) -> Phrase:
    return phrase("ALTER TABLE {} REPLICA IDENTITY FULL; helps at once; a primary key is better.", one.name)
