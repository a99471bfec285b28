"""When a threshold will be violated."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
import numpy.typing as npt

from doctord.analyse.capacity.forecast.result import Forecast
from doctord.analyse.capacity.series import Numbers, Series

Verdict = Literal["violated", "date", "not within the horizon", "cannot be told"]
FEWEST = 4  # parts of a history through which a line is laid
PARTS = (12, 7)  # of a history, at most
DEVIATIONS = 3.0  # of the slope's error: what grows less than that may as well stand still


@dataclass(frozen=True, slots=True)
class When:
    """When a threshold will be violated.

    Attributes:
        verdict: `violated` already, at a `date`, `not within the horizon`, or `cannot be told`.
        date: When the forecast passes the limit; null but for the verdict `date`.
        earliest, latest: The interval of that date; a null latest lies beyond the horizon. An earliest without a
            date says that the interval of the figure, not the forecast itself, reaches the limit within the horizon.
        why: What this rests on.
    """

    verdict: Verdict
    date: datetime | None = None
    earliest: datetime | None = None
    latest: datetime | None = None
    why: str = ""


def when(
    series: Series,
    forecast: Forecast,
    limit: float,
    worse: Literal["above", "below"],
    *,
    hold_s: float = 0.0,
    is_changed: bool = False,
    is_violated: bool | None = None,
) -> When:
    """When a figure will pass a limit, and stay beyond it for as long as that counts.

    Args:
        series: What was measured.
        forecast: Of that series.
        limit: In the figure's unit.
        worse: On which side of the limit the figure is bad.
        hold_s: Seconds that a violation lasts at least; its date is that on which it begins.
        is_changed: Whether the forecast holds what the history does not: it need not have grown then.
        is_violated: Whether it is violated now, as `check` found; null: judged by the last steps of this history.
    """
    sign = 1.0 if worse == "above" else -1.0
    measured = series.values[np.isfinite(series.values)] * sign
    if is_violated:
        return When("violated", why=f"it is {worse} the limit already")
    if forecast.why:
        return When("cannot be told", why=forecast.why)
    newest = max(3, _steps(hold_s, series.step_s))
    if is_violated is None and np.median(measured[-newest:]) > limit * sign:
        return When("violated", why=f"it is {worse} the limit already")
    near, far = (forecast.high, forecast.low) if worse == "above" else (forecast.low, forecast.high)
    lasting = _steps(hold_s, forecast.step_s)
    first = [_first(bound * sign > limit * sign, lasting) for bound in (near, forecast.mean, far)]
    earliest, date, latest = (None if step is None else forecast.at(step) for step in first)
    until = f"{forecast.at(len(forecast.mean) - 1):%Y-%m-%d}"
    if date is None:
        return When(
            "not within the horizon", earliest=earliest, why=f"the forecast stays within the limit until {until}"
        )
    if not is_changed and not grows(measured):
        return When("not within the horizon", earliest=earliest, why="it does not grow by more than its noise")
    return When("date", date, earliest, latest, why=f"the forecast ({forecast.model}) passes the limit")


def grows(values: Numbers) -> bool:
    """Whether a history, or its last half, rises by more than its noise: a line through the means of its parts.

    Parts of two lengths must agree: what comes and goes may rise in parts of about its own period.
    """
    halves = [part for part in (values, values[len(values) // 2 :]) if len(part) >= FEWEST]
    return any(all(_rises(half, most) for most in PARTS) for half in halves)


def _rises(values: Numbers, most: int) -> bool:
    parts = np.array([part.mean() for part in np.array_split(values, min(most, max(FEWEST, len(values) // 7)))])
    at = np.arange(len(parts)) - (len(parts) - 1) / 2
    slope = float(at @ parts / (at @ at))
    left = parts - parts.mean() - slope * at
    error = float(np.sqrt(left @ left / max(1, len(parts) - 2) / (at @ at)))
    return slope > DEVIATIONS * error and slope > 0


def _steps(hold_s: float, step_s: int) -> int:
    return max(1, math.ceil(hold_s / step_s))


def _first(passed: npt.NDArray[np.bool_], lasting: int) -> int | None:
    """The first of so many steps in a row that pass the limit."""
    if lasting > len(passed):
        return None
    places = np.flatnonzero(np.lib.stride_tricks.sliding_window_view(passed, lasting).all(axis=1))
    return int(places[0]) if len(places) else None
