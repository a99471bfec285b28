"""Finds PostgreSQL servers on this host without asking them anything, and without root.

What everyone may read is enough for most: listening Unix sockets in /proc/net/unix carry the port in their name, the
socket's owner is the server's, and a postmaster is a process `postgres` whose parent is none. The owner of the server
(and root) sees more: `postmaster.pid` in the data directory gives the port also of a server that listens on TCP only.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from doctord.collect.core.poolers import poolers
from doctord.regex import regex

_NAMES: Final = frozenset({"postgres", "postmaster"})
_SOCKET: Final = regex(r"\s(/\S*)/\.s\.PGSQL\.(\d+)$")
_LISTENING: Final = "00010000"  # __SO_ACCEPTCON in the flags of /proc/net/unix
_TCP_LISTEN: Final = "0A"


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs here; what could not be learnt is null.

    `owner` is the user id that it runs under. `unreachable` says why this process cannot connect to it; null when
    nothing speaks against it.
    """

    port: int | None
    socket_dir: str | None = None
    pid: int | None = None
    owner: int | None = None
    version: int | None = None
    data_dir: str | None = None
    unreachable: str | None = None


def servers(proc: Path = Path("/proc")) -> list[Server]:
    """The servers of this host, in order of their ports; those that cannot be reached come last."""
    poolers_ports = {pooler.port for pooler in poolers(proc)}
    sockets = {port: folder for port, folder in _sockets(proc) if port not in poolers_ports}
    postmasters, tcp_ports = list(_postmasters(proc)), _tcp_ports(proc)
    found = [
        _at_socket(port, folder, postmasters, alone=len(sockets) == 1, by_tcp=port in tcp_ports)
        for port, folder in sockets.items()
    ]
    matched = {server.pid for server in found}
    # A postmaster whose port nobody tells is one of the sockets that have none yet, as far as those go.
    nameless = sum(server.pid is None for server in found)
    for postmaster in postmasters:
        if postmaster.pid in matched:
            continue
        if postmaster.port is None and nameless > 0:
            nameless -= 1
        else:
            found.append(_without_socket(postmaster, tcp_ports))
    return sorted(found, key=lambda server: (server.unreachable is not None, server.port or 0))


def _at_socket(port: int, folder: str, postmasters: list[Server], *, alone: bool, by_tcp: bool) -> Server:
    """The server that listens at a socket, with its postmaster when that can be told.

    Where somebody removed the socket's file and left its folder, it is asked by TCP, if it listens there.
    """
    match = next((one for one in postmasters if one.port == port), None)
    if match is None and alone and len(postmasters) == 1 and postmasters[0].port is None:
        match = postmasters[0]
    try:
        owner, unreachable = (Path(folder) / f".s.PGSQL.{port}").stat().st_uid, None
    except PermissionError:
        owner, unreachable = None, f"its socket folder {folder} may not be entered"
    except OSError:
        owner, unreachable = None, f"its socket folder {folder} is not here: it runs in a container"
        if Path(folder).is_dir():
            unreachable = None if by_tcp else f"the file of its socket in {folder} is gone, and it listens nowhere else"
    socket_dir = None if owner is None and unreachable is None else folder
    if match is None:
        return Server(port, socket_dir, owner=owner, unreachable=unreachable)
    return Server(port, socket_dir, match.pid, owner, match.version, match.data_dir, unreachable)


def _without_socket(postmaster: Server, listening: set[int]) -> Server:
    reason = None
    if postmaster.port is None:
        reason = "its port is not known: only its owner and root may read its postmaster.pid"
    elif postmaster.port not in listening:
        reason = f"nothing listens on port {postmaster.port} here: it runs in another network namespace"
    return Server(
        postmaster.port, None, postmaster.pid, postmaster.owner, postmaster.version, postmaster.data_dir, reason
    )


def _sockets(proc: Path) -> list[tuple[int, str]]:
    """Port and folder of each that listens; of one port those whose file is there come last."""
    lines = (proc / "net/unix").read_text().splitlines()
    matches = [match for line in lines if (match := _SOCKET.search(line)) and line.split()[3] == _LISTENING]
    found = [(int(match[2]), match[1]) for match in matches]
    return sorted(found, key=lambda one: os.access(f"{one[1]}/.s.PGSQL.{one[0]}", os.F_OK))


def _tcp_ports(proc: Path) -> set[int]:
    ports = set()
    for name in ("tcp", "tcp6"):
        table = proc / "net" / name
        if table.exists():
            lines = [line.split() for line in table.read_text().splitlines()[1:]]
            ports |= {int(line[1].rpartition(":")[2], 16) for line in lines if line[3] == _TCP_LISTEN}
    return ports


def _postmasters(proc: Path) -> Iterator[Server]:
    names, parents = {}, {}
    for entry in proc.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it ended meanwhile, or is hidden
        pid = int(entry.name)
        names[pid] = stat[stat.index("(") + 1 : stat.rindex(")")]
        parents[pid] = int(stat[stat.rindex(")") + 2 :].split()[1])
    for pid, name in names.items():
        if name in _NAMES and names.get(parents[pid]) not in _NAMES:
            yield _postmaster(proc / str(pid))


def _postmaster(process: Path) -> Server:
    try:
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        owner = process.stat().st_uid
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return Server(None, pid=int(process.name))
    data_dir = _argument(words, "-D", "--data-directory") or _folder(process / "cwd")
    port = _argument(words, "-p", "--port") or _line(data_dir, "postmaster.pid", 3)
    version = re.search(r"/(\d+)/", words[0])
    major = _line(data_dir, "PG_VERSION", 0) or (version[1] if version else "")
    return Server(
        int(port) if port and port.isdigit() else None,
        pid=int(process.name),
        owner=owner,
        version=int(major) if major.isdigit() else None,
        data_dir=data_dir,
    )


def _argument(words: list[str], short: str, long: str) -> str | None:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == short:
            return following
        if word.startswith(f"{long}="):
            return word.partition("=")[2]
    return None


def _folder(link: Path) -> str | None:
    """The postmaster's working directory is its data directory."""
    try:
        return str(link.readlink())
    except OSError:
        return None


def _line(data_dir: str | None, name: str, number: int) -> str | None:
    """A line of a file in the data directory; null when that is closed to us."""
    if data_dir is None:
        return None
    try:
        lines = (Path(data_dir) / name).read_text().splitlines()
    except OSError:
        return None
    return lines[number].strip() if number < len(lines) else None
