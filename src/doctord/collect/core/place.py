"""Where a server listens, and whether two ways to name that may mean the same."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Place:
    """A host and a port: `host` is a name or an address, the folder of a Unix socket, or empty for the usual one."""

    host: str
    port: int

    @property
    def is_here(self) -> bool:
        """Whether it is on this host for certain."""
        return not self.host or self.host.startswith(("/", "@")) or self.host in _HERE

    def may_be(self, other: "Place") -> bool:
        """Whether the same server may listen there: two folders of sockets are two servers, also on one port.

        >>> Place("/run/postgresql", 5432).may_be(Place("127.0.0.1", 5432)), Place("db1", 5432).may_be(Place("", 5432))
        (True, False)
        """
        if self.port != other.port:
            return False
        if self.host.startswith("/") and other.host.startswith("/"):
            return Path(self.host).resolve() == Path(other.host).resolve()
        return self.host == other.host or (self.is_here and other.is_here)
