"""Unlogged tables: how large each is, and how large it was at its last VACUUM or ANALYZE."""

from typing import Final

from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

# Of partitions each. A size is asked with a weak lock: a table that somebody holds, or wants, for himself is left out.
# A standby has no rows of theirs, and no files.
_UNLOGGED: Final = """\
SELECT /* doctord */ current_database() || '.' || n.nspname || '.' || c.relname AS entity,
       pg_relation_size(c.oid) AS used_bytes, c.relpages
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relpersistence = 'u' AND c.relkind IN ('r', 'm') AND NOT pg_is_in_recovery() AND c.oid NOT IN (
    SELECT relation FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND locktype = 'relation' AND relation IS NOT NULL)
ORDER BY c.relpages DESC, 1 LIMIT 50
"""


class Unlogged:
    """Fills `statistic` with the unlogged tables of one database, the fifty largest, by `database.schema.table`."""

    def __init__(self) -> None:
        """Nothing is told yet."""
        self._told = frozenset[str]()

    def read(self, link: Link, figures: Figures) -> None:
        """Sizes of this moment; no pages of one that was told before and is none of these any more."""
        found = link.query(_UNLOGGED)
        now = frozenset(row["entity"] for row in found)
        gone = [{"entity": name, "used_bytes": 0, "relpages": 0} for name in sorted(self._told - now)]
        for row in (*found, *gone):
            figures.gauge("pg_class.unlogged_bytes", row["used_bytes"], "bytes", row["entity"])
            figures.gauge("pg_class.unlogged_relpages", row["relpages"], "blocks", row["entity"])
        self._told = now
