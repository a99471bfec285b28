"""Which locks on tables a session holds while others wait for it; its last statement need not have taken them.

pg_locks, which takes the lock manager's locks, is asked only for sessions that others wait for to get at a table, and
not more than once in two seconds.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

NAME: Final = "pg_locks.table_lock"
_EVERY_S: Final = 2.0
_SESSIONS_AT_MOST: Final = 8
_HELD: Final = """\
WITH locks AS MATERIALIZED (
    SELECT database, relation, pid, mode, granted FROM pg_locks WHERE locktype = 'relation')
SELECT /* doctord */ l.pid, l.mode, coalesce(n.nspname || '.' || c.relname, l.relation::text) AS relation
FROM locks AS l
LEFT JOIN pg_class AS c ON c.oid = l.relation
          AND l.database IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
LEFT JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE l.pid = ANY(%s) AND l.granted
  AND (l.database, l.relation) IN (SELECT database, relation FROM locks WHERE NOT granted)
ORDER BY l.pid, l.relation LIMIT 32"""


class TableLocks:
    """Fills `statistic`: 1 for each lock that such a session holds on a table that others wait for.

    The entity is `PID MODE RELATION`. The relation is `schema.name` in the database that is looked from, else its oid.
    """

    def __init__(self) -> None:
        """Nothing is looked at yet."""
        self._looked_at = 0.0

    def look(self, link: Link, active: Sequence[Mapping[str, Any]], blockers: Mapping[int, int | None]) -> list[Batch]:
        """Rows for one sample: `active` as pg_stat_activity has it, `blockers` by who waits.

        Raises:
            Away: the connection broke.
            UserError: pg_locks is not to be read.
        """
        held = {blockers.get(row["pid"]) for row in active if row["wait_event"] == "relation"}
        roots = sorted(pid for pid in held if pid)[:_SESSIONS_AT_MOST]
        if not roots or time.monotonic() - self._looked_at < _EVERY_S:
            return []
        figures = Figures(link.db)
        for row in link.query(_HELD, (roots,), prepare=True):
            figures.gauge(NAME, 1.0, "boolean", f"{row['pid']} {row['mode']} {row['relation']}")
        self._looked_at = time.monotonic()
        return figures.batches()
