"""How full the shared lock table is, and who fills it."""

from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.secrets import program_name

_NAMED: Final = 3
# One look at the locks, added up there. A lock taken by the fast path is in its session's own memory, a predicate lock
# (SIReadLock) in a table of its own. Locks that several hold or wait for are one object.
_LOCKS: Final = """\
SELECT /* doctord */ locktype, pid, grouping(locktype) AS is_all, grouping(pid) AS is_of_all_sessions,
       count(*) AS entries,
       count(DISTINCT (locktype, database, relation, page, tuple, virtualxid, transactionid, classid, objid, objsubid)
             ::text) AS objects
FROM pg_locks WHERE NOT fastpath AND mode <> 'SIReadLock'
GROUP BY GROUPING SETS ((), (locktype), (locktype, pid))
HAVING grouping(pid) = 1 OR count(*) >= 100
ORDER BY entries DESC
"""
_WHO: Final = "SELECT /* doctord */ usename AS user, application_name AS program FROM pg_stat_activity WHERE pid = %s"


class LockTable:
    """Fills `statistic`: the objects in the lock table, entries by type of lock, and the three sessions with most.

    The entity of `pg_locks.held` is `advisory, session 4711 (app loader)`; who holds less than a hundred is not told.
    """

    name = "lock table"

    def __init__(self) -> None:
        """Due soon after the start, then every half minute."""
        self.cadence = Cadence(every_s=30, early_s=(5.0, 15.0))

    def read(self, link: Link) -> list[Batch]:
        """The table of this moment."""
        figures = Figures(link.db)
        named = 0
        for row in link.query(_LOCKS):
            if row["is_all"]:
                figures.gauge("pg_locks.objects", row["objects"])
            elif row["is_of_all_sessions"]:
                figures.gauge("pg_locks.entries", row["entries"], entity=row["locktype"])
            elif named < _NAMED:
                named += 1
                figures.gauge("pg_locks.held", row["entries"], entity=f"{row['locktype']}, {_holder(row, link)}")
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""


def _holder(row: dict[str, Any], link: Link) -> str:
    if row["pid"] is None:
        return "prepared transactions"
    found = link.query(_WHO, (row["pid"],))
    names = (found[0]["user"], program_name(found[0]["program"] or "")) if found else ()
    return f"session {row['pid']} ({' '.join(name for name in names if name) or 'unknown user'})"
