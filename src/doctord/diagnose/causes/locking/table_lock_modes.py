"""Which locks on tables the session at the root of a tree holds, and which commands take such locks."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from doctord.analyse.locking.locks import Blocker
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase

HELD: Final = "pg_locks.table_lock"
MOST_TOLD: Final = 3
# Strongest first. Source: PostgreSQL documentation, "Explicit Locking", table-level lock modes.
TAKEN_BY: Final = {
    "AccessExclusiveLock": "TRUNCATE, DROP, VACUUM FULL, CLUSTER, REINDEX, most forms of ALTER TABLE, LOCK TABLE",
    "ExclusiveLock": "REFRESH MATERIALIZED VIEW CONCURRENTLY, LOCK TABLE",
    "ShareRowExclusiveLock": "CREATE TRIGGER, ALTER TABLE with a foreign key, LOCK TABLE",
    "ShareLock": "CREATE INDEX without CONCURRENTLY, LOCK TABLE",
    "ShareUpdateExclusiveLock": "VACUUM, ANALYZE, CREATE INDEX CONCURRENTLY, some forms of ALTER TABLE",
    "RowExclusiveLock": "INSERT, UPDATE, DELETE, MERGE",
    "RowShareLock": "SELECT FOR UPDATE or FOR SHARE",
    "AccessShareLock": "SELECT",
}
INSTEAD: Final = {
    "ShareLock": "CREATE INDEX CONCURRENTLY lets writers go on; it cannot stand in a transaction with others."
}


class TableLock(NamedTuple):
    """A lock that a session holds: its mode by the server's name, and `schema.table` or the table's oid."""

    mode: str
    relation: str


def held_by(case: Case, root: Blocker) -> list[TableLock]:
    """The strongest lock that it held on each table while others waited, strongest first; none where nobody looked."""
    names = (one.entity or "" for one in case.figures(HELD) if one.db == root.db)
    held = [TableLock(mode, relation) for sid, mode, relation in map(_split, names) if sid == str(root.sid)]
    strongest: dict[str, TableLock] = {}
    for lock in sorted((lock for lock in held if lock.mode in TAKEN_BY), key=lambda lock: [*TAKEN_BY].index(lock.mode)):
        strongest.setdefault(lock.relation, lock)
    return [*strongest.values()]


def holding(case: Case, roots: Sequence[Blocker]) -> Iterator[Evidence]:
    """What those at the roots hold."""
    for root in roots:
        for lock in held_by(case, root)[:MOST_TOLD]:
            yield Evidence(
                "statistic",
                f"name = '{HELD}' and entity = '{root.sid} {lock.mode} {lock.relation}'",
                phrase("session {} holds {} on {}", root.sid, lock.mode, lock.relation),
                "",
                phrase("taken by {}, and kept until its transaction ends: its last statement need not be the one",
                       TAKEN_BY[lock.mode]),
            )  # fmt: skip


def with_lock(case: Case, root: Blocker) -> Words:
    """The strongest lock that it holds, to follow its name in a title; empty where none was seen."""
    held = held_by(case, root)
    return phrase(", which holds {} on {}", held[0].mode, held[0].relation) if held else ""


def instead(case: Case, roots: Sequence[Blocker]) -> list[str]:
    """What to do in place of what took the locks, where the mode tells."""
    modes = [lock.mode for root in roots for lock in held_by(case, root)[:1]]
    return [*dict.fromkeys(INSTEAD[mode] for mode in modes if mode in INSTEAD)]


def _split(entity: str) -> tuple[str, str, str]:
    sid, _, rest = entity.partition(" ")
    mode, _, relation = rest.partition(" ")
    return sid, mode, relation
