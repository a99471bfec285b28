"""The PostgreSQL collector, for versions 13 to 18, with no more rights than `pg_monitor` gives.

`DATABASE` is the way in; `connection/` is how a server is reached, `latency/` what can be timed of those here. What
each table gets from where: `sessions` fills `session` and `wait`; `logins` fills `latency`; the files of `statistics/`
fill `statistic`, `statement` (`statements`), `space` (`relations`, `sizes`) and `setting` (`settings`). No query text
but the normalised one of pg_stat_statements is ever read.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from doctord.collect.core.collector import Collector
from doctord.collect.core.database import Database, LatenciesHere, Unreached
from doctord.collect.core.notices import Notices
from doctord.collect.core.place import Place
from doctord.collect.core.probe import Probe
from doctord.collect.postgres.discover import Server, servers

if TYPE_CHECKING:
    from doctord.collect.postgres.connection.connect import Target


def collectors(dsns: Sequence[str]) -> list[Collector]:
    """Three for each server named: its sessions, its statistics, and a probe. Nothing is connected yet.

    Raises:
        UserError: One of `dsns` is no connection string.
    """
    from doctord.collect.postgres.connection.connect import Target  # noqa: PLC0415 - loads the driver

    return _asking([Target.from_dsn(dsn) for dsn in dsns], Notices(), are_found=False)


def places(dsns: Sequence[str]) -> list[Place]:
    """Where the servers that are named listen; of a connection string with several hosts each.

    Raises:
        UserError: One of `dsns` is no connection string.
    """
    from doctord.collect.postgres.connection.connect import Target  # noqa: PLC0415 - as above

    return [place for dsn in dsns for place in Target.from_dsn(dsn).places]


def named_by_environment() -> list[str]:
    """A connection string that leaves all to libpq's environment, where that names a server; else none."""
    return [""] if any(name in os.environ for name in ("PGHOST", "PGPORT", "PGSERVICE")) else []


class Search:
    """Finds the servers of this host, and on every further call those that have come since."""

    def __init__(self) -> None:
        """Nothing is looked for yet."""
        self._known: set[tuple[int | None, str | None]] = set()
        self._notices = Notices()
        self._asked = False

    def collectors(self) -> list[Collector]:
        """Collectors of the servers that were not known yet; at first, one that says so when there are none."""
        first, self._asked = not self._asked, True
        found = [server for server in servers() if not self._knows(server)]
        reachable = _reachable(found, self._notices, is_first=first)
        self._known.update((server.port, server.socket_dir) for server in reachable)
        if reachable:
            return _asking([_target(server) for server in reachable], self._notices, are_found=True)
        return [Unreached("postgresql", self._notices)] if first else []

    def _knows(self, server: Server) -> bool:
        """Whether it was found before: also by the socket whose file is gone since."""
        if server.socket_dir is None and server.port is not None:
            return any(port == server.port for port, _ in self._known)
        return (server.port, server.socket_dir) in self._known


def _asking(targets: "Sequence[Target]", notices: Notices, *, are_found: bool) -> list[Collector]:
    # The driver takes memory and time: it is loaded when there is a server to ask.
    from doctord.collect.postgres import logins, sessions  # noqa: PLC0415
    from doctord.collect.postgres.connection.link import Link  # noqa: PLC0415
    from doctord.collect.postgres.notify_queue import NotifyQueue  # noqa: PLC0415
    from doctord.collect.postgres.statistics.collector import StatisticsCollector  # noqa: PLC0415

    asking: list[Collector] = []
    for target in targets:
        notifying = NotifyQueue()
        asking.append(sessions.SessionCollector(Link(target, notices), notifying))
        asking.append(StatisticsCollector(Link(target, notices), notifying))
        asking.append(Probe(target.db, logins.of(target, notices, is_found=are_found)))
    return asking


def _reachable(found: Sequence[Server], notices: Notices, *, is_first: bool) -> list[Server]:
    """Those of the servers that can be reached; the others are noted, and may be reached later: one may only start."""
    for server in found:
        if server.unreachable:
            subject = f"PostgreSQL on port {server.port}" if server.port else f"PostgreSQL process {server.pid}"
            notices.not_measured(
                None, subject, server.unreachable, "name it with --dsn 'host=... port=...', or run inside"
            )
    if is_first and not found:
        hint = "if there is one, name it with --dsn 'host=... port=...'"
        notices.not_measured(None, "PostgreSQL", "no server was found on this host", hint)
    return [server for server in found if not server.unreachable]


def _target(server: Server) -> "Target":
    from doctord.collect.postgres.connection.connect import Target  # noqa: PLC0415 - as above

    dbname = {} if "PGDATABASE" in os.environ else {"dbname": "postgres"}
    parameters = {"host": server.socket_dir or "127.0.0.1", "port": server.port, **dbname}
    return Target(f"postgresql:{server.port}", parameters, server.owner if server.socket_dir else None)


def _here() -> LatenciesHere:
    from doctord.collect.postgres.latency import here  # noqa: PLC0415 - as above

    return here


DATABASE: Final = Database(
    name="postgresql",
    schemes=("postgresql", "postgres"),
    has_plain_addresses=True,  # host=... port=..., as libpq takes them
    collectors=collectors,
    named=named_by_environment,
    search=Search,
    places=places,
    here=_here,
)
