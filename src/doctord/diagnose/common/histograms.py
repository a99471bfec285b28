"""Evidence from latency histograms: how the waits of an event spread, and whether that agrees with their mean."""

from doctord.analyse.latency.map import LatencyMap, histograms_of, subjects
from doctord.analyse.latency.modes import reading
from doctord.diagnose.case import Case
from doctord.diagnose.common.spread import told
from doctord.diagnose.finding import Evidence

# Buckets that double let a mean be estimated to about a third.
AGREES = 1.5


def agrees(case: Case, drawn: LatencyMap) -> bool:
    """Whether a histogram adds up to about the time that was counted beside it; true where none was.

    Statspack's histograms have one bucket from 32 ms to 1 s: what is estimated of it is good for nothing.
    """
    wait = case.waits.get(drawn.subject)
    if wait is None or not wait.ms or not drawn.whole.total:
        return True
    estimated_ms = drawn.whole.time.us / drawn.whole.total / 1000
    return estimated_ms <= AGREES * wait.ms


def spread(case: Case, *events: str) -> tuple[list[Evidence], bool]:
    """What the histograms of these events show, and whether a few slow waits make most of their time."""
    shown, few_slow = list[Evidence](), False
    for subject in subjects(case.dataset, "histogram"):
        if subject.name not in events:
            continue
        for drawn in (drawn for drawn in histograms_of(case.dataset, subject) if agrees(case, drawn)):
            found = reading(drawn)
            if not found.modes:  # too few waits to tell
                continue
            few_slow |= any(mode.share < 0.5 < mode.time_share for mode in found.modes)
            rows = f"subject = '{subject.name}' and db = '{subject.db}'"
            shown += [Evidence("latency", rows, figure, "", "by its histogram") for figure in told(drawn, found)]
    return shown, few_slow
