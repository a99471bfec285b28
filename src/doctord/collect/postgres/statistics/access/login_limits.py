"""What turns a client away at its login whatever its password: limits of its role and of its database."""

from typing import Final

from doctord._native import Batch
from doctord.collect.core.rates import EARLY, Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

# Everybody may read both catalogues. Superusers are held to no limit of a role; the server's own roles never log in.
_ROLES: Final = """\
SELECT /* doctord */ rolname AS entity,
       CASE WHEN NOT rolcanlogin THEN 1 END AS "pg_roles.no_login",
       date_part('epoch', CASE WHEN isfinite(rolvaliduntil) THEN rolvaliduntil - clock_timestamp() END)
           AS "pg_roles.password_valid_s",
       CASE WHEN is_limited THEN rolconnlimit END AS "pg_roles.connection_limit",
       CASE WHEN is_limited THEN (SELECT count(*) FROM pg_stat_get_activity(NULL)
                                  WHERE usesysid = r.oid AND backend_type = 'client backend') END
           AS "pg_roles.connections"
FROM pg_roles AS r, LATERAL (SELECT rolconnlimit >= 0 AND NOT rolsuper AS is_limited) AS of_role
WHERE rolname !~ '^pg_' AND (is_limited OR isfinite(rolvaliduntil) OR NOT rolcanlogin)
ORDER BY rolcanlogin DESC, rolname LIMIT 200
"""
# -2: DROP DATABASE was interrupted, and nobody can connect any more.
_DATABASES: Final = """\
SELECT /* doctord */ datname AS entity,
       CASE WHEN NOT datallowconn THEN 1 END AS "pg_database.no_connections",
       CASE WHEN datconnlimit = -2 THEN 1 END AS "pg_database.is_invalid",
       CASE WHEN datconnlimit >= 0 THEN datconnlimit END AS "pg_database.connection_limit",
       CASE WHEN datconnlimit >= 0 THEN (SELECT count(*) FROM pg_stat_get_activity(NULL)
                                         WHERE datid = d.oid AND backend_type = 'client backend') END
           AS "pg_database.connections"
FROM pg_database AS d WHERE datname <> 'template0' AND (NOT datallowconn OR datconnlimit <> -1)
ORDER BY datname LIMIT 200
"""


class LoginLimits:
    """Fills `statistic` with `pg_roles.*` and `pg_database.*` of those who are limited; the entity is their name.

    `password_valid_s` is negative once VALID UNTIL is over; what may be used without a limit has no row.
    """

    name = "limits of roles and databases"

    def __init__(self) -> None:
        """Due soon after the start, then every half minute."""
        self.cadence = Cadence(30.0, EARLY)

    def read(self, link: Link) -> list[Batch]:
        """The limits of this moment, and what is used of them."""
        figures = Figures(link.db)
        for sql in (_ROLES, _DATABASES):
            for row in link.query(sql):
                figures.gauges(row)
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""
