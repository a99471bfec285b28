"""Where the latencies of a subject come from here and now: the source that sees most of those that work.

What is lost with the next best one is said: a mean is no distribution.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from doctord._native import syscall_number
from doctord.collect.bpf import bpftrace
from doctord.collect.bpf import host as bpf_host
from doctord.collect.bpf.latency import BpfLatency
from doctord.collect.core.collector import Collector
from doctord.collect.core.database import LatenciesHere, Latency, LiveSubject, Wanted
from doctord.collect.databases import database_of, databases
from doctord.collect.linux import LinuxCollector
from doctord.errors import UserError


@dataclass(frozen=True, slots=True)
class Choice:
    """The collectors to ask, in words what they cannot show, and how they work where that is special; else null."""

    collectors: Sequence[Collector]
    lost: str | None = None
    note: str | None = None


def choose(wanted: Wanted) -> Choice:
    """The best source of what is wanted.

    Raises:
        UserError: there is none here, or no such subject.
    """
    if wanted.dsn and (of_address := database_of(wanted.dsn).latency):
        return Choice([_checked(of_address(wanted))])
    if wanted.db is not None and not any(one.is_named(wanted.db) for one in _here()):
        hint = "doctord map-live --list names them, or give an address with --dsn"
        raise UserError(f"{wanted.db!r} names no server of this host", hint)
    subject = wanted.subject or _default()
    hindrance = bpftrace.hindrance()
    if hindrance:
        return _without_bpftrace(wanted, subject, hindrance)
    if wanted.pid is not None:
        return Choice([_of_process(wanted, subject, wanted.pid)], note=bpftrace.note())
    timed = _traced(wanted, subject)
    if timed is None:
        if (means := _means(wanted, subject, f"no probe times {subject}")) is None:
            raise _unknown(subject)
        return means
    try:
        return Choice([_checked(timed)], note=bpftrace.note())
    except UserError as refusal:
        if (means := _second_best(wanted, subject, (str(refusal), refusal.hint))) is None:
            raise
        return means


def live_subjects() -> Iterator[LiveSubject]:
    """What can be mapped live on this host without an address, but for system calls, each of which can."""
    with_bpftrace = bpftrace.hindrance() is None
    for one in _here():
        yield from one.subjects(with_bpftrace=with_bpftrace)
    source = "tracepoints" if with_bpftrace else "diskstats: means only"
    yield from (LiveSubject(f"{name} {way}", None, source) for name in bpf_host.devices() for way in ("read", "write"))
    if with_bpftrace:
        yield from (LiveSubject(name, None, source) for name in (bpf_host.RUN_QUEUE, bpf_host.TCP_CONNECT))


def _here() -> list[LatenciesHere]:
    return [one.here() for one in databases() if one.here]


def _default() -> str:
    of_servers = (subject for one in _here() if (subject := one.usual()))
    return next(of_servers, None) or f"{next(iter(bpf_host.devices()), 'sda')} read"


def _checked(latency: Latency) -> Latency:
    latency.check()
    return latency


def _traced(wanted: Wanted, subject: str) -> Latency | None:
    """What bpftrace times, of a server or of the host."""
    of_servers = next((found for one in _here() if (found := one.traced(wanted, subject))), None)
    if of_servers:
        return of_servers
    of_host = bpf_host.of_host(subject, wanted.period_s)
    return BpfLatency(of_host, wanted.period_s) if of_host else None


def _of_process(wanted: Wanted, subject: str, pid: int) -> Latency:
    if syscall_number(subject) is None:
        raise UserError(
            f"{subject!r} is no system call", "of a process, system calls are timed: --event pread64 --pid PID"
        )
    if not Path(f"/proc/{pid}").exists():
        raise UserError(f"there is no process {pid}", "ps -ef lists them; a postmaster's pid stands in postmaster.pid")
    return _checked(BpfLatency(bpf_host.system_call(subject, wanted.period_s, f"pid == {pid}"), wanted.period_s))


def _without_bpftrace(wanted: Wanted, subject: str, hindrance: tuple[str, str]) -> Choice:
    if means := _second_best(wanted, subject, hindrance):
        return means
    why, hint = hindrance
    if bpf_host.of_host(subject, wanted.period_s) or any(one.may_trace(subject) for one in _here()):
        raise UserError(f"{subject} cannot be timed here: {why}", hint)
    raise _unknown(subject)


def _second_best(wanted: Wanted, subject: str, hindrance: tuple[str, str]) -> Choice | None:
    """Means, where there are any, and what is lost with them."""
    why, hint = hindrance
    if means := _means(wanted, subject, f"{why} ({hint})"):
        return means
    if subject.removesuffix(" read").removesuffix(" write") in bpf_host.devices():
        lost = f"{why}: the mean of diskstats is shown, the distribution is lost ({hint})"
        return Choice([LinuxCollector(period_s=wanted.period_s)], lost)
    return None


def _means(wanted: Wanted, subject: str, why: str) -> Choice | None:
    """The mean that a server's own counters give; null when they do not tell it."""
    counted = next((found for one in _here() if (found := one.counted(wanted, subject))), None)
    lost = f"{why}: means of the server's own counters are shown, the distribution is lost"
    return Choice([counted], lost) if counted else None


def _unknown(subject: str) -> UserError:
    names = sorted({subject.name for subject in live_subjects()} | {"pread64", "pwrite64", "fdatasync", "fsync"})
    near = get_close_matches(subject, names, 3, 0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "doctord map-live --list says what can be timed here"
    return UserError(f"nothing here times {subject!r}", hint)
