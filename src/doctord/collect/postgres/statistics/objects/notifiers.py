"""Functions whose source notifies, and the tables whose triggers call them: looked for once commits wait for NOTIFY."""

from typing import Final

from doctord._native import Batch
from doctord.collect.core.link import Away
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.notify_queue import NotifyQueue
from doctord.collect.postgres.statistics.databases import Databases
from doctord.collect.postgres.statistics.figures import Figures

# The source of every function is looked through, of which there may be thousands: not without a reason.
_NOTIFIERS: Final = """\
SELECT /* doctord */ current_database() || '.' || nspname || '.' || proname || coalesce(' on ' || tables, '') AS entity
FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = pronamespace JOIN pg_language AS l ON l.oid = prolang,
     LATERAL (SELECT string_agg(DISTINCT tgrelid::regclass::text, ', ') AS tables FROM pg_trigger
              WHERE tgfoid = p.oid AND NOT tgisinternal AND tgenabled <> 'D') AS fired
WHERE nspname NOT IN ('pg_catalog', 'information_schema') AND lanname NOT IN ('internal', 'c')
      AND prosrc ~* '\\m(pg_notify|notify)\\M'
ORDER BY tables IS NULL, entity LIMIT 20
"""


class Notifiers:
    """Fills `statistic` with 1 for each function that notifies (`database.schema.function on schema.table, ...`).

    Of databases where commits wait for NOTIFY alone, each once; that a source names NOTIFY, a remark may do as well.
    """

    name = "functions that notify"

    def __init__(self, notifying: NotifyQueue) -> None:
        """Due at every look; it asks nothing before somebody waits."""
        self.cadence = Cadence(every_s=5)
        self._notifying = notifying
        self._looked_into: set[int] = set()

    def read(self, link: Link) -> list[Batch]:
        """Those of databases in which such waits were seen since."""
        new = self._notifying.databases - self._looked_into
        if not new:
            return []
        self._looked_into |= new
        figures, databases = Figures(link.db), Databases()
        oids = "SELECT /* doctord */ datname FROM pg_database WHERE oid = ANY(%s)"
        wanted = {row["datname"] for row in link.query(oids, ([*new],))}
        try:
            for database in databases.links(link):
                if database.database in wanted:
                    self._of_database(database, figures)
        finally:
            databases.close()
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""

    def _of_database(self, database: Link, figures: Figures) -> None:
        try:
            for row in database.query(_NOTIFIERS):
                figures.gauge("pg_proc.notifies", 1.0, "boolean", row["entity"])
        except Away:
            return
