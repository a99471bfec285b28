"""`doctord trace --pid`: trace a running process, and say what that cost it."""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from doctord.chart.calltrace import Live, Trace, Used
from doctord.cli._verdict import progress_of
from doctord.cli.arguments import Refusal
from doctord.collect import bpftrace
from doctord.collect.tracing import bpf, strace, sums
from doctord.collect.tracing.tracee import Meter, command_of, family
from doctord.read.calltrace import read

# What the process uses untraced is measured for so long before.
BEFORE_S = 1.0


def trace(pid: int, seconds: float, *, how: str, tree: bool, keep: Path | None, limit_bytes: int) -> Trace:
    """Trace a process now.

    Args:
        pid: The process.
        seconds: How long.
        how: `strace`, `bpf`, or `auto`: bpftrace, which costs the process least, or strace where it cannot be used.
        tree: Whether to trace the processes that descend from it by now, too.
        keep: Where to keep strace's log.
        limit_bytes: Size of that log at which to stop.
    """
    command = command_of(pid)
    pids = family(pid) if tree else [pid]
    before, note = _before(pids), None
    with progress_of(seconds) as progress:
        if how == "bpf":
            return _by_bpf(pid, pids, command, seconds, before, progress)
        if how == "auto" and not keep:
            try:
                return _by_bpf(pid, pids, command, seconds, before, progress)
            except Refusal as refusal:
                note = f"{refusal}: strace was taken instead"
        return _by_strace(pid, pids, seconds, before, progress, keep, limit_bytes, note)


def _by_bpf(
    pid: int, pids: list[int], command: str, seconds: float, before: Used, progress: Callable[[float], None]
) -> Trace:
    meter = Meter(pids)
    seen, observed_s, ended = bpf.observe(pids, seconds, progress=progress)
    live = _live("bpftrace", pid, pids, observed_s, ended, before, meter.used(), bpftrace.note())
    return sums.document(seen, live, command)


def _by_strace(
    pid: int,
    pids: list[int],
    seconds: float,
    before: Used,
    progress: Callable[[float], None],
    keep: Path | None,
    limit_bytes: int,
    note: str | None,
) -> Trace:
    with tempfile.TemporaryDirectory(prefix="doctord-trace-") as folder:  # only its owner may look into it
        log = Path(folder) / f"{pid}.strace"
        meter, began_s = Meter(pids), time.monotonic()
        ended = strace.record(pids, seconds, log, limit_bytes=limit_bytes, progress=progress)
        live = _live("strace", pid, pids, time.monotonic() - began_s, ended, before, meter.used(), note)
        if keep:
            _keep(log, keep)
        if not log.stat().st_size:
            raise Refusal(f"process {pid} made no system call in {seconds:g} s", "trace for longer, or while it works")
        traced = read([log])
    traced["trace"]["files"] = [str(keep) if keep else f"process {pid}"]
    traced["live"] = live
    return traced


def _keep(log: Path, keep: Path) -> None:
    try:
        shutil.copyfile(log, keep)
    except OSError as error:
        raise Refusal(f"{keep}: {error.strerror}", "name a file that you may write") from error


def _before(pids: list[int]) -> Used:
    meter = Meter(pids)
    time.sleep(BEFORE_S)
    return meter.used()


def _live(
    how: str, pid: int, pids: list[int], seconds: float, ended: str, before: Used, during: Used, note: str | None
) -> Live:
    return {
        "how": how,
        "pid": pid,
        "processes": len(pids),
        "seconds": seconds,
        "ended": ended,
        "before": before,
        "during": during,
        "note": note,
    }
