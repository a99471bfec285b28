"""How long the server is up, and how full its limits are: connections, transaction ids, the oldest snapshot; damage."""

from typing import Final

from doctord._native import Batch
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

_CONNECTIONS: Final = """\
/* doctord */ SELECT
       count(*) FILTER (WHERE backend_type = 'client backend') AS "pg_stat_activity.connections",
       count(*) FILTER (WHERE state = 'idle') AS "pg_stat_activity.connections_idle",
       count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS "pg_stat_activity.connections_idle_in_transaction",
       count(*) FILTER (WHERE backend_type = 'autovacuum worker') AS "pg_stat_activity.autovacuum_workers",
       max(age(backend_xmin)) AS "pg_stat_activity.backend_xmin_age",
       date_part('epoch', clock_timestamp() - pg_postmaster_start_time()) AS "pg_postmaster_start_time.age_s",
       100 * pg_notification_queue_usage() AS "pg_notification_queue.used_pct",
       date_part('epoch', clock_timestamp() - min(backend_start)
                 FILTER (WHERE backend_type IN ('checkpointer', 'background writer', 'walwriter')))
           AS "pg_stat_activity.own_processes_s"
FROM pg_stat_get_activity(NULL)
"""
_PREPARED: Final = """\
SELECT /* doctord */ count(*) AS "pg_prepared_xacts.count",
       max(age(transaction)) AS "pg_prepared_xacts.oldest_xid_age",
       date_part('epoch', now() - min(prepared)) AS "pg_prepared_xacts.oldest_s"
FROM pg_prepared_xacts
"""
_OLDEST_PREPARED: Final = """\
SELECT /* doctord */ gid AS entity, age(transaction) AS "pg_prepared_xacts.xid_age",
       date_part('epoch', now() - prepared) AS "pg_prepared_xacts.age_s"
FROM pg_prepared_xacts ORDER BY prepared LIMIT 5
"""
_FREEZE: Final = """\
SELECT /* doctord */ datname AS entity, age(datfrozenxid) AS "pg_database.datfrozenxid_age",
       mxid_age(datminmxid) AS "pg_database.datminmxid_age"
FROM pg_database
"""
# Never counted where checksums are off (null). The increase alone would tell what happens while we look.
_DAMAGE: Final = """\
SELECT /* doctord */ coalesce(datname, 'shared') AS entity,
       checksum_failures AS "pg_stat_database.checksum_failures_count",
       date_part('epoch', clock_timestamp() - checksum_last_failure) AS "pg_stat_database.checksum_last_failure_s"
FROM pg_stat_database WHERE checksum_failures > 0
"""
_VACUUM: Final = """\
SELECT /* doctord */ datname || ' ' || relid AS entity, heap_blks_total AS "pg_stat_progress_vacuum.heap_blks_total",
       heap_blks_scanned AS "pg_stat_progress_vacuum.heap_blks_scanned",
       heap_blks_vacuumed AS "pg_stat_progress_vacuum.heap_blks_vacuumed",
       index_vacuum_count AS "pg_stat_progress_vacuum.index_vacuum_count"
FROM pg_stat_progress_vacuum
"""


class Horizon:
    """Fills `statistic` with gauges named as in the queries.

    The entity of a freeze age is its database, of a prepared transaction its identifier, that of a running vacuum its
    database and the relation's oid. A null `backend_xmin_age` (nobody holds a snapshot) gives no row. `own_processes_s`
    is less than the age of the server where a crash of one process made all others begin anew.
    """

    name = "limits and horizons"

    def __init__(self) -> None:
        """Due every five seconds."""
        self.cadence = Cadence(every_s=5)

    def read(self, link: Link) -> list[Batch]:
        """The readings of this moment."""
        figures = Figures(link.db)
        for sql in (_CONNECTIONS, _PREPARED, _OLDEST_PREPARED, _FREEZE, _DAMAGE, _VACUUM):
            for row in link.query(sql):
                figures.gauges(row)
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""
