"""Subscriptions: how far each is behind, what its workers are at, and which of its tables lack a key or a first copy.

The apply worker takes a message when it has applied the one before: nothing is read ahead. When the publisher sent it
and when it was taken tells therefore how long it stood in between.
"""

import os
import time
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.link import Away
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.databases import Databases
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError

COMPONENT: Final = "pg_subscription"
_TABLES_EVERY_S: Final = 60.0
_MOST_TABLES: Final = 50

# Of pg_subscription only the columns that everybody may read: in version 13 its oid is none of them, the view has it.
_SUBSCRIPTIONS: Final = """\
SELECT /* doctord */ d.datname AS database, s.subname AS name, s.subenabled::int AS "pg_subscription.enabled",
       (s.subslotname IS NOT NULL)::int AS "pg_subscription.has_slot",
       max({synchronous_commit}) AS synchronous_commit, max({disables}) AS "pg_subscription.disables_on_error",
       count(w.pid) FILTER (WHERE {applies}) AS "pg_stat_subscription.apply_workers",
       count(w.pid) FILTER (WHERE w.relid IS NOT NULL) AS "pg_stat_subscription.sync_workers",
       max(w.pid) FILTER (WHERE {applies}) AS "pg_stat_subscription.apply_pid",
       date_part('epoch', max(w.last_msg_receipt_time - w.last_msg_send_time) FILTER (WHERE {applies}))
           AS "pg_stat_subscription.behind_s",
       date_part('epoch', clock_timestamp() - max(w.last_msg_receipt_time) FILTER (WHERE {applies}))
           AS "pg_stat_subscription.last_msg_age_s"
FROM pg_subscription AS s JOIN pg_database AS d ON d.oid = s.subdbid
     LEFT JOIN pg_stat_subscription AS w ON {same}
WHERE NOT pg_is_in_recovery()
GROUP BY d.datname, s.subname, s.subenabled, s.subslotname
ORDER BY d.datname, s.subname
"""
# What a change on the publisher finds its row by: the replica identity's index, else the primary key
# (GetRelationIdentityOrPK of the server's source). Version 16 tries other indexes before it reads the table whole.
_TABLES: Final = """\
SELECT /* doctord */ s.subname AS name, n.nspname || '.' || c.relname AS relation,
       r.srsubstate <> 'r' AS "pg_subscription_rel.not_ready",
       NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisvalid
                       AND (i.indisprimary OR (i.indisreplident AND c.relreplident = 'i')))
           AS "pg_subscription_rel.without_key",
       (SELECT count(*) FROM pg_trigger AS t
        WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled IN ('R', 'A')) AS "pg_subscription_rel.triggers"
FROM pg_subscription_rel AS r
     JOIN (SELECT DISTINCT subid, subname FROM pg_stat_subscription) AS s ON s.subid = r.srsubid
     JOIN pg_class AS c ON c.oid = r.srrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
"""
_OF_TABLES: Final = ("pg_subscription_rel.not_ready", "pg_subscription_rel.without_key", "pg_subscription_rel.triggers")


class Subscriptions:
    """Fills `statistic` with gauges of each subscription (entity `database.subscription`) and of some of its tables.

    Tables (entity `database.schema.table`) that are not copied yet, that have no key to find a changed row by, and
    that have triggers which fire for what is applied are told; of others there is no row. Into `setting` goes each
    subscription's synchronous_commit. A standby has the catalogue and no workers: nothing is told of one.
    """

    name = "subscriptions"

    def __init__(self) -> None:
        """Due every five seconds; tables after five and fifteen seconds, then once a minute."""
        self.cadence = Cadence(every_s=5)
        self._tables = Cadence(_TABLES_EVERY_S, (5.0, 15.0))
        self._databases = Databases()
        self._told: dict[str, str] = {}

    def read(self, link: Link) -> list[Batch]:
        """The readings of this moment."""
        figures = Figures(link.db)
        found = link.query(_query(link.version))
        for row in found:
            entity = f"{row['database']}.{row['name']}"
            figures.gauges({key: value for key, value in row.items() if "." in key} | {"entity": entity})
        if found and self._tables.due(time.monotonic()):
            for database in sorted({row["database"] for row in found}):
                self._read_tables(
                    database, [row["name"] for row in found if row["database"] == database], link, figures
                )
        return figures.batches() + self._settings(found, link)

    def close(self) -> None:
        """Close the connections to other databases."""
        self._databases.close()

    def _read_tables(self, database: str, names: list[str], link: Link, figures: Figures) -> None:
        try:
            own = link if database == link.database else self._databases.opened(database, link)
            tables = own.query(_TABLES) if own else []
        except UserError as refusal:
            link.notices.not_measured(link.db, f"subscriptions of {database}", str(refusal), refusal.hint)
            return
        except Away:
            if database == link.database:
                raise
            return
        for name in names if own else ():
            waiting = sum(row["pg_subscription_rel.not_ready"] for row in tables if row["name"] == name)
            figures.gauge("pg_subscription_rel.tables_not_ready", waiting, entity=f"{database}.{name}")
        for column in _OF_TABLES:
            for row in [row for row in tables if row[column]][:_MOST_TABLES]:
                figures.gauge(column, row[column], entity=f"{database}.{row['relation']}")

    def _settings(self, found: list[dict[str, Any]], link: Link) -> list[Batch]:
        """Each subscription's synchronous_commit, when it is new."""
        known = {f"{row['database']}.{row['name']} synchronous_commit": row["synchronous_commit"] for row in found}
        changed = {name: value for name, value in known.items() if value and self._told.get(name) != value}
        self._told |= changed
        common = {"ts": now_us(), "host": os.uname().nodename, "component": COMPONENT, "db": link.db}
        told = [{**common, "name": name, "value": value} for name, value in changed.items()]
        return [rows("setting", told)] if told else []


def _query(version: int) -> str:
    """The query for a version: 14 lets everybody read more columns, 15 and 16 brought some."""
    return _SUBSCRIPTIONS.format(
        synchronous_commit="s.subsynccommit" if version >= 140000 else "NULL::text",
        disables="s.subdisableonerr::int" if version >= 150000 else "NULL::int",
        applies="w.relid IS NULL AND w.leader_pid IS NULL" if version >= 160000 else "w.relid IS NULL",
        same="w.subid = s.oid" if version >= 140000 else "w.subname = s.subname",
    )
