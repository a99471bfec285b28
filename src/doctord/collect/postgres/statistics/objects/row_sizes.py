"""How large the rows of large tables are: what their blocks are held against.

pg_stats shows to each role the columns that it may select. Where it shows not all of a table's, the types say how wide
a row is at the most; and what may lie beside its row (TOAST) leaves no more than two thousand bytes in it.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

_EVERY_S: Final = 60.0
_LARGE_BYTES: Final = 10 * 2**20
_HEADER: Final = 23  # HeapTupleHeader, without the bitmap of nulls
_ITEM: Final = 4  # the pointer to a row in its block
_ALIGNED: Final = 8
_ROW_IN_BLOCK: Final = 8160  # a row never lies in two blocks
_TOASTED: Final = 2040  # TOAST_TUPLE_TARGET; columns that stay in the row whatever happens are looked for

# A size is asked with a weak lock on the table: one that somebody holds, or wants, for himself alone is left out. A
# character takes four bytes at the most. What a dropped column held may still lie in old rows.
_ROWS: Final = """\
SELECT /* doctord */ c.oid AS relid, size.bytes AS heap_bytes, c.relpages, a.*, c.reltoastrelid <> 0 AS has_toast,
       coalesce((SELECT option_value::int FROM pg_options_to_table(c.reloptions) WHERE option_name = 'fillfactor'), 100)
           AS fillfactor
FROM pg_class AS c
     CROSS JOIN LATERAL (SELECT pg_relation_size(c.oid, 'main') AS bytes) AS size
     CROSS JOIN LATERAL (
         SELECT count(*) AS columns, bool_and(s.attname IS NOT NULL AND NOT t.attisdropped) AS is_told,
                sum(s.avg_width * (1 - s.null_frac))::float8 AS told_bytes,
                sum(CASE WHEN t.attlen > 0 THEN t.attlen
                         WHEN t.atttypid IN ('varchar'::regtype, 'bpchar'::regtype) AND t.atttypmod > 4
                             THEN 4 * t.atttypmod END)::float8 AS most_bytes,
                bool_or(t.attlen < 0 AND NOT (t.atttypid IN ('varchar'::regtype, 'bpchar'::regtype)
                                              AND t.atttypmod > 4)) AS is_unlimited,
                bool_or(t.attlen < 0 AND t.attstorage IN ('p', 'm')) AS stays
         FROM pg_attribute AS t LEFT JOIN pg_stats AS s
              ON s.schemaname = (SELECT nspname FROM pg_namespace AS n WHERE n.oid = c.relnamespace)
                 AND s.tablename = c.relname AND s.attname = t.attname AND NOT s.inherited
         WHERE t.attrelid = c.oid AND t.attnum > 0
     ) AS a
WHERE c.oid = ANY(%s) AND c.relkind IN ('r', 'm') AND size.bytes >= %s AND c.oid NOT IN (
    SELECT relation FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND locktype = 'relation' AND relation IS NOT NULL)
"""


class RowSizes:
    """Fills `statistic` with the blocks of the large tables of a database, and what a row of theirs takes there."""

    def __init__(self) -> None:
        """Due at the start, then once a minute."""
        self._cadence = Cadence(_EVERY_S)

    def read(self, link: Link, tables: Iterable[Mapping[str, Any]], figures: Figures) -> None:
        """The readings of this moment, of tables given by `relid` and `relation`, go into `figures`."""
        names = {table["relid"]: f"{link.database}.{table['relation']}" for table in tables}
        if not names or not self._cadence.due(time.monotonic()):
            return
        for row in link.query(_ROWS, ([*names], _LARGE_BYTES)):
            entity = names[row["relid"]]
            figures.gauge("pg_class.heap_bytes", row["heap_bytes"], "bytes", entity)
            figures.gauge("pg_class.relpages", row["relpages"], "blocks", entity)
            figures.gauge("pg_class.fillfactor_pct", row["fillfactor"], "pct", entity)
            figures.gauge("pg_class.row_bytes", _row_bytes(row), "bytes", entity)


def _row_bytes(row: Mapping[str, Any]) -> float:
    """What a row takes in its block: by its columns' mean widths where all are told, else at the most.

    >>> told = {"columns": 2, "is_told": True, "told_bytes": 12.0, "most_bytes": 4.0, "is_unlimited": True}
    >>> _row_bytes({**told, "has_toast": True, "stays": False})
    60.0
    >>> _row_bytes({**told, "is_told": False, "has_toast": True, "stays": False})
    2040.0
    """
    most = float(_TOASTED if row["has_toast"] and not row["stays"] else _ROW_IN_BLOCK)
    width = row["told_bytes"] if row["is_told"] else None if row["is_unlimited"] else row["most_bytes"]
    if width is None:
        return most
    header = _aligned(_HEADER + -(-row["columns"] // 8))
    # Each column may begin on the next eighth byte: padding is counted as if each one's did.
    padding = (_ALIGNED - 1) * row["columns"]
    return float(min(_ITEM + header + _aligned(width + padding), most))


def _aligned(size: float) -> int:
    return -(-int(size) // _ALIGNED) * _ALIGNED
