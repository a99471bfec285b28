"""Where a server listens, and whether two ways to name that may mean the same."""

import os
import socket
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Place(NamedTuple):
    """A host and a port: `host` is a name or an address, the folder of a Unix socket, or empty for the usual one."""

    host: str
    port: int

    @property
    def is_here(self) -> bool:
        """Whether it is on this host for certain."""
        return not self.host or self.host.startswith(("/", "@")) or self.host in _HERE or is_ours(self.host)

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


@lru_cache(maxsize=64)
def is_ours(host: str) -> bool:
    """Whether it is the name of this host, or an address of it: only to such a socket can be bound. Nobody is asked."""
    if host == os.uname().nodename:
        return True
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
            with socket.socket(family, socket.SOCK_DGRAM) as own:
                own.bind((host, 0))
        except OSError:
            continue  # no address of that kind, or another host's
        return True
    return False
