"""The JSON document of a call trace, as docs/reference/trace.md explains it."""

from dataclasses import asdict
from typing import Any, Final

from doctord.analyse.traces.calls_compared import Comparison
from doctord.dataset.calltrace import Trace
from doctord.diagnose.finding import Diagnosis
from doctord.report.diagnosis.document import findings

SCHEMA_VERSION: Final = 2


def document(
    trace: Trace, diagnosis: Diagnosis, comparison: Comparison | None = None, *, before: Trace | None = None
) -> dict[str, Any]:
    """A trace with its findings; where two are compared, what changed, and the one before."""
    return {
        "schema_version": SCHEMA_VERSION,
        **_told(trace),
        "findings": findings(diagnosis),
        "comparison": asdict(comparison) if comparison else None,
        "before": _told(before) if before else None,
    }


def _told(trace: Trace) -> dict[str, Any]:
    """A trace as it stands in the document: loops beside the one that matters without their steps and path."""
    loops = [{key: value for key, value in loop.items() if key not in {"steps", "path"}} for loop in trace["loops"]]
    return {**trace, "loops": loops}
