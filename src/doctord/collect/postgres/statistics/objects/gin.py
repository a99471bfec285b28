"""How long the lists of pending entries of GIN indexes are, where pgstattuple tells it."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from psycopg import sql

from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.errors import UserError

_FUNCTION: Final = """\
SELECT /* doctord */ n.nspname AS schema
FROM pg_extension AS e JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
     JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
     JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE e.extname = 'pgstattuple' AND p.proname = 'pgstatginindex' AND has_function_privilege(p.oid, 'EXECUTE')
      AND has_schema_privilege(n.oid, 'USAGE')
"""
# One page of each index is read, with a weak lock on it: what somebody holds, or wants, for himself alone is left out.
# Materialized, or the plan may look into an index of another kind before it finds that out, which is an error.
_PENDING: Final = """\
WITH gin AS MATERIALIZED (
    SELECT c.oid, n.nspname || '.' || c.relname AS relation
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_index AS i ON i.indexrelid = c.oid
         JOIN pg_am AS am ON am.oid = c.relam
    WHERE c.oid = ANY(%s) AND am.amname = 'gin' AND c.relkind = 'i' AND c.relpersistence <> 't' AND i.indisvalid
          AND i.indrelid NOT IN (SELECT relation FROM pg_locks WHERE mode = 'AccessExclusiveLock'
                                 AND locktype = 'relation' AND relation IS NOT NULL)
)
SELECT /* doctord */ relation, pending_pages FROM gin, LATERAL {}.pgstatginindex(gin.oid::regclass)
"""


def pending(link: Link, indexes: Iterable[Mapping[str, Any]], figures: Figures) -> None:
    """Pages of the pending lists of some indexes, given by `relid`, go into `figures`."""
    for function in link.query(_FUNCTION):
        asked = sql.SQL(_PENDING).format(sql.Identifier(function["schema"]))
        try:
            found = link.query(asked, ([index["relid"] for index in indexes],))
        except UserError as refusal:  # an index was dropped, or locked, just now: the others are told the next time
            link.notices.not_measured(link.db, f"pending lists of {link.database}", str(refusal), refusal.hint)
            continue
        for row in found:
            name = f"{link.database}.{row['relation']}"
            figures.gauge("pg_index.gin_pending_pages", row["pending_pages"], "blocks", name)
