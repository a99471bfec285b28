"""Read traces of system calls, diagnose the last, and compare it with the one before."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from doctord.analyse.calls_compared import Comparison, compare
from doctord.app.watcher import SILENT, Watcher
from doctord.chart.calltrace import Trace
from doctord.chart.chart import Chart
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Diagnosis
from doctord.read.calltrace import read


@dataclass(frozen=True)
class Examined:
    """A trace with its findings, and where two are compared the one before with what changed."""

    trace: Trace
    diagnosis: Diagnosis
    before: Trace | None = None
    comparison: Comparison | None = None


def trace(before: Sequence[Path], files: Sequence[Path], *, stacks: bool, watcher: Watcher = SILENT) -> Examined:
    """Read one trace, or two of which the first came before, and diagnose the last.

    Args:
        before: the files of the trace before; none where nothing is compared.
        files: the files of the trace.
        stacks: whether to sum calls by their stacks.
        watcher: who is told how it goes on.

    Raises:
        Refusal: a file cannot be read, or is no call trace.
    """
    earlier = _read(before, stacks, watcher) if before else None
    return examined(_read(files, stacks, watcher), earlier)


def examined(trace: Trace, earlier: Trace | None = None) -> Examined:
    """Diagnose a trace, and compare it with the one before."""
    comparison = compare(earlier, trace) if earlier else None
    return Examined(trace, diagnose(Chart(), trace=trace), earlier, comparison)


def _read(files: Sequence[Path], stacks: bool, watcher: Watcher) -> Trace:  # noqa: FBT001 - passed on
    sizes = [file.stat().st_size for file in files if file.is_file()]
    total = sum(sizes) if len(sizes) == len(files) else None
    with watcher.progress("Reading", total, "bytes") as progress:
        return read(files, stacks=stacks, watch=progress)
