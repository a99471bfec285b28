"""Whose process an end of a connection on this host is: by the kernel's tables of sockets and /proc/PID/fd.

Not cheap: a walk through all descriptors of a user's processes takes a hundredth of a second and more. Who asks does so
for connections that are new, and not often.
"""

import os
import socket
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from doctord.collect.core.control_groups import PROC, text
from doctord.regex import regex

_SOCKET: Final = regex(r"socket:\[(\d+)\]")
# A line of /proc/net/tcp (proc_pid_net(5)): both ends, state 01 (established), and behind timers the user and inode.
_CONNECTED: Final = r"^ *\d+: (\w+):(\w{{4}}) \w+:{port:04X} 01 \S+ \S+ \S+ +(\d+) +\d+ +(\d+)"
_TABLES: Final = ("net/tcp", "net/tcp6")
_MAPPED: Final = "::ffff:"
_IPV4_DIGITS: Final = 8


class End(NamedTuple):
    """The client's end of a connection: the inode of its socket, and the user who made it, where that is known."""

    inode: int
    user: int | None


class Owners(NamedTuple):
    """Processes by the inode of a socket that they hold, and whether some would not say what they hold."""

    pids: Mapping[int, int]
    refused: bool


def ends_of(port: int, net: str | int = "self", proc: Path = PROC) -> dict[tuple[str, int], End]:
    """By address and port, the ends of all TCP connections to a port, in the network namespace of a process."""
    texts = [text(proc / str(net) / table) for table in _TABLES]
    line = regex(_CONNECTED.format(port=port))
    return {
        (readable(address), int(own, 16)): End(int(inode), int(user))
        for table in texts
        for row in table.splitlines()
        for address, own, user, inode in line.findall(row)
    }


def owners(ends: Collection[End], proc: Path = PROC) -> Owners:
    """Who holds these sockets; only processes of their users are looked through, where these are known."""
    wanted, users = {end.inode for end in ends}, {end.user for end in ends}
    found, refused = dict[int, int](), False
    for pid in sorted(int(one.name) for one in os.scandir(proc) if one.name.isdigit()):
        if len(found) == len(wanted):
            break
        folder = proc / str(pid)
        try:
            if folder.stat().st_uid in users or None in users:
                found |= {inode: pid for inode in sockets(folder) if inode in wanted and inode not in found}
        except PermissionError:
            refused = True
        except OSError:
            continue  # it has ended
    return Owners(found, refused)


def sockets(process: Path) -> Iterator[int]:
    """Inodes of the sockets that a process holds.

    Raises:
        OSError: They may not be seen, or it has ended.
    """
    with os.scandir(process / "fd") as descriptors:
        for entry in descriptors:
            with suppress(FileNotFoundError):
                if match := _SOCKET.fullmatch(os.readlink(entry.path)):  # noqa: PTH115 - of thousands
                    yield int(match[1])


def other_namespaces(proc: Path = PROC, most: int = 8) -> Iterator[int]:
    """A process of each network namespace but ours: containers have their own; as root alone."""
    seen = {_namespace(proc / "self")}
    for pid in sorted(int(one.name) for one in os.scandir(proc) if one.name.isdigit()):
        space = _namespace(proc / str(pid))
        if space is not None and space not in seen:
            seen.add(space)
            yield pid
            if len(seen) > most:
                return


def _namespace(process: Path) -> str | None:
    try:
        return str((process / "ns/net").readlink())
    except OSError:
        return None


def readable(address: str) -> str:
    """An address as /proc/net has it: words of four bytes in the order of this machine; IPv4 where it is that in IPv6.

    >>> readable("0100007F")
    '127.0.0.1'
    """
    words = [bytes.fromhex(address[at : at + 8]) for at in range(0, len(address), 8)]
    family = socket.AF_INET if len(address) == _IPV4_DIGITS else socket.AF_INET6
    told = socket.inet_ntop(family, b"".join(word[::-1] if sys.byteorder == "little" else word for word in words))
    return told.removeprefix(_MAPPED)
