"""Finds PgBouncer on this host without asking it anything: its socket looks like a server's of PostgreSQL."""

import configparser
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from doctord.collect.core.place import Place
from doctord.collect.core.processes import pids_named
from doctord.regex import regex

_NAME: Final = "pgbouncer"
# PgBouncer's own defaults (its documentation, "Config").
PORT: Final = 6432
_SOCKET_DIR: Final = "/tmp"  # noqa: S108 - where it puts its socket if nobody says otherwise
_DEBIAN_SOCKET_DIR: Final = "/var/run/postgresql"
_SERVER_PORT: Final = 5432
# A line of [databases]: `name = host=db1 port=5432 user='some one'`, values as libpq takes them.
_PAIR: Final = regex(r"(\w+)\s*=\s*('[^']*'|\S+)")
_INCLUDE: Final = regex(r"%include\s+(\S+)")


class Pooler(NamedTuple):
    """A PgBouncer that runs here: where its socket is, and the user id that it runs under.

    `is_known` is whether its configuration could be read: else port and folder are those that it has by default.
    `servers` is where its databases are, `log` the file of its log, as far as the configuration tells.
    """

    pid: int
    port: int
    socket_dir: str
    owner: int
    is_known: bool
    servers: frozenset[Place] = frozenset()
    log: str | None = None

    def may_lead_to(self, places: Collection[Place]) -> bool:
        """Whether it leads to a server at one of these places, or may do so, as its configuration was not seen."""
        return not self.is_known or any(own.may_be(place) for own in self.servers for place in places)


def poolers(proc: Path = Path("/proc")) -> list[Pooler]:
    """Those of this host, in order of their process ids; several that share a port (so_reuseport) are one each."""
    return [_pooler(proc / str(pid)) for pid in pids_named({_NAME}, proc)]


def _pooler(process: Path) -> Pooler:
    try:
        owner = process.stat().st_uid
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        file = next((word for word in reversed(words[1:]) if word and not word.startswith("-")), "")
        parser = _parsed(_text(process, file))
    except (OSError, configparser.Error):
        return Pooler(int(process.name), PORT, _usual_folder(), _owner(process), is_known=False)
    told = dict(parser["pgbouncer"]) if "pgbouncer" in parser else {}
    databases = parser["databases"].values() if "databases" in parser else ()
    port = told.get("listen_port", "")
    return Pooler(
        int(process.name),
        int(port) if port.isdecimal() else PORT,
        told.get("unix_socket_dir", _SOCKET_DIR) or _SOCKET_DIR,
        owner,
        is_known=True,
        servers=frozenset(place for database in databases for place in _places(database)),
        log=str(_inside(process, told["logfile"])) if told.get("logfile") else None,
    )


def _inside(process: Path, file: str) -> Path:
    """A file as the process names it, which may run in a container."""
    return process / "root" / file.lstrip("/") if file.startswith("/") else process / "cwd" / file


def _text(process: Path, file: str) -> str:
    """Its configuration with the files that it includes; one that may not be read is left out.

    Raises:
        OSError: The file itself may not be read.
    """

    def included(line: str) -> str:
        found = _INCLUDE.match(line.strip())
        try:
            return _inside(process, found[1]).read_text(errors="replace") if found else line
        except OSError:
            return ""

    return "\n".join(included(line) for line in _inside(process, file).read_text(errors="replace").splitlines())


def _parsed(text: str) -> configparser.ConfigParser:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("%"))
    parser = configparser.ConfigParser(interpolation=None, strict=False, comment_prefixes=(";", "#"))
    parser.read_string("\n".join(lines))
    return parser


def _places(database: str) -> Iterator[Place]:
    """Where the server of a database is; its host may be several, for which there is one port."""
    told = {name: value.strip("'") for name, value in _PAIR.findall(database)}
    port = told.get("port", "")
    for host in told.get("host", "").split(","):
        yield Place(host.strip(), int(port) if port.isdecimal() else _SERVER_PORT)


def _usual_folder() -> str:
    return next((folder for folder in (_DEBIAN_SOCKET_DIR, _SOCKET_DIR) if _socket(folder).exists()), _SOCKET_DIR)


def _socket(folder: str) -> Path:
    return Path(folder) / f".s.PGSQL.{PORT}"


def _owner(process: Path) -> int:
    try:
        return process.stat().st_uid
    except OSError:
        return 0
