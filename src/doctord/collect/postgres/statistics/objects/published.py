"""Tables that are published and of which UPDATE or DELETE fails: nothing tells a subscriber which row it was."""

import os
from typing import Final

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.publications import COMPONENT
from doctord.dataset.rows import now_us, rows

# Catalogues alone. What changes is a partition, whichever of its ancestors is published. A primary key serves where it
# is checked at once (execReplication.c, relcache.c).
_WITHOUT: Final = """\
WITH RECURSIVE published AS (
    SELECT t.pubname, p.pubupdate, p.pubdelete, c.oid
    FROM pg_publication AS p JOIN pg_publication_tables AS t ON t.pubname = p.pubname
         JOIN pg_namespace AS n ON n.nspname = t.schemaname
         JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = t.tablename
    WHERE p.pubupdate OR p.pubdelete
    UNION
    SELECT u.pubname, u.pubupdate, u.pubdelete, i.inhrelid
    FROM published AS u JOIN pg_inherits AS i ON i.inhparent = u.oid JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE c.relispartition
)
SELECT /* doctord */ current_database() || '.' || n.nspname || '.' || c.relname AS entity,
       string_agg(u.pubname, ', ' ORDER BY u.pubname) || ': '
           || concat_ws(' and ', CASE WHEN bool_or(u.pubupdate) THEN 'UPDATE' END,
                        CASE WHEN bool_or(u.pubdelete) THEN 'DELETE' END) AS published,
       coalesce(pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid), 0) AS changes
FROM published AS u JOIN pg_class AS c ON c.oid = u.oid JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND (c.relreplident = 'n'
      OR (c.relreplident = 'd' AND NOT EXISTS (
              SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indimmediate))
      OR (c.relreplident = 'i' AND NOT EXISTS (
              SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisreplident)))
GROUP BY 1, c.oid ORDER BY changes DESC, 1 LIMIT 50
"""


class Published:
    """Fills `setting` with published tables without a replica identity, and `statistic` with how often they changed.

    By `database.schema.table`, fifty of a database at the most; a value names the publications and what they publish
    (`shop: UPDATE and DELETE`), null once the table is none of these any more.
    """

    def __init__(self) -> None:
        """Nothing is told yet."""
        self._told = dict[str, str]()

    def read(self, link: Link, figures: Figures) -> list[Batch]:
        """What is new or gone since the last reading of a database; its counters go into `figures`."""
        found = link.query(_WITHOUT)
        for row in found:
            figures.gauge("pg_publication_tables.changes_since_reset", row["changes"], "rows", row["entity"])
        now = {row["entity"]: row["published"] for row in found}
        new = {name: value for name, value in now.items() if self._told.get(name) != value}
        gone = dict.fromkeys(sorted(self._told.keys() - now))
        self._told = now
        common = {"ts": now_us(), "host": os.uname().nodename, "component": COMPONENT, "db": link.db}
        told = [{**common, "name": name, "value": value} for name, value in (new | gone).items()]
        return [rows("setting", told)] if told else []
