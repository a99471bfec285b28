"""How severe a violation is: it stops work, or it slows work, then by how much of the database's time it is about."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from doctord.analyse.capacity.series import DAY_S, Series
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.analyse.capacity.top_waits import WAIT_MS, WAITED

STOPPING = frozenset({"space", "datafiles", "host memory"})
"""Components of which nothing may be left over: statements fail, or the kernel ends processes."""


@dataclass(frozen=True, slots=True)
class Severity:
    """What a violation does.

    Attributes:
        stops: Whether work stops or fails; else it takes longer.
        share_of_time: Part (0 to 1) of what the sessions of that database waited and computed on the last day that goes
            into this wait; null for what is no wait.
    """

    stops: bool
    share_of_time: float | None


def severity_of(threshold: Threshold, series: Series, histories: Sequence[Series]) -> Severity:
    """What a violation of a threshold does: as the threshold says, else by the component of its figure.

    Args:
        threshold: The threshold.
        series: Who violates it.
        histories: All that was measured, with the time waited.
    """
    stops = threshold.severity == "stops" if threshold.severity else series.figure.component in STOPPING
    return Severity(stops, _share_of_time(series, histories))


def _share_of_time(series: Series, histories: Sequence[Series]) -> float | None:
    if series.figure.name not in {WAITED, WAIT_MS}:
        return None
    labels = series.labels
    times = {
        one.labels.entity or "": _last_day(one)
        for one in histories
        if one.figure.name == WAITED and (one.labels.host, one.labels.db) == (labels.host, labels.db)
    }
    total = sum(seconds for event, seconds in times.items() if "PX " not in event)
    own = times.get(labels.entity or "")
    return own / total if own is not None and total > 0 else None


def _last_day(series: Series) -> float:
    part = series.values[-max(1, DAY_S // series.step_s) :]
    part = part[np.isfinite(part)]
    return float(part.mean()) if part.size else 0.0
