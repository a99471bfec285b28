"""Sessions that are clients of other sessions of the same server: dblink and postgres_fdw that lead back to it.

A session that holds a lock, and waits over dblink for a session of its own that wants that lock, waits for itself: the
lock manager sees one half of that circle. The other half is a socket that both processes have an end of; the kernel
tells of a Unix socket its peer (sock_diag(7), UDIAG_SHOW_PEER). It is asked only for sessions that others wait for
while they wait in an extension, not more than once in two seconds, and only where /proc/PID/fd may be read.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.sock_diag import unix_peers
from doctord.collect.core.socket_owners import sockets
from doctord.collect.postgres.statistics.figures import Figures

NAME: Final = "pg_stat_activity.own_client"
_EVERY_S: Final = 2.0
_AT_MOST: Final = 8


class OwnClients:
    """Fills `statistic` for sessions that wait in an extension and that others wait for.

    The entity is `ROOT OTHER`: OTHER's client is ROOT, 1; or `ROOT` alone, 0, where none of those that wait is its own.
    """

    def __init__(self, proc: Path = Path("/proc")) -> None:
        """Nothing is looked at yet."""
        self._proc = proc
        self._looked_at = 0.0

    def look(self, db: str, active: Sequence[Mapping[str, Any]], blockers: Mapping[int, int | None]) -> list[Batch]:
        """Rows for one sample: `active` as pg_stat_activity has it, `blockers` by who waits."""
        waiting = {pid for pid, blocker in blockers.items() if blocker}
        held = {blocker for blocker in blockers.values() if blocker} - waiting
        roots = [row["pid"] for row in active if row["pid"] in held and row["wait_event_type"] == "Extension"]
        now = time.monotonic()
        if not roots or now - self._looked_at < _EVERY_S:
            return []
        self._looked_at = now
        figures, peers = Figures(db), dict(unix_peers())
        theirs = {pid: self._sockets(pid) or set() for pid in sorted(waiting)}
        for root in roots[:_AT_MOST]:
            own = self._sockets(root)
            if own is None or not peers:
                continue
            clients = [pid for pid, sockets in theirs.items() if {peers.get(one) for one in own} & sockets]
            for pid in clients:
                figures.gauge(NAME, 1.0, "boolean", f"{root} {pid}")
            if not clients and not self._has_tcp(own, peers):
                figures.gauge(NAME, 0.0, "boolean", str(root))
        return figures.batches()

    def _sockets(self, pid: int) -> set[int] | None:
        """Inodes of a process's sockets; null where they may not be seen."""
        try:
            return set(sockets(self._proc / str(pid)))
        except OSError:
            return None

    def _has_tcp(self, own: set[int], peers: Mapping[int, int]) -> bool:
        """Whether it has sockets of another kind: by these it may reach a session here all the same."""
        return any(one not in peers for one in own)
