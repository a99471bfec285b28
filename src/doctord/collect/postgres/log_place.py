"""Where a server on this host writes its log, without asking it: it may let nobody in.

Its postmaster is found by its socket; the data directory says which files the log collector has open, and without a
collector the log is what the postmaster's standard error is. The server's own user and root may see both.
"""

from pathlib import Path
from typing import Final, NamedTuple

from doctord.collect.core.place import Place
from doctord.collect.postgres.connection.connect import Target
from doctord.collect.postgres.discover import Server, servers

PROC: Final = Path("/proc")
_INODE: Final = 6  # of a line of /proc/net/unix
# Which files are written, one a line: `csvlog log/postgresql.csv` (PostgreSQL documentation, "Database File Layout").
_FILES: Final = "current_logfiles"
# The forms that give each error its SQLSTATE come first.
_FORMS: Final = ("csvlog", "jsonlog", "stderr")


class LogPlace(NamedTuple):
    """A data directory, and the log in it: `file` as current_logfiles names it, null for standard error."""

    folder: str
    file: str | None


def log_place(pid: int, proc: Path = PROC) -> LogPlace | None:
    """Where the log of the server with a postmaster is; null where that is not granted to see, or it is gone."""
    try:
        folder = str((proc / str(pid) / "cwd").readlink())  # the postmaster goes to its data directory
        files = _files(proc / str(pid) / "root" / folder.lstrip("/") / _FILES)
    except OSError:
        return None
    return LogPlace(folder, next((files[form] for form in _FORMS if form in files), None))


def postmaster(target: Target, proc: Path = PROC) -> int | None:
    """The process of a server at a Unix socket; null where that cannot be told, or is not granted to see."""
    server = _server(target, proc)
    return server.pid if server is not None and _listens(server, proc) else None


def _files(path: Path) -> dict[str, str]:
    """By form the file that the log collector writes; none where it does not run."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return {}
    return {form: name for form, _, name in (line.partition(" ") for line in lines)}


def _server(target: Target, proc: Path) -> Server | None:
    """The one server of this host that may be meant: of two with the same port nobody can tell."""
    places = target.places or (_found(target),)
    if len(places) != 1 or not (places[0].host == "" or places[0].host.startswith("/")):
        return None
    meant = [one for one in servers(proc) if one.socket_dir and one.port is not None and one.pid is not None
             and Place(one.socket_dir, one.port).may_be(places[0])]  # fmt: skip
    return meant[0] if len(meant) == 1 else None


def _listens(server: Server, proc: Path) -> bool:
    """Whether the process has the socket open: another server may run in a container, at the same port."""
    name = f" {server.socket_dir}/.s.PGSQL.{server.port}"
    try:
        lines = (proc / "net/unix").read_text().splitlines()
        inodes = {f"socket:[{line.split()[_INODE]}]" for line in lines if line.endswith(name)}
        return any(str(file.readlink()) in inodes for file in (proc / str(server.pid) / "fd").iterdir())
    except OSError:
        return False


def _found(target: Target) -> Place:
    """Where a server listens that nobody named."""
    return Place(str(target.parameters.get("host", "")), int(target.parameters.get("port", 0)))
