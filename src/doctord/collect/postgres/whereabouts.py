"""Whether the clients of sessions still exist, as far as the kernel of this host can tell by its sockets.

A client that ends says so (FIN), and its session ends. One whose host lost its power, or that a firewall forgot, says
nothing: the server's end stays ESTABLISHED, and the session with it, until a keepalive is not answered
(tcp_keepalives_idle, two hours by default). Where the client was on this host too, its end of the connection is
missing: that is certain on loopback, which leads to this network namespace alone; from an address of this host only
where no other namespace is, since who translates addresses (NAT) may stand between. Of clients on other hosts TCP
knows whether they answer. Source: tcp(7), sock_diag(7); PostgreSQL documentation, tcp_keepalives_idle.
"""

from collections.abc import Iterable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from doctord.collect.core.place import is_ours
from doctord.collect.core.sock_diag import ESTABLISHED, Address, End, tcp_ends

Fate: TypeAlias = Literal["there", "gone", "silent"]
"""Its end is here, its end is missing, it answers no more."""

# Two retransmits or probes may be lost on a bad way; at three a quick network has been silent for seconds.
_UNANSWERED: Final = 3


class Whereabouts(NamedTuple):
    """What is told of a client: null where nothing is; and how long ago anything came from it, also to a keepalive."""

    fate: Fate | None
    heard_s: float | None


def whereabouts(port: int, clients: Iterable[Address], proc: Path = Path("/proc")) -> dict[Address, Whereabouts]:
    """What can be told of clients, by their address and port, of the server that listens on a port.

    Those whose connection is not in this network namespace are left out: the server is elsewhere, or in a container.

    Raises:
        OSError: The kernel does not tell of sockets.
    """
    ours = {end.peer: end for end in tcp_ends(port) if end.state == ESTABLISHED}
    theirs = {(end.local, end.peer) for end in tcp_ends(port, "peer")}
    found, missing = dict[Address, Fate | None](), list[Address]()
    known = [client for client in clients if client in ours]
    for client in known:
        if (client, ours[client].local) in theirs:
            found[client] = "there"
        elif is_ours(client[0]):
            missing.append(client)
        elif _is_silent(ours[client]):
            found[client] = "silent"
    found |= dict.fromkeys(_gone(missing, proc), "gone")
    return {client: Whereabouts(found.get(client), ours[client].heard_s) for client in known}


def _is_silent(end: End) -> bool:
    return end.timer in ("retransmit", "keepalive") and end.unanswered >= _UNANSWERED


def _gone(missing: list[Address], proc: Path) -> list[Address]:
    """Those whose address nobody here has: who is connected by it may be redirected to the server.

    Of a connection that has ended the kernel keeps an address for a minute (TIME_WAIT): that is nobody's.
    """
    if not missing:
        return []
    taken = {end.local for end in tcp_ends() if end.state == ESTABLISHED}
    alone = all(_is_loopback(client[0]) for client in missing) or _is_alone(proc)
    return [client for client in missing if client not in taken and (alone or _is_loopback(client[0]))]


def _is_loopback(address: str) -> bool:
    return ip_address(address).is_loopback


def _is_alone(proc: Path) -> bool:
    """Whether every process of this host is in our network namespace; false where that may not be seen."""
    namespaces = set[str]()
    for process in proc.iterdir():
        if process.name.isdigit():
            with suppress(FileNotFoundError, ProcessLookupError):
                try:
                    namespaces.add(str((process / "ns/net").readlink()))
                except PermissionError:
                    return False
    return len(namespaces) == 1
