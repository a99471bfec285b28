"""Versions of collations: the ones that were recorded against those of the system, and which indexes depend on them.

An index of text is sorted by rules of the C library or of ICU. Where these changed under it, it looks in wrong places:
rows are not found, and a unique index may hold the same twice. The server warns of it once a session, in its log.
"""

import os
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset import collations
from doctord.dataset.collations import Versions, name_of
from doctord.dataset.rows import now_us, rows

_WITH_DATABASES: Final = 150000
# From version 15 on the server records the version of each database's collation; C and POSIX have none.
_OF_DATABASES: Final = """\
SELECT /* doctord */ datname AS database, datcollversion AS recorded,
       pg_database_collation_actual_version(oid) AS actual
FROM pg_database WHERE datallowconn AND NOT datistemplate AND datcollversion IS NOT NULL ORDER BY datname
"""
# Before, that of the collation of the same name, which initdb recorded, stands for it.
_OF_DATABASE_BEFORE: Final = """\
SELECT /* doctord */ datname AS database, c.collversion AS recorded, pg_collation_actual_version(c.oid) AS actual
FROM pg_database AS d JOIN pg_collation AS c
     ON c.collprovider = 'c' AND c.collencoding IN (-1, d.encoding) AND c.collversion IS NOT NULL
        AND lower(replace(c.collcollate, '-', '')) = lower(replace(d.datcollate, '-', ''))
WHERE d.datname = current_database() ORDER BY c.oid LIMIT 1
"""
# Which index is sorted by which collation. What compares bytes (text_pattern_ops) or letters alone depends on none.
_SORTED: Final = """\
WITH classes AS MATERIALIZED (
    SELECT c.oid FROM pg_opclass AS c JOIN pg_am AS a ON a.oid = c.opcmethod
    WHERE a.amname IN ('btree', 'gist', 'gin', 'brin') AND c.opcname !~ '(pattern|trgm)_ops$'
), keys AS MATERIALIZED (
    SELECT DISTINCT x.indexrelid, x.indrelid, x.indisunique, key.sorted_by
    FROM pg_index AS x, unnest(x.indcollation::oid[], x.indclass::oid[]) AS key (sorted_by, class)
    WHERE x.indcollation::text ~ '[1-9]' AND key.sorted_by <> 0 AND key.class IN (SELECT oid FROM classes)
), sorted AS MATERIALIZED (
    SELECT i.relname, n.nspname, k.indrelid, k.indisunique, i.relpages, k.sorted_by
    FROM keys AS k JOIN pg_class AS i ON i.oid = k.indexrelid AND i.relkind = 'i' AND i.relpersistence <> 't'
         JOIN pg_namespace AS n ON n.oid = i.relnamespace AND n.nspname NOT IN ('pg_catalog', 'information_schema')
)
"""
_USED: Final = f"""\
{_SORTED}
SELECT /* doctord */ c.oid, n.nspname || '.' || c.collname AS name, c.collprovider = 'd' AS is_default,
       c.collversion AS recorded,
       CASE WHEN c.collprovider <> 'd' THEN pg_collation_actual_version(c.oid) END AS actual,
       used.indexes, used.uniques, used.bytes
FROM (SELECT sorted_by, count(*) AS indexes, count(*) FILTER (WHERE indisunique) AS uniques,
             sum(relpages::int8) * current_setting('block_size')::int8 AS bytes
      FROM sorted GROUP BY sorted_by) AS used
     JOIN pg_collation AS c ON c.oid = used.sorted_by JOIN pg_namespace AS n ON n.oid = c.collnamespace
ORDER BY name
"""  # noqa: S608 - of texts of this file alone
_LARGEST: Final = f"""\
{_SORTED}
SELECT /* doctord */ s.nspname || '.' || s.relname || ' on ' || n.nspname || '.' || t.relname AS name,
       s.relpages::int8 * current_setting('block_size')::int8 AS bytes
FROM sorted AS s JOIN pg_class AS t ON t.oid = s.indrelid JOIN pg_namespace AS n ON n.oid = t.relnamespace
WHERE s.sorted_by = %s ORDER BY s.relpages DESC, name LIMIT 3
"""  # noqa: S608 - of texts of this file alone


class Collations:
    """Compares versions: of each database's collation, and of those by which indexes of a database are sorted.

    Fills `setting` (see `dataset/collations.py`) and `statistic`; what differs is told, and how many were compared.
    """

    def __init__(self, link: Link) -> None:
        """One look at a server; from version 15 on it tells of all databases at once.

        Raises:
            UserError: The server refuses, or has no answer in time.
            Away: It is gone.
        """
        self._figures = Figures(link.db)
        self._db = link.db
        self._differing: dict[str, Versions] = {}
        self._defaults: dict[str, Versions] = {}
        self._compared = 0
        if link.version >= _WITH_DATABASES:
            self._compare_databases(link.query(_OF_DATABASES))

    def look_into(self, database: Link) -> None:
        """Compare those by which indexes of a database are sorted, and count these.

        Raises:
            UserError: The server refuses, or has no answer in time.
            Away: It is gone.
        """
        if database.version < _WITH_DATABASES:
            self._compare_databases(database.query(_OF_DATABASE_BEFORE))
        default = self._defaults.get(database.database)
        used = database.query(_USED)
        for one in used:
            versions = default if one["is_default"] else self._compare(one)
            if versions is not None and versions.recorded != versions.actual:
                name = name_of(database.database, collations.DEFAULT if one["is_default"] else one["name"])
                self._differing[name] = versions
                self._count(name, one)
                self._name_largest(database, one["oid"])
        name = name_of(database.database)
        if name in self._differing and not any(one["is_default"] for one in used):
            self._figures.gauge("pg_collation.indexes", 0, "count", name)

    @property
    def differing(self) -> frozenset[str]:
        """The names of those that differ."""
        return frozenset(self._differing)

    def batches(self, before: frozenset[str] = frozenset()) -> list[Batch]:
        """What differs, and how many were compared; null for what differed `before` and does no more."""
        self._figures.gauge("pg_collation.versions_compared", self._compared)
        common = {"ts": now_us(), "host": os.uname().nodename, "component": collations.COMPONENT, "db": self._db}
        told = [{**common, "name": name, "value": both.text} for name, both in self._differing.items()]
        told += [{**common, "name": name, "value": None} for name in sorted(before - self.differing)]
        return [*self._figures.batches(), *([rows("setting", told)] if told else [])]

    def _compare_databases(self, found: list[dict[str, Any]]) -> None:
        for row in found:
            versions = self._compare(row)
            if versions is not None:
                self._defaults[row["database"]] = versions
                if versions.recorded != versions.actual:
                    self._differing[name_of(row["database"])] = versions

    def _compare(self, row: dict[str, Any]) -> Versions | None:
        """The versions of a collation that has some."""
        if row["recorded"] is None or row["actual"] is None:
            return None
        self._compared += 1
        return Versions(row["recorded"], row["actual"])

    def _count(self, name: str, one: dict[str, Any]) -> None:
        self._figures.gauge("pg_collation.indexes", one["indexes"], "count", name)
        self._figures.gauge("pg_collation.unique_indexes", one["uniques"], "count", name)
        self._figures.gauge("pg_collation.index_bytes", one["bytes"], "bytes", name)

    def _name_largest(self, database: Link, collation: int) -> None:
        for index in database.query(_LARGEST, [collation]):
            self._figures.gauge(
                "pg_index.of_changed_collation_bytes", index["bytes"], "bytes", f"{database.database}.{index['name']}"
            )
