"""Who waits to commit with NOTIFY: in pg_stat_activity a wait for some object, in pg_locks for database 0.

A transaction that notified takes that lock before its commit and keeps it until the commit is done, synchronous standby
included: commits with NOTIFY go one by one. Source: PostgreSQL's source, PreCommit_Notify in
src/backend/commands/async.c; documentation, "NOTIFY". pg_locks is asked only while somebody waits for an object, and
not more than twice a second.
"""

import math
import time
from collections.abc import Sequence
from typing import Any, Final

from doctord.collect.postgres.connection.link import Link

EVENT: Final = "object (NOTIFY)"
_OBJECT: Final = "object"
_EVERY_S: Final = 0.5
# Of who waits too briefly to be met in pg_locks the last look tells, if that is not long ago.
_HOLDS_FOR_S: Final = 5.0
_WAITING: Final = """\
SELECT /* doctord */ pid, database = 0 AND classid = 'pg_catalog.pg_database'::regclass AND objid = 0 AS notifies
FROM pg_locks WHERE locktype = 'object' AND NOT granted
"""


class NotifyQueue:
    """Tells such waits from those for other objects. `databases` are those where some were seen (read by others)."""

    def __init__(self) -> None:
        """Nobody was seen yet."""
        self.databases: frozenset[int] = frozenset()
        self._asked_at = self._seen_at = -math.inf
        self._known: dict[int, bool] = {}
        self._are_usual = False

    def named(self, link: Link, active: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows of pg_stat_activity, the event of these waits being EVENT.

        Raises:
            Away: The connection broke.
            UserError: pg_locks is not to be read.
        """
        waiting = {row["pid"] for row in active if _is_for_object(row)}
        if not waiting:
            self._known = {}
            return [*active]
        self._look(link)
        found = {pid for pid in waiting if self._known.get(pid, self._are_usual)}
        self.databases |= {row["datid"] for row in active if row["pid"] in found and row["datid"]}
        return [row | {"wait_event": EVENT} if row["pid"] in found else row for row in active]

    def _look(self, link: Link) -> None:
        now = time.monotonic()
        if now - self._asked_at < _EVERY_S:
            return
        self._asked_at = now
        self._known = {row["pid"]: row["notifies"] for row in link.query(_WAITING, prepare=True)}
        if self._known:
            self._are_usual, self._seen_at = all(self._known.values()), now
        elif now - self._seen_at > _HOLDS_FOR_S:
            self._are_usual = False


def _is_for_object(row: dict[str, Any]) -> bool:
    return (row["wait_event_type"], row["wait_event"]) == ("Lock", _OBJECT)
