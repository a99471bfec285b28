"""What a forecast says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np

from doctord.analyse.capacity.series import Numbers


@dataclass(frozen=True, eq=False)
class Forecast:
    """Where a figure goes.

    Attributes:
        model: The model used, or the two of which it is the mean; empty where nothing can be told.
        step_s: Seconds of a step; days where a series of hours is asked for weeks.
        start: End of the first step to come.
        mean, low, high: Each step to come, and the interval that holds `level` of what comes, one step at a time.
        level: Share of what comes that the intervals hold.
        errors: Mean absolute error of each model in the backtest, in the figure's unit.
        covered: Share of the backtest's steps that the intervals held; null without a backtest.
        change_points: When the level shifted.
        outliers: When a value was far out; models did not see it.
        notes: What the answer rests on.
        why: Why nothing can be told; empty where something can.
    """

    model: str
    step_s: int
    start: datetime
    mean: Numbers
    low: Numbers
    high: Numbers
    level: float = 0.95
    errors: Mapping[str, float] = field(default_factory=dict)
    covered: float | None = None
    change_points: tuple[datetime, ...] = ()
    outliers: tuple[datetime, ...] = ()
    notes: tuple[str, ...] = ()
    why: str = ""

    def at(self, step: float) -> datetime:
        """The end of a step to come; the first is 0."""
        return self.start + timedelta(seconds=self.step_s * step)


def untold(step_s: int, start: datetime, why: str, notes: tuple[str, ...] = ()) -> Forecast:
    """A forecast that says why there is none."""
    none = np.array([])
    return Forecast("", step_s, start, none, none, none, notes=notes, why=why)
