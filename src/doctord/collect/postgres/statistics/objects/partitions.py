"""Partitioned tables: how many partitions each has, and how many of them are looked into."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.rates import Increase
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.rows import now_us, rows

COMPONENT: Final = "pg_partitioned_table"
SCANS: Final = ("pg_stat_user_tables.seq_scan", "pg_stat_user_tables.idx_scan")
_LARGEST: Final = 50

# Catalogues alone. An expression has no column, and its text may hold a constant.
_PARTITIONED: Final = """\
SELECT /* doctord */ p.partrelid AS root, n.nspname || '.' || c.relname AS relation,
       CASE p.partstrat WHEN 'r' THEN 'range' WHEN 'l' THEN 'list' ELSE 'hash' END AS strategy,
       (SELECT string_agg(coalesce(a.attname, '(expression)'), ', ' ORDER BY k.place)
        FROM unnest(p.partattrs) WITH ORDINALITY AS k(attnum, place)
             LEFT JOIN pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = k.attnum AND a.attnum > 0
       ) AS columns
FROM pg_partitioned_table AS p
     JOIN pg_class AS c ON c.oid = p.partrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE p.partrelid = ANY(%s)
"""


class Partitions:
    """Fills `statistic` (entity `database.schema.table`) and, with the partition keys, `setting`, for one database.

    Of the 50 tables with most partitions. The least scanned partition tells how many statements a second looked into
    all of them.
    """

    def __init__(self) -> None:
        """Nothing is told yet."""
        self._told: dict[str, str] = {}

    def read(
        self,
        link: Link,
        tables: Iterable[Mapping[str, Any]],
        increase: Increase[tuple[int, str]] | None,
        figures: Figures,
    ) -> list[Batch]:
        """Figures of tables given by `relid` and, where they are partitions, `root`; keys where they are new."""
        leaves: dict[int, list[int]] = {}
        for table in tables:
            if table["root"] is not None:
                leaves.setdefault(table["root"], []).append(table["relid"])
        roots = sorted(leaves, key=lambda root: (-len(leaves[root]), root))[:_LARGEST]
        found = link.query(_PARTITIONED, (roots,)) if roots else []
        for root in found:
            entity = f"{link.database}.{root['relation']}"
            figures.gauge("pg_partition_tree.leaves", len(leaves[root["root"]]), entity=entity)
            if increase:
                _scans(leaves[root["root"]], increase, figures, entity)
        now = {f"{link.database}.{root['relation']}": f"{root['strategy']} ({root['columns']})" for root in found}
        changed = {name: key for name, key in now.items() if self._told.get(name) != key}
        self._told |= changed
        common = {"ts": now_us(), "host": os.uname().nodename, "component": COMPONENT, "db": link.db}
        settings = [{**common, "name": name, "value": key} for name, key in changed.items()]
        return [rows("setting", settings)] if settings else []


def _scans(leaves: Iterable[int], increase: Increase[tuple[int, str]], figures: Figures, entity: str) -> None:
    """How often partitions were scanned, by whatever way: all together, and the one where it was least often."""
    scans = [
        sum(increase.per_s.get((leaf, name), 0.0) for name in SCANS)
        for leaf in leaves
        if (leaf, SCANS[0]) in increase.per_s
    ]
    if scans:
        figures.gauge("pg_partition_tree.leaves_scanned", sum(per_s > 0 for per_s in scans), entity=entity)
        figures.rate("pg_partition_tree.scans", sum(scans), increase.interval_s, entity)
        figures.rate("pg_partition_tree.least_scans", min(scans), increase.interval_s, entity)
