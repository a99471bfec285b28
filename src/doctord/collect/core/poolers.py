"""Finds PgBouncer on this host without asking it anything: its socket looks like a server's of PostgreSQL."""

import configparser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_NAME: Final = "pgbouncer"
# PgBouncer's own defaults (its documentation, "Config").
PORT: Final = 6432
_SOCKET_DIR: Final = "/tmp"  # noqa: S108 - where it puts its socket if nobody says otherwise
_DEBIAN_SOCKET_DIR: Final = "/var/run/postgresql"


@dataclass(frozen=True, slots=True)
class Pooler:
    """A PgBouncer that runs here: where its socket is, and the user id that it runs under.

    `is_known` is whether its configuration could be read: else port and folder are those that it has by default.
    """

    pid: int
    port: int
    socket_dir: str
    owner: int
    is_known: bool


def poolers(proc: Path = Path("/proc")) -> list[Pooler]:
    """Those of this host, in order of their process ids; several that share a port (so_reuseport) are one each."""
    return [_pooler(proc / str(pid)) for pid in sorted(_pids(proc))]


def _pids(proc: Path) -> Iterator[int]:
    for entry in proc.iterdir():
        if entry.name.isdigit():
            try:
                name = (entry / "comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue  # it ended meanwhile, or is hidden
            if name == _NAME:
                yield int(entry.name)


def _pooler(process: Path) -> Pooler:
    try:
        owner = process.stat().st_uid
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        file = next((word for word in reversed(words[1:]) if word and not word.startswith("-")), "")
        path = process / "cwd" / file if not file.startswith("/") else process / "root" / file.lstrip("/")
        told = _section(path.read_text(errors="replace"))
    except (OSError, configparser.Error):
        return Pooler(int(process.name), PORT, _usual_folder(), _owner(process), is_known=False)
    port = told.get("listen_port", "")
    return Pooler(
        int(process.name),
        int(port) if port.isdecimal() else PORT,
        told.get("unix_socket_dir", _SOCKET_DIR) or _SOCKET_DIR,
        owner,
        is_known=True,
    )


def _section(text: str) -> dict[str, str]:
    """The settings of its own; lines that read another file (%include) are left out."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("%"))
    parser = configparser.ConfigParser(interpolation=None, strict=False, comment_prefixes=(";", "#"))
    parser.read_string("\n".join(lines))
    return dict(parser["pgbouncer"]) if "pgbouncer" in parser else {}


def _usual_folder() -> str:
    return next((folder for folder in (_DEBIAN_SOCKET_DIR, _SOCKET_DIR) if _socket(folder).exists()), _SOCKET_DIR)


def _socket(folder: str) -> Path:
    return Path(folder) / f".s.PGSQL.{PORT}"


def _owner(process: Path) -> int:
    try:
        return process.stat().st_uid
    except OSError:
        return 0
