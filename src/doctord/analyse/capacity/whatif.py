"""What if there were more: a forecast with growth, an event or an addition that the history cannot know of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase

import numpy as np

from doctord.analyse.capacity.forecast.result import Forecast
from doctord.analyse.capacity.series import Numbers, Series


@dataclass(frozen=True, slots=True)
class Change:
    """Something that will happen.

    Attributes:
        text: In the user's words.
        factor: What figures are multiplied by from then on.
        added: What is added to them from then on.
        unit: Unit of what is added: figures of other units do not change; empty: all change.
        entity: Pattern of the entities that change; empty: all.
        since: From when on; null: from now on.
    """

    text: str
    factor: float = 1.0
    added: float = 0.0
    unit: str = ""
    entity: str = ""
    since: datetime | None = None

    def concerns(self, series: Series) -> bool:
        """Whether it changes that figure."""
        is_its = not self.entity or fnmatchcase(series.whose.entity or "", self.entity)
        return is_its and self.unit in {"", series.figure.unit}


def changed(forecast: Forecast, series: Series, changes: Sequence[Change]) -> Forecast:
    """A forecast with what will happen; its intervals move along, for they hold what the history cannot tell.

    A figure of which little is bad (space left) shrinks by what is added, and is divided by the factor.
    """
    told = [change for change in changes if change.concerns(series)]
    if not told or forecast.why:
        return forecast
    parts = [forecast.mean, forecast.low, forecast.high]
    moments = np.array([forecast.at(step).timestamp() for step in range(len(forecast.mean))])
    for change in told:
        later = moments > (change.since.timestamp() if change.since else -np.inf)
        parts = [_moved(part, change, later, is_rest=series.figure.worse == "low") for part in parts]
    mean, low, high = parts
    notes = (*forecast.notes, *(f"with {change.text}" for change in told))
    return replace(forecast, mean=mean, low=low, high=high, notes=notes)


def _moved(values: Numbers, change: Change, later: "np.typing.NDArray[np.bool_]", *, is_rest: bool) -> Numbers:
    moved = values / change.factor - change.added if is_rest else values * change.factor + change.added
    return np.where(later, moved, values)
