"""A server whose shared memory somebody has removed: those that are connected work on, and nobody else gets in."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import LiteralString

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.errors import UnavailableError
from doctord.lab.fault import ONE, fault
from doctord.lab.figures import log_lines
from doctord.lab.load.logins import clients_that_log_in
from doctord.lab.server import PrivateServer

_ITS_OWN = "/dev/shm/PostgreSQL."  # noqa: S108 - that is where shm_open(3) puts them
# More tables than the server's own memory has room to keep statistics of: it makes segments for them.
_TABLES: LiteralString = """
do $$ begin for n in 1..2000 loop
    execute format('create table t%s as select %s as n', n, n);
    if n % 100 = 0 then commit; end if;
end loop; end $$"""
_REFUSED = Figure("logins refused", "logins", 1, log_lines("could not open shared memory segment"))


@fault(cause="server_does_not_answer", intensities=ONE, effect=_REFUSED)
def shared_memory_removed(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The server's segments in /dev/shm were removed, as RemoveIPC of systemd-logind does when its user logs out.

    What is mapped stays mapped; each new process looks for the segments by their names (shm_open(3)), from version 15
    on for those of the statistics.

    Seen: "could not open shared memory segment" for each new connection, also ours; the light load goes on.
    """
    server.execute(_TABLES)
    segments = _segments(server)
    if not segments:
        raise UnavailableError("the server has no segment in /dev/shm")
    for segment in segments:
        segment.unlink()
    with clients_that_log_in(server, server.dsn):
        yield


def _segments(server: PrivateServer) -> set[Path]:
    """The files in /dev/shm that the server's processes have mapped."""
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    maps = [line for each in (pid, *children) for line in _maps(Path(f"/proc/{each}/maps"))]
    mapped = {Path(line.split(maxsplit=5)[5]) for line in maps if _ITS_OWN in line}
    return {path for path in mapped if path.exists()}


def _maps(path: Path) -> list[str]:
    with suppress(OSError):  # it has ended meanwhile
        return path.read_text().splitlines()
    return []
