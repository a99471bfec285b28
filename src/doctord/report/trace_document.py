"""The JSON document of a call trace, as docs/reference/trace.md explains it."""

from typing import Any, Final

from doctord.analyse.calls_compared import Comparison
from doctord.chart.calltrace import Trace
from doctord.diagnose.finding import Diagnosis
from doctord.report.document import findings

SCHEMA_VERSION: Final = 2


def document(
    trace: Trace, diagnosis: Diagnosis, comparison: Comparison | None = None, *, before: Trace | None = None
) -> dict[str, Any]:
    """A trace with its findings; where two are compared, what changed, and the one before."""
    return {
        "schema_version": SCHEMA_VERSION,
        **trace,
        "findings": findings(diagnosis),
        "comparison": comparison.document() if comparison else None,
        "before": before,
    }
