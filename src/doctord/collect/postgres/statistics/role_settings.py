"""Settings that hold for a role or a database only: no session of another role sees them in pg_settings."""

import os
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.dataset.role_settings import COMPONENT, READING, Scope, kept
from doctord.dataset.rows import now_us, rows

# The catalogue is readable by everybody, and small. What is left of a role that is being dropped is nobody's.
_ROLE_SETTINGS: Final = """\
SELECT /* doctord */ r.rolname AS role, d.datname AS database, coalesce(s.name, c.name) AS name, c.value, s.unit,
       s.vartype
FROM pg_db_role_setting AS x
     LEFT JOIN pg_roles AS r ON r.oid = x.setrole
     LEFT JOIN pg_database AS d ON d.oid = x.setdatabase
     CROSS JOIN LATERAL (SELECT split_part(one, '=', 1) AS name, substr(one, strpos(one, '=') + 1) AS value
                         FROM unnest(x.setconfig) AS one) AS c
     LEFT JOIN pg_settings AS s ON lower(s.name) = lower(c.name)
WHERE (x.setrole = 0 OR r.oid IS NOT NULL) AND (x.setdatabase = 0 OR d.oid IS NOT NULL)
ORDER BY role, database, name
"""


class RoleSettings:
    """Fills `setting` (component pg_db_role_setting, name `ROLE DATABASE name`); changes become events.

    Values are in the unit of pg_settings. Those of text, and of what pg_settings does not know, are not kept.
    """

    name = "settings of roles and databases"

    def __init__(self) -> None:
        """Due every minute: nothing tells when they change."""
        self.cadence = Cadence(every_s=60)
        self._known: dict[str, dict[str, Any]] | None = None

    def read(self, link: Link) -> list[Batch]:
        """All and their number the first time, later those that changed, without a value those that are gone."""
        now = {row["name"]: row for row in map(_shown, link.query(_ROLE_SETTINGS))}
        before = self._known or {}
        gone = {name: {"name": name, "value": None, "unit": None} for name in before if name not in now}
        changed = {name: row for name, row in now.items() if row != before.get(name)} | gone
        if self._known is None:
            changed[READING] = {"name": READING, "value": str(len(now)), "unit": None}
        else:
            for name, row in changed.items():
                was = before.get(name, {}).get("value") or "not set"
                link.notices.happened("settings change", link.db, name, f"was {was}, is {row['value'] or 'not set'}")
        self._known = now
        common = {"ts": now_us(), "host": os.uname().nodename, "component": COMPONENT, "db": link.db}
        return [rows("setting", [{**common, **row} for row in changed.values()])] if changed else []

    def close(self) -> None:
        """There is nothing of its own."""


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """The row as `setting` holds it."""
    scope = Scope(row["role"], row["database"], row["name"])
    source = "database" if scope.role is None else "user" if scope.database is None else "database user"
    value = kept(row["name"], row["value"], row["unit"], row["vartype"])
    return {"name": scope.text, "value": value, "unit": row["unit"], "source": source}
