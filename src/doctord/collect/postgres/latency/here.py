"""Latencies of the PostgreSQL servers on this host: bpftrace at their probes, else means of their own counters."""

from collections.abc import Iterator
from typing import Final

from doctord.collect.bpf.latency import BpfLatency
from doctord.collect.core.collector import Collector
from doctord.collect.core.database import LiveSubject, Wanted
from doctord.collect.postgres.connection.connect import Target
from doctord.collect.postgres.discover import servers
from doctord.collect.postgres.latency.means import MEANS, PostgresMeans
from doctord.collect.postgres.latency.probes import LWLOCK, PROBES, chosen, has_probes, of_postgres

_USUAL: Final = "smgr read"


def is_named(db: str) -> bool:
    """Whether this may be the name of a server: `postgresql:5432`."""
    kind, _, port = db.rpartition(":")
    return kind == "postgresql" and port.isdigit()


def usual() -> str | None:
    """Reads, where a server has probes; else null."""
    return _USUAL if any(server.pid is not None and has_probes(server.pid) for server in servers()) else None


def subjects(*, with_bpftrace: bool) -> Iterator[LiveSubject]:
    """What the probes of each server that runs, and its counters, tell of."""
    for server in servers():
        db = f"postgresql:{server.port}"
        if with_bpftrace and server.pid is not None and has_probes(server.pid):
            yield from (LiveSubject(name, db, "USDT probes") for name in (*PROBES, LWLOCK))
        yield from (LiveSubject(name, db, "the server's counters: means only") for name in MEANS)


def may_trace(subject: str) -> bool:
    """Whether there is a probe for it."""
    return subject in PROBES or subject.startswith(LWLOCK)


def traced(wanted: Wanted, subject: str) -> BpfLatency | None:
    """What times a subject by its probes, or a system call of the processes of a server; null when it is neither.

    Raises:
        UserError: The server is not here, has no probes, or there are several and none is chosen.
    """
    timed = of_postgres(subject, _port(wanted), wanted.period_s)
    return BpfLatency(timed, wanted.period_s) if timed else None


def counted(wanted: Wanted, subject: str) -> Collector | None:
    """What reads a mean of the server wanted, which may be elsewhere; null when nothing counts the subject.

    Raises:
        UserError: The address is none, or the server is not here.
    """
    return PostgresMeans(_target(wanted), subject, wanted.period_s) if subject in MEANS else None


def _target(wanted: Wanted) -> Target:
    if wanted.dsn is not None:
        return Target.from_dsn(wanted.dsn)
    server = chosen(_port(wanted))
    return Target(
        f"postgresql:{server.port}", {"host": server.socket_dir or "localhost", "port": server.port}, server.owner
    )


def _port(wanted: Wanted) -> int | None:
    return int(wanted.db.rpartition(":")[2]) if wanted.db and is_named(wanted.db) else None
