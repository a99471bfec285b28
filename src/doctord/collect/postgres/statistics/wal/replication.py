"""Standbys that lag, and slots that hold WAL and old rows back."""

import time
from typing import Final

from doctord._native import Batch
from doctord.collect.core.rates import Cadence, Counters
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.collect.postgres.statistics.wal.paused_replay import PausedReplay
from doctord.collect.postgres.statistics.wal.restoring import Restoring

_STANDBYS: Final = """\
SELECT /* doctord */ application_name AS entity,
       pg_wal_lsn_diff(here, sent_lsn) AS "pg_stat_replication.sent_lag_bytes",
       pg_wal_lsn_diff(here, flush_lsn) AS "pg_stat_replication.flush_lag_bytes",
       pg_wal_lsn_diff(here, replay_lsn) AS "pg_stat_replication.replay_lag_bytes",
       date_part('epoch', write_lag) AS "pg_stat_replication.write_lag_s",
       date_part('epoch', flush_lag) AS "pg_stat_replication.flush_lag_s",
       date_part('epoch', replay_lag) AS "pg_stat_replication.replay_lag_s",
       age(backend_xmin) AS "pg_stat_replication.backend_xmin_age",
       EXISTS (SELECT FROM pg_replication_slots WHERE active_pid = pid AND slot_type = 'logical')::int
           AS "pg_stat_replication.is_logical",
       date_part('epoch', clock_timestamp() - reply_time) AS "pg_stat_replication.reply_age_s"
FROM pg_stat_replication, (
    SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END AS here
) AS position
"""
# A base backup is in the view as well, and no standby. Without the right to see states, who is connected counts.
_CONNECTED: Final = """\
SELECT /* doctord */ count(*) FILTER (WHERE state IS DISTINCT FROM 'backup') AS "pg_stat_replication.connected",
       CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE')
            THEN count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) END AS "pg_stat_replication.synchronous"
FROM pg_stat_replication
"""
_SLOTS: Final = """\
SELECT /* doctord */ slot_name AS entity, active::int AS "pg_replication_slots.active",
       pg_wal_lsn_diff(here, restart_lsn) AS "pg_replication_slots.retained_bytes",
       safe_wal_size AS "pg_replication_slots.safe_wal_size_bytes",
       pg_wal_lsn_diff(restart_lsn, '0/0') AS "pg_replication_slots.restart_lsn_bytes",
       pg_wal_lsn_diff(confirmed_flush_lsn, '0/0') AS "pg_replication_slots.confirmed_flush_lsn_bytes",
       pg_wal_lsn_diff(here, confirmed_flush_lsn) AS "pg_replication_slots.unconfirmed_bytes",
       (wal_status = 'lost')::int AS "pg_replication_slots.is_lost", {inactive_s},
       age(xmin) AS "pg_replication_slots.xmin_age",
       age(catalog_xmin) AS "pg_replication_slots.catalog_xmin_age"
FROM pg_replication_slots, (
    SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END AS here
) AS position
"""
_INACTIVE_S: Final = """\
date_part('epoch', clock_timestamp() - inactive_since) AS "pg_replication_slots.inactive_s"
"""  # from version 17 on
# Decoding begins where the oldest transaction did that is still open: a logical slot keeps WAL since then. Those
# without an id have written nothing. A parallel worker has its leader's.
_WRITERS: Final = """\
SELECT /* doctord */ pid::text AS entity, age(backend_xid) AS "pg_stat_activity.backend_xid_age",
       date_part('epoch', clock_timestamp() - xact_start) AS "pg_stat_activity.writing_transaction_s"
FROM pg_stat_get_activity(NULL)
WHERE backend_xid IS NOT NULL AND leader_pid IS NULL AND xact_start < clock_timestamp() - interval '10 s'
ORDER BY age(backend_xid) DESC LIMIT 3
"""
# What was received and is not replayed yet, and whether it may be. One without primary_conninfo is fed from an archive.
_STANDBY: Final = """\
SELECT /* doctord */ pg_is_wal_replay_paused()::int AS "pg_is_wal_replay_paused",
       CASE WHEN (SELECT setting FROM pg_settings WHERE name = 'primary_conninfo') <> ''
            THEN (SELECT count(*) FROM pg_stat_wal_receiver) END AS "pg_stat_wal_receiver.count",
       pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) AS "pg_last_wal_receive_lsn.ahead_bytes"
"""
# How far it has replayed: that goes on also where nothing is received, but fetched from an archive.
_REPLAYED: Final = """\
SELECT /* doctord */ pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 AS position
"""
REPLAYED: Final = "pg_last_wal_replay_lsn.replayed_bytes"
# The log's end on disk: unlike pg_stat_wal it goes on while a long transaction writes, and stands while nothing can.
_FLUSHED: Final = """\
SELECT /* doctord */ pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::float8 AS position
"""
FLUSHED: Final = "pg_current_wal_flush_lsn.flushed_bytes"
_RECOVERY: Final = """\
SELECT /* doctord */ pg_is_in_recovery()::int AS "pg_is_in_recovery",
       CASE WHEN pg_is_in_recovery() THEN date_part('epoch', clock_timestamp() - pg_last_xact_replay_timestamp()) END
           AS "pg_last_xact_replay_timestamp.age_s"
"""


class Replication:
    """Fills `statistic` with gauges named as in the queries; the entity is the standby's application name or the slot.

    The age of the last transaction replayed grows on an idle primary's standby too: it is an upper bound of the lag.
    """

    name = "replication"

    def __init__(self) -> None:
        """Due every five seconds."""
        self.cadence = Cadence(every_s=5)
        self._positions = Counters[str]()
        self._paused = PausedReplay()
        self._restoring = Restoring()

    def read(self, link: Link) -> list[Batch]:
        """The readings of this moment."""
        figures = Figures(link.db)
        inactive_s = _INACTIVE_S if link.version >= 170000 else "NULL AS inactive_s"
        for sql in (_STANDBYS, _CONNECTED, _SLOTS.format(inactive_s=inactive_s), _RECOVERY):
            for row in link.query(sql):
                figures.gauges(row)
        if row["pg_is_in_recovery"]:
            standby = link.query(_STANDBY)[0]
            figures.gauges(standby)
            self._paused.read(link, figures, is_paused=bool(standby["pg_is_wal_replay_paused"]))
            self._read_position(REPLAYED, _REPLAYED, link, figures)
            where = self._restoring.read(link, figures)
            return [*figures.batches(), *where]
        self._read_position(FLUSHED, _FLUSHED, link, figures)
        if figures.has("pg_replication_slots.confirmed_flush_lsn_bytes"):
            for row in link.query(_WRITERS):
                figures.gauges(row)
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""

    def _read_position(self, name: str, sql: str, link: Link, figures: Figures) -> None:
        """How fast a position in the log goes on; nothing where there is none yet."""
        position = link.query(sql)[0]["position"]
        increase = None if position is None else self._positions.step(time.monotonic(), {name: position})
        for _, per_s in increase.per_s.items() if increase else ():
            figures.rate(name, per_s, increase.interval_s if increase else 0.0)
