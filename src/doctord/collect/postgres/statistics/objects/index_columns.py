"""Which columns the indexes of a table begin with: what tells a missing index from one that is not used."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.rows import now_us, rows

COMPONENT: Final = "pg_index"

# Catalogues alone, without a lock on a table. An expression has no column, and its text may hold a constant: of the
# parsed one its functions and columns are taken. An index with several expressions has them together.
_INDEXES: Final = """\
SELECT /* doctord */ i.indrelid AS relid, c.relname AS index, am.amname AS method,
       i.indisvalid AND i.indisready AS is_valid, i.indpred IS NOT NULL AS is_partial,
       CASE WHEN am.amname = 'gin'
                 AND coalesce((SELECT option_value::bool FROM pg_options_to_table(c.reloptions)
                               WHERE option_name = 'fastupdate'), true)
            THEN coalesce((SELECT option_value::bigint FROM pg_options_to_table(c.reloptions)
                           WHERE option_name = 'gin_pending_list_limit'),
                          pg_size_bytes(current_setting('gin_pending_list_limit')) / 1024) END AS pending_kb,
       (SELECT string_agg(DISTINCT proname, ' ') FROM regexp_matches(i.indexprs::text, ':funcid ([0-9]+)', 'g') AS f
        JOIN pg_proc AS p ON p.oid = f[1]::oid) AS functions,
       (SELECT string_agg(DISTINCT attname, ' ') FROM regexp_matches(i.indexprs::text, ':varattno ([0-9]+)', 'g') AS v
        JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = v[1]::int) AS of_columns,
       (SELECT string_agg(coalesce(a.attname, '(expression)'), ', ' ORDER BY k.place)
        FROM unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
             LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND a.attnum > 0
        WHERE k.place <= i.indnkeyatts) AS columns,
       (SELECT string_agg(a.attname, ', ' ORDER BY k.place) FROM unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
             JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
        WHERE k.place > i.indnkeyatts) AS included
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS am ON am.oid = c.relam
WHERE i.indrelid = ANY(%s)
"""

# The columns that B-trees begin with; whether one of these serves LIKE: in the order of bytes, or by its class of
# operators. The built-in provider (17 on) has no other order, ICU never has it; to_jsonb leaves out what is not there.
_TYPES: Final = """\
SELECT /* doctord */ i.indrelid AS relid, attname AS "column", format_type(atttypid, NULL) AS type,
       bool_or(opcname LIKE '%%pattern\\_ops' OR collprovider = 'b'
               OR (collprovider = 'c' AND collcollate IN ('C', 'POSIX'))
               OR (collprovider = 'd' AND (SELECT CASE to_jsonb(d) ->> 'datlocprovider' WHEN 'b' THEN true
                                                  WHEN 'i' THEN false ELSE datcollate IN ('C', 'POSIX') END
                                           FROM pg_database AS d WHERE datname = current_database()))) AS patterns
FROM pg_index AS i JOIN pg_class AS c ON c.oid = indexrelid JOIN pg_am AS am ON am.oid = relam AND amname = 'btree'
     JOIN pg_attribute AS a ON attrelid = indrelid AND attnum = indkey[0]
     JOIN pg_opclass AS o ON o.oid = indclass[0] LEFT JOIN pg_collation AS l ON l.oid = indcollation[0]
WHERE i.indrelid = ANY(%s) AND indisvalid GROUP BY 1, 2, 3
"""
TYPES: Final = "pg_attribute"


class IndexColumns:
    """Fills `setting` with the indexes of the tables of one database: once, and again what changed.

    The name is `database.schema.table index`, the value `btree (customer, created)`, with `including ...`, `partial`
    and `invalid` behind it; null once the index is gone. How many valid indexes each table has is in `statistic`. The
    types of the columns that B-trees begin with are settings of `pg_attribute`: `database.schema.table column`, such as
    `bigint` or `text, patterns`, the latter where an index of it serves LIKE.
    """

    def __init__(self) -> None:
        """Nothing is told yet."""
        self._told: dict[str, str] = {}
        self._types: dict[str, str] = {}

    def read(self, link: Link, tables: Iterable[Mapping[str, Any]]) -> list[Batch]:
        """Rows for some tables, given by `relid` and `relation`."""
        entities = {table["relid"]: f"{link.database}.{table['relation']}" for table in tables}
        found = link.query(_INDEXES, (list(entities),))
        figures = Figures(link.db)
        for relid, entity in entities.items():
            valid = sum(row["relid"] == relid and row["is_valid"] for row in found)
            figures.gauge("pg_index.valid_indexes", valid, entity=entity)
        now = {f"{entities[row['relid']]} {row['index']}": described(row) for row in found}
        looked_at = set(entities.values())
        gone = [name for name in self._told if name not in now and name.rpartition(" ")[0] in looked_at]
        changed: dict[str, str | None] = {name: what for name, what in now.items() if self._told.get(name) != what}
        changed |= dict.fromkeys(gone)
        self._told = {name: what for name, what in {**self._told, **now}.items() if name not in gone}
        common = {"ts": now_us(), "host": os.uname().nodename, "component": COMPONENT, "db": link.db}
        settings: list[dict[str, Any]] = [{**common, "name": name, "value": what} for name, what in changed.items()]
        settings += [common | row | {"component": TYPES} for row in self._typed(link, entities)]
        return figures.batches() + ([rows("setting", settings)] if settings else [])

    def _typed(self, link: Link, entities: Mapping[int, str]) -> list[dict[str, Any]]:
        """Types of the columns that indexes begin with, as far as they are new."""
        told = {
            f"{entities[row['relid']]} {row['column']}": row["type"] + (", patterns" if row["patterns"] else "")
            for row in link.query(_TYPES, (list(entities),))
        }
        new = {name: what for name, what in told.items() if self._types.get(name) != what}
        self._types |= new
        return [{"name": name, "value": what} for name, what in new.items()]


def described(index: Mapping[str, Any]) -> str:
    """An index in words.

    >>> described({"method": "btree", "columns": "customer, created", "is_valid": False, "is_partial": True})
    'btree (customer, created) partial invalid'
    >>> described({"method": "btree", "columns": "(expression)", "functions": "lower", "of_columns": "title",
    ...            "is_valid": True, "is_partial": False})
    'btree ((expression lower: title))'
    >>> described({"method": "btree", "columns": "customer", "included": "total", "is_valid": True,
    ...            "is_partial": False})
    'btree (customer) including total'
    """
    columns = index["columns"]
    if index.get("functions") and index.get("of_columns"):
        columns = columns.replace("(expression)", f"(expression {index['functions']}: {index['of_columns']})")
    parts = [index["method"], f"({columns})"]
    parts += [f"including {index['included']}"] if index.get("included") else []
    parts += [f"pending {index['pending_kb']} kB"] if index.get("pending_kb") else []
    parts += ["partial"] if index["is_partial"] else []
    parts += [] if index["is_valid"] else ["invalid"]
    return " ".join(parts)
