"""Where the sockets of a backend lead to that is not logged in yet: to its client, and to whom the server asks for it.

By the kernel's tables of the server's network namespace; which sockets are a backend's own, root and its user may see.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from doctord.collect.core.socket_owners import readable
from doctord.regex import regex

# Whom a server asks on behalf of a login, by the port that its socket is connected to.
_SERVICES: Final = {53: "name server", 113: "ident server", 389: "LDAP server", 636: "LDAP server"}
_SOCKET: Final = regex(r"socket:\[(\d+)\]")
# A line of a table of sockets (proc_pid_net(5)): the other end, and behind what TCP tells of it user and inode.
_PORTS: Final = "|".join(f"{port:04X}" for port in _SERVICES)
_ASKING: Final = regex(rf"^ *\d+: \S+ (\w+):({_PORTS}) \S+ \S+ \S+ \S+ +(\d+) +\d+ +(\d+)", re.MULTILINE)
_CLIENT: Final = r"^ *\d+: \S+ (\w+):(?!{ports})\w{{4}} \S+ \S+ \S+ \S+ +\d+ +\d+ +(?:{inodes}) "
_UDP: Final = ("udp", "udp6")
_TCP: Final = ("tcp", "tcp6")


class Sockets(NamedTuple):
    """The tables of all sockets of a network namespace."""

    udp: str
    tcp: str


NO_SOCKETS: Final = Sockets("", "")


class Asked(NamedTuple):
    """A socket that is connected to a service, and whose it is."""

    service: str
    user: int
    inode: str


def sockets_of(net: Path) -> Sockets:
    """The tables of a namespace; there may be tens of thousands of sockets, so they are read once a look."""
    return Sockets(*("\n".join(path.read_text() for name in names if (path := net / name).exists())
                     for names in (_UDP, _TCP)))  # fmt: skip


def asked(tables: Sockets) -> list[Asked]:
    """All that are connected to a service."""
    return [
        Asked(f"{_SERVICES[int(port, 16)]} {readable(address)}", int(user), inode)
        for table in tables
        for address, port, user, inode in _ASKING.findall(table)
    ]


def client_of(tables: Sockets, own: set[str] | None) -> str | None:
    """The address at the other end of a backend's own socket; null where none is seen, as of a Unix socket."""
    if not own:
        return None
    found = re.search(_CLIENT.format(ports=_PORTS, inodes="|".join(sorted(own))), tables.tcp, re.MULTILINE)
    return readable(found[1]) if found else None


def own_sockets(process: Path) -> set[str] | None:
    """Inodes of the sockets that a process holds; null where that is not granted: then those of its user count."""
    found = set[str]()
    try:
        for entry in (process / "fd").iterdir():
            with suppress(FileNotFoundError):
                if match := _SOCKET.fullmatch(str(entry.readlink())):
                    found.add(match[1])
    except PermissionError:
        return None
    return found
