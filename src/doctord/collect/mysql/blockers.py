"""Who holds what sessions wait for: rows by InnoDB's lock waits, tables by the metadata locks of performance_schema.

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
_ON_METADATA: Final = "metadata lock"
_OF_ROWS: Final = "who holds rows"
_OF_TABLES: Final = "who holds metadata locks"
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
    "SELECT /* doctord */ t.processlist_id AS doctord, m.object_schema, m.object_name, m.lock_type, "
    "m.lock_status = 'GRANTED' FROM performance_schema.metadata_locks m "
    "JOIN performance_schema.threads t ON t.thread_id = m.owner_thread_id "
    "WHERE m.object_type = 'TABLE' AND t.processlist_id IS NOT NULL AND EXISTS ("
    "SELECT 1 FROM performance_schema.metadata_locks w WHERE w.lock_status = 'PENDING' AND w.object_type = 'TABLE' "
    "AND w.object_schema = m.object_schema AND w.object_name = m.object_name) LIMIT 2000"
)
_INSTRUMENT: Final = (
    "UPDATE performance_schema.setup_instruments SET enabled = 'YES' WHERE name = 'wait/lock/metadata/sql/mdl'"
)
# What keeps readers and writers out. Source: MySQL Reference Manual, "The metadata_locks Table" and "Metadata Locking".
_KEEPS_OUT: Final = frozenset({"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_NO_WRITE", "SHARED_READ_ONLY"})


class MetadataLock(NamedTuple):
    """A lock on a table's definition, held or waited for."""

    sid: int
    schema: str
    table: str
    mode: str
    is_held: bool


class Blockers:
    """The first session that blocks each that waits, by the sessions' numbers."""

    def __init__(self) -> None:
        """Nobody is known to wait."""
        self._known: dict[int, int] = {}
        self._asked_at = 0.0
        self.refused: dict[str, UserError] = {}
        self._not_now = Refusals()

    def look(self, link: Link, threads: Iterable[Thread], *, is_mariadb: bool) -> Mapping[int, int]:
        """Those of the moment; what may not be read is in `refused`, by what is not seen.

        Raises:
            Away: the connection broke.
        """
        waiting = [one for one in threads if one.waits_for_lock or _ON_METADATA in (one.state or "")]
        if not waiting:
            self._known = {}
        elif time.monotonic() - self._asked_at >= _EVERY_S:
            self._asked_at, self._known = time.monotonic(), {}
            if any(one.waits_for_lock for one in waiting):
                self._known |= self._of_rows(link, is_mariadb=is_mariadb)
            if any(not one.waits_for_lock for one in waiting):
                self._known |= self._of_tables(link)
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

    def _of_tables(self, link: Link) -> dict[int, int]:
        if _OF_TABLES in self._not_now:
            return {}
        try:
            told = link.query(_METADATA_LOCKS)
        except UserError as refusal:
            self.refused[_OF_TABLES] = refusal
            self._not_now.add(_OF_TABLES)
            return {}
        locks = [MetadataLock(int(sid), schema, table, mode, bool(held)) for sid, schema, table, mode, held in told]
        if not locks:
            self.refused[_OF_TABLES] = UserError("metadata locks are not instrumented", _INSTRUMENT)
        return behind_tables(locks)


def behind_tables(locks: Iterable[MetadataLock]) -> dict[int, int]:
    """Who waits for a table's definition, and behind whom: who holds it, else who stands before in line.

    >>> read, wants = MetadataLock(1, "s", "t", "SHARED_READ", True), MetadataLock(2, "s", "t", "EXCLUSIVE", False)
    >>> behind_tables([read, wants, MetadataLock(3, "s", "t", "SHARED_READ", False)])
    {2: 1, 3: 2}
    """
    known = [*locks]
    found = dict[int, int]()
    for wanted in (lock for lock in known if not lock.is_held):
        others = [it for it in known if it.sid != wanted.sid and (it.schema, it.table) == (wanted.schema, wanted.table)]
        held = [it for it in others if it.is_held and (it.mode in _KEEPS_OUT or wanted.mode in _KEEPS_OUT)]
        first_in_line = [it for it in others if not it.is_held and it.mode in _KEEPS_OUT]
        if ahead := held or first_in_line:
            found.setdefault(wanted.sid, ahead[0].sid)
    return found
