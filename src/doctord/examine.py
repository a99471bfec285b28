"""An examination: collect from this host and its databases for a while, and diagnose what was seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from doctord._native import Batch
from doctord.chart.chart import Chart
from doctord.collect.patient import Patient
from doctord.collect.schedule import collect_for
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Diagnosis


@dataclass(frozen=True)
class Examination:
    """What was measured, as it came and as a chart, and what follows from it."""

    batches: list[Batch]
    chart: Chart
    diagnosis: Diagnosis


def examine(
    seconds: float,
    dsns: Sequence[str] = (),
    *,
    databases: bool = True,
    earlier: Chart | None = None,
    progress: Callable[[float], None] | None = None,
) -> Examination:
    """Examine this host and its databases now.

    Args:
        seconds: How long to look.
        dsns: libpq connection strings of the servers to look at; local servers are found when none is given.
        databases: Whether to look at databases at all.
        earlier: The same patient's chart of a time before, to judge by its own past.
        progress: Called a few times a second with the seconds gone.
    """
    batches = collect_for(Patient(databases=databases, dsns=dsns).collectors(), seconds, progress)
    chart = Chart.from_batches(batches)
    return Examination(batches, chart, diagnose(chart, earlier))
