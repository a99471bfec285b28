"""Where sizes go to which nobody gave a limit: of a database by AWR-miner, of tablespaces that grow by themselves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from doctord.analyse.capacity.forecast import Forecast
from doctord.analyse.capacity.outlook import paths
from doctord.analyse.capacity.series import DAY_S, Series
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.analyse.capacity.whatif import Change, changed

FEWEST_CHANGES = 5
SIZE, ROOM = "space_used_bytes", "space_left_bytes"


@dataclass(frozen=True, eq=False)
class SizeAhead:
    """A size: what was measured, and where it goes as far as its history reaches, what-ifs included."""

    series: Series
    forecast: Forecast

    @property
    def newest(self) -> float:
        """The last value that was measured."""
        return float(self.series.values[np.isfinite(self.series.values)][-1])

    @property
    def per_day(self) -> float | None:
        """The median change from one value to the next, a day: one step up or down does not move it; null of a few."""
        places = np.flatnonzero(np.isfinite(self.series.values))
        if len(places) <= FEWEST_CHANGES:
            return None
        days = np.diff(places) * self.series.step_s / DAY_S
        return float(np.median(np.diff(self.series.values[places]) / days))


def sizes_ahead(
    histories: Sequence[Series], thresholds: Sequence[Threshold], horizon_s: float, changes: Sequence[Change] = ()
) -> list[SizeAhead]:
    """The sizes among some histories that no threshold concerns, itself or by the room that is left; largest first."""
    limited = {series.labels for series in histories if series.figure.name == ROOM}
    free = [
        series
        for series in histories
        if series.figure.name == SIZE
        and series.labels not in limited
        and np.isfinite(series.values).any()
        and not any(threshold.concerns(series) for threshold in thresholds)
    ]
    ahead = paths(free, horizon_s)
    found = [SizeAhead(series, changed(ahead[id(series)], series, changes)) for series in free]
    return sorted(found, key=lambda one: (-one.newest, one.series.name))
