"""Diagnose a trace of system calls, and compare it with the one before."""

from dataclasses import dataclass

from doctord.analyse.traces.calls_compared import Comparison, compare
from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Diagnosis


@dataclass(frozen=True)
class Examined:
    """A trace with its findings, and where two are compared the one before with what changed."""

    trace: Trace
    diagnosis: Diagnosis
    before: Trace | None = None
    comparison: Comparison | None = None

    @property
    def healthy(self) -> bool | None:
        """Whether nothing above a note was found; null where there is no call in it."""
        if self.diagnosis.health == "not_healthy":
            return False
        return True if self.trace["trace"]["calls"] else None


def examined(trace: Trace, earlier: Trace | None = None) -> Examined:
    """Diagnose a trace; compare it with the one before where there is one."""
    comparison = compare(earlier, trace) if earlier else None
    return Examined(trace, diagnose(Dataset(), trace=trace), earlier, comparison)
