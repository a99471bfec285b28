"""Who holds what sessions wait for: rows by InnoDB's lock waits, all else by the metadata locks of performance_schema.

Those are on tables and other objects, of a backup (LOCK INSTANCE FOR BACKUP), of the whole server (FLUSH TABLES WITH
READ LOCK), and of an application's own making (GET_LOCK).

Both are asked only while somebody waits, and not more than twice a second.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from doctord.collect.core.link import Link
from doctord.collect.mysql.activity import Thread
from doctord.collect.mysql.refusals import Refusals
from doctord.errors import UserError

_EVERY_S: Final = 0.5
# States of threads that wait for one of them.
_ON_METADATA: Final = ("metadata lock", "backup lock", "global read lock", "commit lock", "User lock")
_OF_ROWS: Final = "who holds rows"
_OF_METADATA: Final = "who holds metadata locks"
# Of who is ahead, one that waits for nothing is the one to look at: else the queue itself would be told.
_ROWS: Final = (
    "SELECT /* doctord */ r.trx_mysql_thread_id AS doctord, "
    "COALESCE(MIN(IF(b.trx_state = 'LOCK WAIT', NULL, b.trx_mysql_thread_id)), MIN(b.trx_mysql_thread_id)) "
    "FROM {waits} w JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_{id} "
    "JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_{id} GROUP BY r.trx_mysql_thread_id"
)
_ROW_LOCKS: Final = {
    True: _ROWS.format(waits="information_schema.innodb_lock_waits", id="trx_id"),
    False: _ROWS.format(waits="performance_schema.data_lock_waits", id="engine_transaction_id"),
}
_METADATA_LOCKS: Final = (
    "SELECT /* doctord */ t.processlist_id AS doctord, m.object_type, COALESCE(m.object_schema, ''), "
    "COALESCE(m.object_name, ''), m.lock_type, m.lock_status = 'GRANTED' FROM performance_schema.metadata_locks m "
    "JOIN performance_schema.threads t ON t.thread_id = m.owner_thread_id "
    "JOIN (SELECT DISTINCT object_type, object_schema, object_name FROM performance_schema.metadata_locks "
    "WHERE lock_status = 'PENDING') w ON w.object_type = m.object_type AND w.object_schema <=> m.object_schema "
    "AND w.object_name <=> m.object_name WHERE t.processlist_id IS NOT NULL LIMIT 2000"
)
_INSTRUMENT: Final = (
    "UPDATE performance_schema.setup_instruments SET enabled = 'YES' WHERE name = 'wait/lock/metadata/sql/mdl'"
)
# What keeps readers and writers out. Source: MySQL Reference Manual, "The metadata_locks Table" and "Metadata Locking".
_KEEPS_OUT: Final = frozenset({"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_NO_WRITE", "SHARED_READ_ONLY"})
# Of what is no object but a scope, who changes takes an intention to, and SHARED keeps those out, as they do it.
_SCOPES: Final = frozenset({"GLOBAL", "COMMIT", "BACKUP LOCK", "SCHEMA", "TABLESPACE"})
_OF_SCOPES: Final = frozenset({"EXCLUSIVE", "SHARED"})


class MetadataLock(NamedTuple):
    """A lock held or waited for, on a table's definition or something else: `kind` is the server's object type."""

    sid: int
    kind: str
    schema: str
    name: str
    mode: str
    is_held: bool

    @property
    def thing(self) -> tuple[str, str, str]:
        """What it is on."""
        return self.kind, self.schema, self.name

    @property
    def keeps_out(self) -> bool:
        """Whether it lets none of those that read and write in."""
        return self.mode in (_OF_SCOPES if self.kind in _SCOPES else _KEEPS_OUT)

    def is_in_the_way_of(self, wanted: "MetadataLock") -> bool:
        """Whether, held, it may keep another one waiting: of a scope, two alike never do."""
        is_alike = self.mode == wanted.mode and self.mode != "EXCLUSIVE"
        return (self.keeps_out or wanted.keeps_out) and not (self.kind in _SCOPES and is_alike)


class Blockers:
    """The first session that blocks each that waits, by the sessions' numbers."""

    def __init__(self) -> None:
        """Nobody is known to wait."""
        self._known: dict[int, int] = {}
        self._asked_at = 0.0
        self.refused: dict[str, UserError] = {}
        self._not_now = Refusals()

    @property
    def holders(self) -> set[int]:
        """Whom others were seen to wait for at the last look, as far as they are sessions."""
        return {by for by in self._known.values() if by}

    def look(self, link: Link, threads: Iterable[Thread], *, is_mariadb: bool) -> Mapping[int, int]:
        """Those of the moment; what may not be read is in `refused`, by what is not seen.

        Raises:
            Away: the connection broke.
        """
        waiting = [one for one in threads if one.waits_for_lock or (one.state or "").endswith(_ON_METADATA)]
        if not waiting:
            self._known = {}
        elif time.monotonic() - self._asked_at >= _EVERY_S:
            self._asked_at, self._known = time.monotonic(), {}
            if any(one.waits_for_lock for one in waiting):
                self._known |= self._of_rows(link, is_mariadb=is_mariadb)
            if any(not one.waits_for_lock for one in waiting):
                self._known |= self._of_metadata(link)
        return self._known

    def _of_rows(self, link: Link, *, is_mariadb: bool) -> dict[int, int]:
        if _OF_ROWS in self._not_now:
            return {}
        try:
            return {int(sid): int(by) for sid, by in link.query(_ROW_LOCKS[is_mariadb])}
        except UserError as refusal:
            self.refused[_OF_ROWS] = refusal
            self._not_now.add(_OF_ROWS)
            return {}

    def _of_metadata(self, link: Link) -> dict[int, int]:
        if _OF_METADATA in self._not_now:
            return {}
        try:
            told = link.query(_METADATA_LOCKS)
        except UserError as refusal:
            self.refused[_OF_METADATA] = refusal
            self._not_now.add(_OF_METADATA)
            return {}
        locks = [_lock(*row) for row in told]
        if not locks:
            self.refused[_OF_METADATA] = UserError("metadata locks are not instrumented", _INSTRUMENT)
        return behind(locks)


def _lock(sid: int, kind: str, schema: str, name: str, mode: str, held: int) -> MetadataLock:  # noqa: PLR0917 - a row
    return MetadataLock(int(sid), kind, schema, name, mode, bool(held))


def behind(locks: Iterable[MetadataLock]) -> dict[int, int]:
    """Who waits for such a lock, and behind whom: who holds it, else who stands before in line.

    >>> of = "TABLE", "s", "t"
    >>> read, wants = MetadataLock(1, *of, "SHARED_READ", True), MetadataLock(2, *of, "EXCLUSIVE", False)
    >>> behind([read, wants, MetadataLock(3, *of, "SHARED_READ", False)])
    {2: 1, 3: 2}
    """
    known = [*locks]
    found = dict[int, int]()
    for wanted in (lock for lock in known if not lock.is_held):
        others = [it for it in known if it.sid != wanted.sid and it.thing == wanted.thing]
        held = [it for it in others if it.is_held and it.is_in_the_way_of(wanted)]
        first_in_line = [it for it in others if not it.is_held and it.keeps_out]
        if ahead := held or first_in_line:
            found.setdefault(wanted.sid, ahead[0].sid)
    return found
