"""Where the latencies of a subject come from here and now: the source that sees most of those that work.

What is lost with the next best one is said: a mean is no distribution.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from doctord._native import syscall_number
from doctord.collect.bpf import bpftrace
from doctord.collect.bpf import host as bpf_host
from doctord.collect.bpf.latency import BpfLatency
from doctord.collect.core.collector import Collector
from doctord.collect.postgres import probes as bpf_postgres
from doctord.collect.postgres.discover import servers
from doctord.errors import Refusal

if TYPE_CHECKING:
    from doctord.collect.postgres.connect import Target

DEFAULT = "smgr read"
LIBPQ = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be timed.

    Attributes:
        subject: What; null takes what says most of a database server, or of the host's devices where there is none.
        period_s: Seconds of an interval.
        db: The server, `postgresql:5432`, where there are several here.
        dsn: The address of a server to be asked: `oracle://...`, `mysql://...`, or a connection string of PostgreSQL.
        pid: The process, where the subject is a system call.
        instance: The instance of a clustered server.
    """

    subject: str | None
    period_s: float
    db: str | None = None
    dsn: str | None = None
    pid: int | None = None
    instance: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The collectors to ask, in words what they cannot show, and how they work where that is special; else null."""

    collectors: Sequence[Collector]
    lost: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class LiveSubject:
    """Something that can be mapped live here, of which server (null: the host), and by what."""

    name: str
    db: str | None
    source: str


def choose(wanted: Wanted) -> Choice:
    """The best source of what is wanted.

    Raises:
        Refusal: there is none here, or no such subject.
    """
    if wanted.dsn and "://" in wanted.dsn and not wanted.dsn.startswith(LIBPQ):
        return Choice([_of_address(wanted, wanted.dsn)])
    subject = wanted.subject or _default()
    hindrance = bpftrace.hindrance()
    if hindrance:
        return _without_bpftrace(wanted, subject, hindrance)
    if wanted.pid is not None:
        return Choice([_of_process(wanted, subject, wanted.pid)], note=bpftrace.note())
    port = _port(wanted.db)
    timed = bpf_postgres.of_postgres(subject, port, wanted.period_s) or bpf_host.of_host(subject, wanted.period_s)
    if timed is None:
        if subject in _means():
            return _means_of_postgres(wanted, subject, f"no probe times {subject}")
        raise _unknown(subject)
    collector = BpfLatency(timed, wanted.period_s)
    try:
        collector.check()
    except Refusal as refusal:
        if not _has_means(subject):
            raise
        return _without_bpftrace(wanted, subject, (str(refusal), refusal.hint))
    return Choice([collector], note=bpftrace.note())


def live_subjects() -> Iterator[LiveSubject]:
    """What can be mapped live on this host without an address, but for system calls, each of which can."""
    with_bpftrace = bpftrace.hindrance() is None
    for server in servers():
        db = f"postgresql:{server.port}"
        if with_bpftrace and server.pid is not None and bpf_postgres.has_probes(server.pid):
            yield from (LiveSubject(name, db, "USDT probes") for name in (*bpf_postgres.PROBES, bpf_postgres.LWLOCK))
        yield from (LiveSubject(name, db, "the server's counters: means only") for name in _means())
    source = "tracepoints" if with_bpftrace else "diskstats: means only"
    yield from (LiveSubject(f"{name} {way}", None, source) for name in bpf_host.devices() for way in ("read", "write"))
    if with_bpftrace:
        yield from (LiveSubject(name, None, source) for name in (bpf_host.RUN_QUEUE, bpf_host.TCP_CONNECT))


def _default() -> str:
    here = any(server.pid is not None and bpf_postgres.has_probes(server.pid) for server in servers())
    if here:
        return DEFAULT
    return f"{next(iter(bpf_host.devices()), 'sda')} read"


def _of_process(wanted: Wanted, subject: str, pid: int) -> BpfLatency:
    if syscall_number(subject) is None:
        raise Refusal(
            f"{subject!r} is no system call", "of a process, system calls are timed: --event pread64 --pid PID"
        )
    if not Path(f"/proc/{pid}").exists():
        raise Refusal(f"there is no process {pid}", "ps -ef lists them; a postmaster's pid stands in postmaster.pid")
    collector = BpfLatency(bpf_host.system_call(subject, wanted.period_s, f"pid == {pid}"), wanted.period_s)
    collector.check()
    return collector


def _without_bpftrace(wanted: Wanted, subject: str, hindrance: tuple[str, str]) -> Choice:
    """Means, where there are any, and what is lost with them."""
    why, hint = hindrance
    if subject in _means():
        return _means_of_postgres(wanted, subject, f"{why} ({hint})")
    if _of_device(subject):
        from doctord.collect.linux import LinuxCollector  # noqa: PLC0415 - one of several ways

        lost = f"{why}: the mean of diskstats is shown, the distribution is lost ({hint})"
        return Choice([LinuxCollector(period_s=wanted.period_s)], lost)
    known = bpf_host.of_host(subject, wanted.period_s) or subject in bpf_postgres.PROBES
    if known or subject.startswith(bpf_postgres.LWLOCK):
        raise Refusal(f"{subject} cannot be timed here: {why}", hint)
    raise _unknown(subject)


def _has_means(subject: str) -> bool:
    return subject in _means() or _of_device(subject)


def _of_device(subject: str) -> bool:
    return subject.removesuffix(" read").removesuffix(" write") in bpf_host.devices()


def _means_of_postgres(wanted: Wanted, subject: str, why: str) -> Choice:
    from doctord.collect.postgres.means import PostgresMeans  # noqa: PLC0415 - loads the driver

    collector = PostgresMeans(_target(wanted), subject, wanted.period_s)
    return Choice([collector], f"{why}: means of the server's own counters are shown, the distribution is lost")


def _means() -> Sequence[str]:
    from doctord.collect.postgres.means import MEANS  # noqa: PLC0415 - loads the driver

    return tuple(MEANS)


def _target(wanted: Wanted) -> "Target":
    from doctord.collect.postgres.connect import Target  # noqa: PLC0415 - loads the driver

    if wanted.dsn is not None:
        return Target.from_dsn(wanted.dsn)
    server = bpf_postgres.chosen(_port(wanted.db))
    return Target(
        f"postgresql:{server.port}", {"host": server.socket_dir or "localhost", "port": server.port}, server.owner
    )


def _of_address(wanted: Wanted, address: str) -> Collector:
    from doctord.collect.address import collector_of  # noqa: PLC0415 - the drivers are extras

    collector = collector_of(
        address,
        subjects=[wanted.subject] if wanted.subject else [],
        instances=[wanted.instance] if wanted.instance else [],
        period_s=wanted.period_s,
        ask=True,
    )
    collector.check()
    return collector


def _port(db: str | None) -> int | None:
    """The port of `postgresql:5432`.

    Raises:
        Refusal: it names no server so.
    """
    if db is None:
        return None
    kind, _, port = db.rpartition(":")
    if kind != "postgresql" or not port.isdigit():
        raise Refusal(f"{db!r} names no server of this host", "write postgresql:5432, or give an address with --dsn")
    return int(port)


def _unknown(subject: str) -> Refusal:
    names = sorted({subject.name for subject in live_subjects()} | {"pread64", "pwrite64", "fdatasync", "fsync"})
    near = get_close_matches(subject, names, 3, 0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "doctord map --list says what can be timed here"
    return Refusal(f"nothing here times {subject!r}", hint)
