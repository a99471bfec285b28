"""By which ways a statement reads tables that it does not name: foreign keys, triggers, functions, views."""

import os
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.objects.told_to_planner import told_to_planner
from doctord.dataset.rows import now_us, rows
from doctord.regex import regex

FOREIGN_KEYS: Final = "pg_constraint"
TRIGGERS: Final = "pg_trigger"
FUNCTIONS: Final = "pg_proc"
VIEWS: Final = "pg_rewrite"
POLICIES: Final = "pg_policy"
FOREIGN_TABLES: Final = "pg_foreign_table"
EVENT_TRIGGERS: Final = "pg_event_trigger"
INHERITS: Final = "pg_inherits"

# Catalogues alone, without a lock on a table. A key is served by an index that begins with one of its columns; one that
# leaves out nulls only serves as well, for a null refers to nothing.
_FOREIGN_KEYS: Final = """\
SELECT /* doctord */ n.nspname || '.' || c.relname AS relation, k.conname AS name,
       rn.nspname || '.' || r.relname AS referenced,
       (SELECT string_agg(attname, ', ' ORDER BY place) FROM unnest(k.conkey) WITH ORDINALITY AS u(attnum, place)
        JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.attnum) AS columns
FROM pg_constraint AS k
     JOIN pg_class AS c ON c.oid = k.conrelid AND c.relkind = 'r' JOIN pg_namespace AS n ON n.oid = c.relnamespace
     JOIN pg_class AS r ON r.oid = k.confrelid JOIN pg_namespace AS rn ON rn.oid = r.relnamespace
WHERE k.contype = 'f' AND NOT EXISTS (
    SELECT FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid JOIN pg_am AS am ON am.oid = x.relam
    WHERE i.indrelid = k.conrelid AND i.indisvalid AND am.amname IN ('btree', 'hash') AND i.indkey[0] = ANY(k.conkey)
          AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) ~ '^[(][^()]+ IS NOT NULL[)]$'))
ORDER BY c.relpages DESC, k.oid LIMIT 100
"""
_TRIGGERS: Final = """\
SELECT /* doctord */ n.nspname || '.' || c.relname AS relation, t.tgname AS name, t.tgtype AS type,
       t.tgdeferrable AND t.tginitdeferred AS is_deferred, fn.nspname || '.' || f.proname AS function
FROM pg_trigger AS t
     JOIN pg_class AS c ON c.oid = t.tgrelid AND NOT c.relispartition JOIN pg_namespace AS n ON n.oid = c.relnamespace
     JOIN pg_proc AS f ON f.oid = t.tgfoid JOIN pg_namespace AS fn ON fn.oid = f.pronamespace
WHERE NOT t.tgisinternal AND t.tgenabled <> 'D'
ORDER BY t.oid LIMIT 500
"""
# The source is looked through for names, and not kept; a function whose body is parsed has dependencies in its place.
_FUNCTIONS: Final = """\
SELECT /* doctord */ n.nspname || '.' || f.proname AS name, left(f.prosrc, 20000) AS source,
       (SELECT array_agg(DISTINCT refobjid::regclass::text) FROM pg_depend AS d
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass) AS relations
FROM pg_proc AS f JOIN pg_namespace AS n ON n.oid = f.pronamespace JOIN pg_language AS l ON l.oid = f.prolang
WHERE l.lanname IN ('plpgsql', 'sql') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = 'pg_proc'::regclass AND e.objid = f.oid
                            AND e.deptype = 'e')
ORDER BY f.prorettype = 'trigger'::regtype DESC, f.oid LIMIT 500
"""
_VIEWS: Final = """\
SELECT /* doctord */ n.nspname || '.' || v.relname AS name,
       array_agg(DISTINCT coalesce(rn.nspname || '.' || r.relname, fn.nspname || '.' || f.proname)) AS uses
FROM pg_rewrite AS w
     JOIN pg_class AS v ON v.oid = w.ev_class AND v.relkind = 'v' JOIN pg_namespace AS n ON n.oid = v.relnamespace
     JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
     LEFT JOIN pg_class AS r ON d.refclassid = 'pg_class'::regclass AND r.oid = d.refobjid AND r.oid <> v.oid
     LEFT JOIN pg_namespace AS rn ON rn.oid = r.relnamespace
     LEFT JOIN pg_proc AS f ON d.refclassid = 'pg_proc'::regclass AND f.oid = d.refobjid
     LEFT JOIN pg_namespace AS fn ON fn.oid = f.pronamespace
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND coalesce(r.oid, f.oid) IS NOT NULL
      AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = 'pg_class'::regclass AND e.objid = v.oid
                            AND e.deptype = 'e')
GROUP BY 1 ORDER BY 1 LIMIT 500
"""
# Of the parsed condition of a policy the functions alone are taken: its text may hold a constant.
_POLICIES: Final = """\
SELECT /* doctord */ n.nspname || '.' || c.relname AS relation, p.polname AS name,
       CASE p.polcmd WHEN 'r' THEN 'select' WHEN 'a' THEN 'insert' WHEN 'w' THEN 'update' WHEN 'd' THEN 'delete'
                     ELSE 'all' END AS command,
       (SELECT string_agg(DISTINCT fn.nspname || '.' || f.proname, ', ')
        FROM regexp_matches(p.polqual::text, ':funcid ([0-9]+)', 'g') AS called
             JOIN pg_proc AS f ON f.oid = called[1]::oid
             JOIN pg_namespace AS fn ON fn.oid = f.pronamespace) AS functions
FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid AND c.relrowsecurity
     JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE p.polqual IS NOT NULL ORDER BY p.oid LIMIT 500
"""
# Of the options fetch_size alone, the table's own before its server's: others say where the server is.
_FOREIGN_TABLES: Final = """\
SELECT /* doctord */ n.nspname || '.' || c.relname AS name, s.srvname AS server, w.fdwname AS wrapper,
       coalesce((SELECT option_value FROM pg_options_to_table(t.ftoptions) WHERE option_name = 'fetch_size'),
                (SELECT option_value FROM pg_options_to_table(s.srvoptions) WHERE option_name = 'fetch_size')
       ) AS fetch_size
FROM pg_foreign_table AS t JOIN pg_class AS c ON c.oid = t.ftrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
     JOIN pg_foreign_server AS s ON s.oid = t.ftserver JOIN pg_foreign_data_wrapper AS w ON w.oid = s.srvfdw
ORDER BY t.ftrelid LIMIT 500
"""
_EVENT_TRIGGERS: Final = """\
SELECT /* doctord */ e.evtname AS name, e.evtevent AS event, array_to_string(e.evttags, ', ') AS tags,
       fn.nspname || '.' || f.proname AS function
FROM pg_event_trigger AS e JOIN pg_proc AS f ON f.oid = e.evtfoid JOIN pg_namespace AS fn ON fn.oid = f.pronamespace
WHERE e.evtenabled IN ('O', 'A') ORDER BY e.oid LIMIT 100
"""
# Partitions and other children: a statement that names the parent reads them.
_CHILDREN: Final = """\
SELECT /* doctord */ n.nspname || '.' || c.relname AS name, pn.nspname || '.' || p.relname AS parent
FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid AND c.relkind IN ('r', 'p', 'f')
     JOIN pg_namespace AS n ON n.oid = c.relnamespace
     JOIN pg_class AS p ON p.oid = i.inhparent JOIN pg_namespace AS pn ON pn.oid = p.relnamespace
WHERE i.inhseqno = 1 ORDER BY c.oid DESC LIMIT 500
"""
_RELATIONS: Final = """\
SELECT /* doctord */ n.nspname || '.' || c.relname AS name
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND c.relpersistence <> 't'
      AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
ORDER BY c.oid LIMIT 20000
"""

EXECUTES: Final = "(execute)"
"""In place of a name: the function makes up statements, and what they read its source does not tell."""
_COMMENT: Final = regex(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME: Final = regex(r"[^\W\d][\w$]*")
# pg_trigger.tgtype, as in the server's catalog/pg_trigger.h.
_ROW, _BEFORE, _INSTEAD = 1, 2, 64
_EVENTS: Final = {4: "insert", 16: "update", 8: "delete", 32: "truncate"}

Told = dict[tuple[str, str], str]
"""Values by component and name."""


class Dependencies:
    """Fills `setting` with what depends on what in one database: at first all, later what changed.

    Components: `pg_constraint` (foreign keys that no index serves), `pg_trigger`, `pg_proc` (what functions name of
    tables, views and other functions), `pg_rewrite` (what views are made of), `pg_policy` (policies of tables with
    row-level security in force, and the functions that they call), `pg_foreign_table` (its server), `pg_event_trigger`
    (its event, the commands that it is for, where not for all, and its function), `pg_inherits` (the first parent of
    the five hundred newest partitions and other children), and what the planner is told by hand
    (`told_to_planner.py`). The value is null once it is gone.
    """

    def __init__(self) -> None:
        """Nothing is told yet."""
        self._told: Told = {}

    def read(self, link: Link) -> list[Batch]:
        """What changed since the last call."""
        now = _now(link)
        changed: dict[tuple[str, str], str | None] = {key: it for key, it in now.items() if self._told.get(key) != it}
        changed |= dict.fromkeys(key for key in self._told if key not in now)
        self._told = now
        common = {"ts": now_us(), "host": os.uname().nodename, "db": link.db}
        settings = [
            {**common, "component": component, "name": f"{link.database}.{name}", "value": value}
            for (component, name), value in changed.items()
        ]
        return [rows("setting", settings)] if settings else []


def _now(link: Link) -> Told:
    told: Told = told_to_planner(link)
    for key in link.query(_FOREIGN_KEYS):
        name = f"{key['relation']} {key['name']}"
        told[FOREIGN_KEYS, name] = f"({key['columns']}) references {key['referenced']}"
    triggers = link.query(_TRIGGERS)
    for trigger in triggers:
        told[TRIGGERS, f"{trigger['relation']} {trigger['name']}"] = described(trigger)
    for policy in link.query(_POLICIES):
        calls = f", calls {policy['functions']}" if policy["functions"] else ""
        told[POLICIES, f"{policy['relation']} {policy['name']}"] = f"for {policy['command']}{calls}"
    for table in link.query(_FOREIGN_TABLES):
        size = f", fetch_size {table['fetch_size']}" if table["fetch_size"] else ""
        told[FOREIGN_TABLES, table["name"]] = f"server {table['server']} ({table['wrapper']}){size}"
    for trigger in link.query(_EVENT_TRIGGERS):
        commands = f" ({trigger['tags']})" if trigger["tags"] else ""
        told[EVENT_TRIGGERS, trigger["name"]] = f"{trigger['event']}{commands}: {trigger['function']}"
    for child in link.query(_CHILDREN):
        told[INHERITS, child["name"]] = child["parent"]
    for view in link.query(_VIEWS):
        told[VIEWS, view["name"]] = ", ".join(view["uses"])
    functions = link.query(_FUNCTIONS)
    if functions:
        relations = [row["name"] for row in link.query(_RELATIONS)]
        known = _by_bare_name([*relations, *(function["name"] for function in functions)])
        told |= {(FUNCTIONS, name): ", ".join(sorted(uses)) for name, uses in _uses(functions, known).items() if uses}
    return told


def described(trigger: Mapping[str, Any]) -> str:
    """A trigger in words.

    >>> described({"type": 1 + 4 + 16, "function": "public.total"})
    'after insert, update for each row: public.total'
    >>> described({"type": 1 + 4, "function": "public.total", "is_deferred": True})
    'after insert for each row, deferred: public.total'
    """
    kind = trigger["type"]
    when = "before" if kind & _BEFORE else "instead of" if kind & _INSTEAD else "after"
    events = ", ".join(name for bit, name in _EVENTS.items() if kind & bit)
    level = "row" if kind & _ROW else "statement"
    return (
        f"{when} {events} for each {level}{', deferred' if trigger.get('is_deferred') else ''}: {trigger['function']}"
    )


def names_in(source: str, known: Mapping[str, Collection[str]]) -> set[str]:
    """Which of the known things a function's source names, by their names without schema; comments do not count.

    EXECUTES is among them where it makes up statements.

    >>> sorted(names_in("SELECT * FROM orders -- not items", {"orders": {"public.orders"}, "items": {"public.items"}}))
    ['public.orders']
    """
    words = {word.lower() for word in _NAME.findall(_COMMENT.sub(" ", source))}
    found = {name for word in words for name in known.get(word, ())}
    return found | {EXECUTES} if "execute" in words else found


def _by_bare_name(names: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name in names:
        found.setdefault(name.partition(".")[2].lower(), set()).add(name)
    return found


def _uses(functions: Iterable[Mapping[str, Any]], known: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """What each function names, functions of one name taken together."""
    found: dict[str, set[str]] = {}
    for function in functions:
        parsed = " ".join(function["relations"] or ())
        uses = names_in(f"{function['source'] or ''} {parsed}", known) - {function["name"]}
        found.setdefault(function["name"], set()).update(uses)
    return found
