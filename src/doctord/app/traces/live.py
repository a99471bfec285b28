"""Trace a running process, and say what that cost it."""

import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from doctord.app.watcher import SILENT, Progress, Watcher
from doctord.collect.bpf import call_sums as sums
from doctord.collect.bpf import calls as bpf
from doctord.collect.linux import strace
from doctord.collect.linux.tracee import Meter, command_of, family, sizes_of
from doctord.dataset.calltrace import Live, Trace, Used
from doctord.errors import UserError
from doctord.read.tracing.calltrace import read

# What the process uses untraced is measured for so long before.
BEFORE_S = 1.0


@dataclass(frozen=True, slots=True)
class _Traced:
    """The process that is traced, with those below it, and what they use untraced."""

    pid: int
    pids: list[int]
    command: str
    before: Used
    sizes: tuple[int | None, int | None]

    def live(self, how: str, seconds: float, ended: str, during: Used, note: str | None = None) -> Live:
        """What tracing them cost."""
        return {
            "how": how,
            "pid": self.pid,
            "processes": len(self.pids),
            "resident_bytes": self.sizes[0],
            "page_tables_bytes": self.sizes[1],
            "seconds": seconds,
            "ended": ended,
            "before": self.before,
            "during": during,
            "note": note,
        }


def trace(
    pid: int,
    seconds: float,
    *,
    how: str,
    tree: bool,
    keep: Path | None,
    limit_bytes: int,
    watcher: Watcher = SILENT,
) -> Trace:
    """Trace a process now.

    Args:
        pid: The process.
        seconds: How long.
        how: `strace`, `bpf`, or `auto`: `bpf`, which costs the process least, or strace where the kernel refuses that.
        tree: Whether to trace the processes that descend from it by now, too.
        keep: Where to keep strace's log.
        limit_bytes: Size of that log at which to stop.
        watcher: Who is told how it goes on.
    """
    command = command_of(pid)
    pids = family(pid) if tree else [pid]
    traced, note = _Traced(pid, pids, command, _before(pids), sizes_of(pid)), None
    # Loading all causes takes a second and more where CPUs are busy, and nothing else is to be done meanwhile.
    with ThreadPoolExecutor(1) as beside, watcher.progress("Looking", seconds, "s") as progress:
        beside.submit(import_module, "doctord.app.traces.examine")
        if how == "bpf" or (how == "auto" and not keep):
            try:
                return _by_bpf(traced, seconds, progress)
            except UserError as refusal:
                if how == "bpf":
                    raise
                note = f"{refusal}: strace was taken instead"
        with tempfile.TemporaryDirectory(prefix="doctord-trace-") as folder:  # only its owner may look into it
            log = Path(folder) / f"{pid}.strace"
            live = _by_strace(traced, log, seconds, limit_bytes, progress)
            if keep:
                _keep(log, keep)
            trace = _read(log, live)
    trace["trace"]["files"] = [str(keep) if keep else f"process {pid}"]
    trace["live"] = live | {"note": note}
    return trace


def _by_bpf(traced: _Traced, seconds: float, progress: Progress) -> Trace:
    meter, own = Meter(traced.pids), Meter([traced.pid])
    seen, observed_s, ended = bpf.observe(traced.pids, seconds, progress=progress)
    live = traced.live("bpf", observed_s, ended, meter.used())
    return sums.document(seen, live, traced.command, own.used()["cpu_ms_per_s"])


def _by_strace(traced: _Traced, log: Path, seconds: float, limit_bytes: int, progress: Progress) -> Live:
    meter, began_s = Meter(traced.pids), time.monotonic()
    ended = strace.record(traced.pids, seconds, log, limit_bytes=limit_bytes, progress=progress)
    return traced.live("strace", time.monotonic() - began_s, ended, meter.used())


def _read(log: Path, live: Live) -> Trace:
    if not log.stat().st_size:
        told = f"process {live['pid']} made no system call in {live['seconds']:g} s"
        raise UserError(told, "trace for longer, or while it works")
    return read([log])


def _keep(log: Path, keep: Path) -> None:
    try:
        shutil.copyfile(log, keep)
    except OSError as error:
        raise UserError(f"{keep}: {error.strerror}", "name a file that you may write") from error


def _before(pids: list[int]) -> Used:
    meter = Meter(pids)
    time.sleep(BEFORE_S)
    return meter.used()
