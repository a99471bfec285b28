"""Finds MariaDB and MySQL servers on this host without asking them anything, and without root."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from doctord.collect.core.processes import pids_named

_NAMES: Final = frozenset({"mariadbd", "mysqld"})
_LISTENING: Final = "00010000"  # __SO_ACCEPTCON in the flags of /proc/net/unix
_USUAL: Final = (
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",  # noqa: S108 - where its own build puts it
)


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs here, and the path of its socket; null where nobody tells."""

    pid: int
    socket: str | None


def servers(proc: Path = Path("/proc")) -> list[Server]:
    """The servers of this host, in order of their process ids."""
    listening = _listening(proc)
    return [Server(pid, _socket(proc / str(pid), listening)) for pid in pids_named(_NAMES, proc)]


def _socket(process: Path, listening: dict[str, str]) -> str | None:
    """Its socket: as its command line says, else the one that it holds open, else the usual one that listens."""
    words = _words(process)
    told = next((word.partition("=")[2] for word in words if word.startswith("--socket=")), None)
    if told:
        return told
    held = _held_sockets(process)
    own = next((path for inode, path in listening.items() if inode in held and "mysqlx" not in path), None)
    return own or next((path for path in _USUAL if path in listening.values()), None)


def _words(process: Path) -> list[str]:
    try:
        return (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def _held_sockets(process: Path) -> set[str]:
    """Inodes of its sockets: root and its owner may see them."""
    try:
        links = [str(descriptor.readlink()) for descriptor in (process / "fd").iterdir()]
    except OSError:
        return set()
    return {link[len("socket:[") : -1] for link in links if link.startswith("socket:[")}


def _listening(proc: Path) -> dict[str, str]:
    """Paths of listening Unix sockets by inode."""
    fields = [line.split() for line in (proc / "net/unix").read_text().splitlines()[1:]]
    return {one[6]: one[7] for one in fields if len(one) > 7 and one[3] == _LISTENING and one[7].startswith("/")}
