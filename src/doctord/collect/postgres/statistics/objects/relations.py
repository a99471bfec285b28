"""Tables, indexes and functions of the largest databases: how they are read, changed, vacuumed, called."""

import os
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.link import Away
from doctord.collect.core.rates import EARLY, Cadence, Counters, Increase
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.databases import Databases
from doctord.collect.postgres.statistics.figures import Figures
from doctord.collect.postgres.statistics.objects.catalogues import Catalogues
from doctord.collect.postgres.statistics.objects.functions import Functions
from doctord.collect.postgres.statistics.objects.gin import pending
from doctord.collect.postgres.statistics.objects.index_columns import IndexColumns
from doctord.collect.postgres.statistics.objects.partitions import Partitions
from doctord.collect.postgres.statistics.objects.published import Published
from doctord.collect.postgres.statistics.objects.row_sizes import RowSizes
from doctord.collect.postgres.statistics.objects.tablespaces import Tablespaces
from doctord.collect.postgres.statistics.objects.unlogged import Unlogged
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError

_BUSIEST: Final = 100
_LARGEST: Final = 30

_TABLES: Final = """\
SELECT /* doctord */ s.relid, s.schemaname || '.' || s.relname AS relation, c.relpages,
       s.seq_scan AS "pg_stat_user_tables.seq_scan", s.seq_tup_read AS "pg_stat_user_tables.seq_tup_read",
       s.idx_scan AS "pg_stat_user_tables.idx_scan", s.idx_tup_fetch AS "pg_stat_user_tables.idx_tup_fetch",
       s.n_tup_ins AS "pg_stat_user_tables.n_tup_ins", s.n_tup_upd AS "pg_stat_user_tables.n_tup_upd",
       s.n_tup_del AS "pg_stat_user_tables.n_tup_del", s.n_tup_hot_upd AS "pg_stat_user_tables.n_tup_hot_upd",
       s.vacuum_count AS "pg_stat_user_tables.vacuum_count",
       s.autovacuum_count AS "pg_stat_user_tables.autovacuum_count",
       io.heap_blks_read AS "pg_statio_user_tables.heap_blks_read",
       io.heap_blks_hit AS "pg_statio_user_tables.heap_blks_hit",
       io.idx_blks_read AS "pg_statio_user_tables.idx_blks_read",
       io.idx_blks_hit AS "pg_statio_user_tables.idx_blks_hit",
       c.reltablespace, coalesce(io.toast_blks_read, 0) + coalesce(io.tidx_blks_read, 0) AS toast_blks_read,
       io.toast_blks_read AS "pg_statio_user_tables.toast_blks_read",
       io.toast_blks_hit AS "pg_statio_user_tables.toast_blks_hit",
       io.tidx_blks_read AS "pg_statio_user_tables.tidx_blks_read",
       io.tidx_blks_hit AS "pg_statio_user_tables.tidx_blks_hit",
       pg_stat_get_tuples_inserted(toast.oid) AS "pg_stat_user_tables.toast_n_tup_ins",
       pg_stat_get_tuples_deleted(toast.oid) AS "pg_stat_user_tables.toast_n_tup_del",
       nullif(pg_stat_get_dead_tuples(toast.oid), 0) AS toast_n_dead_tup,
       s.n_live_tup, s.n_dead_tup, s.n_mod_since_analyze, age(c.relfrozenxid) AS relfrozenxid_age,
       nullif(c.reltuples, -1) AS reltuples, c.relallvisible,
       (SELECT option_value::bool FROM pg_options_to_table(c.reloptions) WHERE option_name = 'autovacuum_enabled')::int
           AS autovacuum_enabled,
       CASE WHEN c.relispartition THEN pg_partition_root(c.oid)::oid END AS root,
       date_part('epoch', clock_timestamp() - greatest(s.last_vacuum, s.last_autovacuum)) AS last_vacuum_age_s,
       date_part('epoch', clock_timestamp() - greatest(s.last_analyze, s.last_autoanalyze)) AS last_analyze_age_s
FROM pg_stat_all_tables AS s JOIN pg_class AS c ON c.oid = s.relid
     JOIN pg_statio_all_tables AS io ON io.relid = s.relid
     CROSS JOIN LATERAL (SELECT nullif(c.reltoastrelid, 0) AS oid) AS toast
WHERE s.schemaname <> 'information_schema' AND s.schemaname !~ '^pg_toast'
  AND (s.schemaname <> 'pg_catalog' OR s.n_dead_tup >= 1000)
"""
_INDEXES: Final = """\
SELECT /* doctord */ s.indexrelid AS relid, s.schemaname || '.' || s.indexrelname AS relation, c.relpages,
       c.reltablespace,
       s.idx_scan AS "pg_stat_user_indexes.idx_scan", s.idx_tup_read AS "pg_stat_user_indexes.idx_tup_read",
       s.idx_tup_fetch AS "pg_stat_user_indexes.idx_tup_fetch",
       io.idx_blks_read AS "pg_statio_user_indexes.idx_blks_read",
       io.idx_blks_hit AS "pg_statio_user_indexes.idx_blks_hit",
       CASE WHEN i.indisvalid AND NOT (i.indisunique OR i.indisexclusion OR i.indisreplident)
                 AND NOT EXISTS (SELECT FROM pg_constraint AS f WHERE f.conrelid = i.indrelid AND f.contype = 'f'
                                                                  AND i.indkey[0] = ANY (f.conkey))
            THEN s.idx_scan END AS optional_scans,
       CASE WHEN c.relispartition THEN pg_partition_root(c.oid)::oid END AS root
FROM pg_stat_user_indexes AS s JOIN pg_class AS c ON c.oid = s.indexrelid
     JOIN pg_index AS i ON i.indexrelid = s.indexrelid
     JOIN pg_statio_user_indexes AS io ON io.indexrelid = s.indexrelid
"""
# A size is asked with a weak lock on the relation: one that somebody holds, or wants, for himself alone is left out.
_SIZES: Final = """\
SELECT /* doctord */ c.oid AS relid, pg_table_size(c.oid) AS used_bytes
FROM pg_class AS c WHERE c.oid = ANY(%s) AND c.oid NOT IN (
    SELECT relation FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND locktype = 'relation' AND relation IS NOT NULL)
"""
# A crash empties the statistics and leaves no time at the database, but at those of the whole server; of these anybody
# may reset one, and the older tells.
_SINCE: Final = """\
SELECT /* doctord */ date_part('epoch', clock_timestamp()
                                    - greatest(d.stats_reset, least(a.stats_reset, b.stats_reset))) AS age_s
FROM pg_stat_database AS d, pg_stat_archiver AS a, pg_stat_bgwriter AS b WHERE d.datname = current_database()
"""
_GAUGES: Final = {
    "n_live_tup": ("pg_stat_user_tables.n_live_tup", "rows"),
    "n_dead_tup": ("pg_stat_user_tables.n_dead_tup", "rows"),
    "toast_n_dead_tup": ("pg_stat_user_tables.toast_n_dead_tup", "rows"),
    "n_mod_since_analyze": ("pg_stat_user_tables.n_mod_since_analyze", "rows"),
    "reltuples": ("pg_class.reltuples", "rows"),
    "relallvisible": ("pg_class.relallvisible", "blocks"),
    "relfrozenxid_age": ("pg_class.relfrozenxid_age", "transactions"),
    "autovacuum_enabled": ("pg_class.autovacuum_enabled", "count"),
    "last_vacuum_age_s": ("pg_stat_user_tables.last_vacuum_age_s", "s"),
    "last_analyze_age_s": ("pg_stat_user_tables.last_analyze_age_s", "s"),
}

Key = tuple[int, str]
"""Relation and name of a counter."""


class Relations:
    """Fills `statistic` (entity `database.schema.relation`), `space` and the indexes in `setting` for what matters.

    Those are, in each of the ten largest databases, the hundred busiest since the last reading and the thirty largest;
    a table of the system catalogues counts from a thousand dead rows on.
    `bloat_bytes` is used_bytes * n_dead_tup / (n_live_tup + n_dead_tup): what a VACUUM would set free now. Space that
    is free already cannot be seen without an extension.
    """

    name = "relations"

    def __init__(self) -> None:
        """Due soon after the start, then every minute."""
        self.cadence = Cadence(every_s=60, early_s=EARLY)
        self._databases = Databases()
        self._counters: dict[tuple[str, str], Counters[Key]] = {}
        self._known_indexes: dict[str, IndexColumns] = {}
        self._partitions: dict[str, Partitions] = {}
        self._functions: dict[str, Functions] = {}
        self._catalogues: dict[str, Catalogues] = {}
        self._row_sizes: dict[str, RowSizes] = {}
        self._published: dict[str, Published] = {}
        self._unlogged: dict[str, Unlogged] = {}
        self._unscanned: dict[str, set[int]] = {}
        self._tablespaces = Tablespaces()

    def read(self, link: Link) -> list[Batch]:
        """Rates since the last call; gauges and sizes of this moment."""
        batches: list[Batch] = []
        self._tablespaces.begin()
        for database in self._databases.links(link):
            try:
                batches += self._relations(database)
            except UserError as refusal:
                link.notices.not_measured(link.db, f"tables of {database.database}", str(refusal), refusal.hint)
            except Away:
                if database is link:
                    raise
        return batches + self._tablespaces.batches(link)

    def close(self) -> None:
        """Close the connections to other databases."""
        self._databases.close()

    def _relations(self, link: Link) -> list[Batch]:
        tables, indexes = link.query(_TABLES), link.query(_INDEXES)
        self._tablespaces.add(link, tables, indexes)
        return self._tables(link, tables) + self._indexes(link, indexes)

    def _tables(self, link: Link, tables: list[dict[str, Any]]) -> list[Batch]:
        figures = Figures(link.db)
        increase = self._grown("tables", tables, link)
        found = _matter(tables, link, increase, figures)
        partitions = self._partitions.setdefault(link.database, Partitions()).read(link, tables, increase, figures)
        self._functions.setdefault(link.database, Functions()).read(link, figures)
        self._catalogues.setdefault(link.database, Catalogues()).read(link, figures)
        self._row_sizes.setdefault(link.database, RowSizes()).read(link, found, figures)
        published = self._published.setdefault(link.database, Published()).read(link, figures)
        self._unlogged.setdefault(link.database, Unlogged()).read(link, figures)
        for table in found:
            for column, (name, unit) in _GAUGES.items():
                figures.gauge(name, table[column], unit, f"{link.database}.{table['relation']}")
        indexes = self._known_indexes.setdefault(link.database, IndexColumns())
        return figures.batches() + _space("table", found, link) + indexes.read(link, found) + partitions + published

    def _indexes(self, link: Link, indexes: list[dict[str, Any]]) -> list[Batch]:
        figures = Figures(link.db)
        found = _matter(indexes, link, self._grown("indexes", indexes, link), figures)
        scans, unscanned = _optional_scans(indexes), self._unscanned.setdefault(link.database, set())
        for index in found:
            # It is asked of those without a scan alone: of others, once that they are none of these any more.
            count = scans.get(index["relid"])
            if count == 0 or index["relid"] in unscanned:
                name = f"{link.database}.{index['relation']}"
                figures.gauge("pg_stat_user_indexes.scans_since_reset", count, "count", name)
        unscanned.difference_update(index["relid"] for index in found)
        unscanned.update(index["relid"] for index in found if scans.get(index["relid"]) == 0)
        for row in link.query(_SINCE):
            figures.gauge("pg_stat_database.stats_age_s", row["age_s"], "s", link.database)
        pending(link, found, figures)
        return figures.batches() + _space("index", found, link)

    def _grown(self, kind: str, found: list[dict[str, Any]], link: Link) -> Increase[Key] | None:
        """What the counters of all relations grew by since the last reading."""
        counters = self._counters.setdefault((link.database, kind), Counters[Key]())
        reading = {
            (row["relid"], name): float(value)
            for row in found
            for name, value in row.items()
            if "." in name and value is not None
        }
        return counters.step(time.monotonic(), reading)


def _optional_scans(indexes: Iterable[Mapping[str, Any]]) -> dict[int, int]:
    """By index, the scans of those that nothing needs; an index of a partition has those of all partitions."""
    told = {index["relid"]: index for index in indexes if index["optional_scans"] is not None}
    of_root: dict[int, int] = {}
    for relid, index in told.items():
        root = index["root"] or relid
        of_root[root] = of_root.get(root, 0) + index["optional_scans"]
    return {relid: of_root[index["root"] or relid] for relid, index in told.items()}


def _matter(
    found: list[dict[str, Any]], link: Link, increase: Increase[Key] | None, figures: Figures
) -> list[dict[str, Any]]:
    """The relations that matter; their rates go into `figures`."""
    rates = increase.per_s if increase else {}
    busy: dict[int, float] = {}
    for (relation, _), per_s in rates.items():
        busy[relation] = busy.get(relation, 0.0) + per_s
    chosen = _top(busy, _BUSIEST) | _top({row["relid"]: row["relpages"] for row in found}, _LARGEST)
    entities = {row["relid"]: f"{link.database}.{row['relation']}" for row in found if row["relid"] in chosen}
    for (relation, name), per_s in rates.items():
        if increase and relation in chosen:
            figures.rate(name, per_s, increase.interval_s, entities[relation])
    return [row for row in found if row["relid"] in chosen]


def _top(measure: Mapping[int, float], count: int) -> set[int]:
    ranked = sorted((relation for relation, value in measure.items() if value > 0), key=lambda one: -measure[one])
    return set(ranked[:count])


def _space(kind: str, found: Iterable[dict[str, Any]], link: Link) -> list[Batch]:
    sizes = {row["relid"]: row["used_bytes"] for row in link.query(_SIZES, ([row["relid"] for row in found],))}
    common = {"ts": now_us(), "host": os.uname().nodename, "db": link.db, "database": link.database, "kind": kind}
    space = [
        {
            **common,
            "name": row["relation"],
            "used_bytes": sizes.get(row["relid"]),
            "bloat_bytes": _dead_bytes(sizes.get(row["relid"]), row.get("n_live_tup"), row.get("n_dead_tup")),
            "live_rows": row.get("n_live_tup"),
            "dead_rows": row.get("n_dead_tup"),
        }
        for row in found
    ]
    return [rows("space", space)] if space else []


def _dead_bytes(used_bytes: int | None, live: int | None, dead: int | None) -> int | None:
    if used_bytes is None or live is None or dead is None or live + dead == 0:
        return None
    return used_bytes * dead // (live + dead)
