"""Where a server of this host listens, against what leads there: the files of its Unix sockets, its own addresses.

A socket goes on to listen when somebody removes its file, and one of an address when that is taken from the host. No
client comes to it any more, and the server, who asks for neither, does not notice.
"""

import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.mounts import holding, mounts
from doctord.collect.core.place import Place
from doctord.collect.core.rates import EARLY, Cadence
from doctord.collect.core.socket_owners import readable
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.discover import servers
from doctord.collect.postgres.statistics.figures import Figures

PROC: Final = Path("/proc")
_SETTINGS: Final = """\
SELECT /* doctord */ current_setting('unix_socket_directories') AS folders, current_setting('port')::int AS port,
       current_setting('listen_addresses') AS addresses
"""
_LISTENING: Final = "00010000"  # __SO_ACCEPTCON in the flags of /proc/net/unix
_TCP_LISTEN: Final = "0A"


class Listening:
    """Fills `statistic` with `listening.*`, by path of a socket's file or by address, for a server of this host.

    In a network namespace of its own its sockets are not seen from here: then nothing is told.
    """

    name = "where the server listens"

    def __init__(self, proc: Path = PROC) -> None:
        """Due at the moments at which a check-up may end, then every minute."""
        self.cadence = Cadence(60.0, EARLY)
        self._proc = proc

    def read(self, link: Link) -> list[Batch]:
        """For each place whether a client finds it at this moment."""
        if not _is_here(link):
            return []
        told = link.query(_SETTINGS)[0]
        pid = link.server_pid() or _postmaster(told["port"], self._proc)
        figures = Figures(link.db)
        for path in _paths(told, self._proc):
            for name, file in (("listening.socket_file", path), ("listening.lock_file", f"{path}.lock")):
                figures.gauge(name, _exists(file, pid, self._proc), entity=path)
        listened = {*_listening(self._proc, told["port"])}
        for address in _addresses(told["addresses"]) if listened else ():
            figures.gauge("listening.at_address", int(address in listened), entity=address)
            figures.gauge("listening.address_of_host", int(_is_ours(address)), entity=address)
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""


def _is_here(link: Link) -> bool:
    """Whether the connection leads to this host: through its Unix socket, or to an address of its own."""
    if link.server_pid() is not None:
        return True
    info = link.connection.info if link.connection else None
    return info is not None and Place(info.hostaddr or info.host, info.port).is_here


def _postmaster(port: int, proc: Path) -> int | None:
    return next((one.pid for one in servers(proc) if one.port == port), None)


def _paths(told: dict[str, Any], proc: Path) -> Iterator[str]:
    """The paths of its Unix sockets that somebody listens at, as the kernel has them; abstract ones have no file."""
    wanted = {
        f"{os.path.normpath(folder.strip())}/.s.PGSQL.{told['port']}"
        for folder in told["folders"].split(",")
        if folder.strip().startswith("/")
    }
    lines = [line.split(None, 7) for line in (proc / "net/unix").read_text(errors="replace").splitlines()[1:]]
    listening = {os.path.normpath(line[7]) for line in lines if len(line) > 7 and line[3] == _LISTENING}
    yield from sorted(wanted & listening)


def _exists(file: str, pid: int | None, proc: Path) -> int | None:
    """Whether a file is there where the server lives; null where that is not to be seen from here."""
    root = f"{proc}/{pid}/root"
    if pid is not None and os.access(root, os.X_OK):
        return _is_there(f"{root}{file}")
    return _is_there(file) if _is_same_folder(file, pid, proc) else None


def _is_there(path: str) -> int | None:
    """1 or 0; null where a folder above it may not be entered."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return 0
    except OSError:
        return None
    return 1


def _is_same_folder(file: str, pid: int | None, proc: Path) -> bool:
    """Whether a path leads to the same place for the server as for us, by its mount."""
    if pid is None:
        return False
    try:
        theirs, ours = holding(mounts(pid, proc), file), holding(mounts(proc=proc), file)
    except OSError:  # it has ended
        return False
    return theirs is not None and ours is not None and theirs.number == ours.number


def _addresses(listen_addresses: str) -> Iterator[str]:
    """Those that are given by number, and are no pattern for all of a kind."""
    for name in listen_addresses.split(","):
        try:
            address = ipaddress.ip_address(name.strip())
        except ValueError:
            continue  # a name, or *
        if not address.is_unspecified and not address.is_link_local:
            yield str(address)


def _listening(proc: Path, port: int) -> Iterator[str]:
    """The addresses of this network namespace at which somebody listens on a port."""
    for table in ("tcp", "tcp6"):
        path = proc / "net" / table
        lines = path.read_text().splitlines()[1:] if path.exists() else []
        for line in (each.split() for each in lines):
            address, _, number = line[1].rpartition(":")
            if line[3] == _TCP_LISTEN and int(number, 16) == port:
                yield readable(address)


def _is_ours(address: str) -> bool:
    """Whether a socket can be bound to an address now: it is this host's, or net.ipv4.ip_nonlocal_bind lets it wait."""
    family = socket.AF_INET if ipaddress.ip_address(address).version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as own:
        try:
            own.bind((address, 0))
        except OSError:
            return False
    return True
