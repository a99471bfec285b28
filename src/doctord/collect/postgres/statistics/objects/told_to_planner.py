"""What the planner is told of columns and functions: numbers of values set by hand, functions that are volatile."""

from typing import Final

from doctord.collect.postgres.connection.link import Link

OPTIONS: Final = "pg_attribute.attoptions"
VOLATILE: Final = "pg_proc.provolatile"

# Since the releases of November 2026 a server keeps numbers of its own there too (pg_attver): nobody set those.
_OPTIONS: Final = """\
SELECT /* doctord */ n.nspname || '.' || c.relname || ' ' || a.attname AS name,
       (SELECT string_agg(one, ', ' ORDER BY one) FROM unnest(a.attoptions) AS one WHERE one LIKE 'n_distinct%') AS told
FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE array_to_string(a.attoptions, ' ') LIKE '%n_distinct%' AND NOT a.attisdropped
      AND n.nspname NOT IN ('pg_catalog', 'information_schema')
ORDER BY c.relpages DESC, a.attrelid, a.attnum LIMIT 500
"""
# One in SQL may be put into the statement that calls it, and is judged by what stands in it then.
_VOLATILE: Final = """\
SELECT /* doctord */ DISTINCT n.nspname || '.' || f.proname AS name, l.lanname AS told
FROM pg_proc AS f JOIN pg_namespace AS n ON n.oid = f.pronamespace JOIN pg_language AS l ON l.oid = f.prolang
WHERE f.provolatile = 'v' AND f.prokind = 'f' AND l.lanname NOT IN ('c', 'internal', 'sql')
      AND f.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'void'::regtype)
      AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = 'pg_proc'::regclass AND e.objid = f.oid
                            AND e.deptype = 'e')
ORDER BY 1 LIMIT 500
"""


def told_to_planner(link: Link) -> dict[tuple[str, str], str]:
    """Values by component and name: options of columns (n_distinct=2), the language of volatile functions."""
    queries = {OPTIONS: _OPTIONS, VOLATILE: _VOLATILE}
    return {(component, row["name"]): row["told"] for component, sql in queries.items() for row in link.query(sql)}
