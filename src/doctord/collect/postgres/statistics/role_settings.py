"""What databases and roles have logged otherwise than the server as a whole (ALTER DATABASE, ALTER ROLE ... SET)."""

import os
from typing import Final

from doctord._native import Batch
from doctord.collect.core.rates import EARLY, Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.dataset.rows import now_us, rows
from doctord.dataset.secrets import shown

# Of all that may be set so only what is logged is asked for: other values may hold anything.
_SETTINGS: Final = """\
SELECT /* doctord */ coalesce(d.datname, '*') AS database, coalesce(r.rolname, '*') AS role,
       split_part(one, '=', 1) AS name, substr(one, strpos(one, '=') + 1) AS value
FROM pg_db_role_setting AS s LEFT JOIN pg_database AS d ON d.oid = s.setdatabase
     LEFT JOIN pg_roles AS r ON r.oid = s.setrole, unnest(s.setconfig) AS one
WHERE split_part(one, '=', 1) ~ '^(log_|debug_print_|auto_explain[.]|pgaudit[.]log$|(session|local)_preload_libraries$)'
ORDER BY 1, 2, 3 LIMIT 200
"""
COMPONENT: Final = "pg_db_role_setting"


class RoleSettings:
    """Fills `setting`, component `pg_db_role_setting`, named `DATABASE ROLE SETTING`; `*` is every database or role.

    Told once, later what changed; null once it is gone.
    """

    name = "settings of databases and roles"

    def __init__(self) -> None:
        """Due soon after the start, then every minute."""
        self.cadence = Cadence(60.0, EARLY)
        self._known: dict[str, str] = {}

    def read(self, link: Link) -> list[Batch]:
        """Those that are new or changed since the last call."""
        found = {
            f"{row['database']} {row['role']} {row['name']}": shown(row["name"], row["value"])
            for row in link.query(_SETTINGS)
        }
        gone = {name: None for name in self._known if name not in found}
        changed = {name: value for name, value in found.items() if self._known.get(name) != value}
        self._known = found
        common = {"ts": now_us(), "host": os.uname().nodename, "component": COMPONENT, "db": link.db}
        told = [{**common, "name": name, "value": value} for name, value in {**changed, **gone}.items()]
        return [rows("setting", told)] if told else []

    def close(self) -> None:
        """There is nothing of its own."""
