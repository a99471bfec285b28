"""Which databases of a server to look into, and connections to them."""

from typing import Any, Final

from doctord.collect.core.link import Away
from doctord.collect.postgres.connection.link import Link

AT_MOST: Final = 10

_LARGEST: Final = """\
SELECT /* doctord */ datname AS name, has_database_privilege(oid, 'CONNECT') AS allowed,
       CASE WHEN has_database_privilege(oid, 'CONNECT') OR pg_has_role('pg_read_all_stats', 'USAGE')
            THEN pg_database_size(oid) END AS used_bytes
FROM pg_database WHERE datallowconn AND NOT datistemplate
ORDER BY used_bytes DESC NULLS LAST
"""


def largest(link: Link) -> list[dict[str, Any]]:
    """Databases by size, largest first: `name`, `used_bytes` (null where hidden) and whether we are `allowed` in."""
    return link.query(_LARGEST)


class Databases:
    """Links to the largest databases. The server's own link serves for the database that it is in."""

    def __init__(self) -> None:
        """Nothing is opened yet."""
        self._links: dict[str, Link] = {}

    def links(self, link: Link) -> list[Link]:
        """An open link for each of the largest databases that let us in; the others are noted as not measured."""
        found = []
        for database in largest(link)[:AT_MOST]:
            name = database["name"]
            if not database["allowed"]:
                hint = f'GRANT CONNECT ON DATABASE "{name}" TO the role that doctord connects as'
                link.notices.not_measured(link.db, f"tables of {name}", "the role may not connect to it", hint)
            elif name == link.database:
                found.append(link)
            elif opened := self.opened(name, link):
                found.append(opened)
        return found

    def close(self) -> None:
        """Close the connections that were opened here."""
        for link in self._links.values():
            link.close()
        self._links.clear()

    def opened(self, name: str, link: Link) -> Link | None:
        """An open link to one database of the server; null while it is away."""
        own = self._links.setdefault(name, Link(link.target.with_database(name), link.notices))
        try:
            own.open()
        except Away:
            return None
        return own
