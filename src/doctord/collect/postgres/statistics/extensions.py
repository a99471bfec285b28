"""Where an extension is, if nobody may put something else in its place.

What is called by its name is whatever has that name: whoever owns a schema may rename it and make another one with a
function of his own, which a superuser's session would then run. From version 15 on the schema public is the database
owner's (pg_database_owner). A session without more rights than it needs, as of pg_monitor, has less to lose.
"""

from typing import Final, NamedTuple

from doctord.collect.postgres.connection.link import Link

_WHERE: Final = """\
SELECT /* doctord */ n.nspname AS schema, o.rolname AS owner,
       current_setting('is_superuser') = 'off' OR o.rolsuper AS is_safe
FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace
     JOIN pg_roles AS o ON o.oid = CASE pg_get_userbyid(n.nspowner)
         WHEN 'pg_database_owner' THEN (SELECT datdba FROM pg_database WHERE datname = current_database())
         ELSE n.nspowner END
WHERE extname = %s
"""
HINT: Final = (
    "CREATE EXTENSION {} in a database that a superuser owns, as postgres (it counts for the whole server), or connect "
    "as a role that is no superuser: CREATE ROLE doctord LOGIN; GRANT pg_monitor TO doctord"
)


class Place(NamedTuple):
    """The schema that an extension is in, who may rename it, and whether that is nobody to be afraid of."""

    schema: str
    owner: str
    is_safe: bool

    @property
    def why_not(self) -> str:
        """Why it is not asked, where it is not safe."""
        return f"{self.owner}, who is no superuser, may put something else in the place of its schema"


def place_of(link: Link, extension: str) -> Place | None:
    """Where an extension is in the database of a link; null where it is not."""
    found = link.query(_WHERE, (extension,))
    return Place(**found[0]) if found else None
