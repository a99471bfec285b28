"""What if there were more: a forecast with growth, an event or an addition that the history cannot know of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase

import numpy as np

from doctord.analyse.capacity.forecast.result import Forecast
from doctord.analyse.capacity.load.queue_fit import Queue
from doctord.analyse.capacity.load.responses import grown
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
        """Whether it changes the figure of a series: by its entity, and by its unit where something is added."""
        is_its = not self.entity or fnmatchcase(series.labels.entity or "", self.entity)
        return is_its and self.unit in {"", series.figure.unit}


def changed(forecast: Forecast, series: Series, changes: Sequence[Change], queue: Queue | None = None) -> Forecast:
    """A forecast with what will happen; its intervals move along, for they hold what the history cannot tell.

    A figure of which little is bad (space left) shrinks by what is added, and is divided by the factor. A response
    grows as its queue says, where one was fitted.
    """
    told = [change for change in changes if change.concerns(series)]
    if not told or forecast.why:
        return forecast
    parts = [forecast.mean, forecast.low, forecast.high]
    moments = np.array([forecast.at(step).timestamp() for step in range(len(forecast.mean))])
    for change in told:
        later = moments > (change.since.timestamp() if change.since else -np.inf)
        parts = [np.where(later, _moved(part, change, series, queue), part) for part in parts]
    mean, low, high = parts
    notes = (*forecast.notes, *(f"with {change.text}{_by(queue)}" for change in told))
    return replace(forecast, mean=mean, low=low, high=high, notes=notes)


def _moved(values: Numbers, change: Change, series: Series, queue: Queue | None) -> Numbers:
    if series.figure.worse == "low":
        return values / change.factor - change.added
    if queue and queue.is_flat:
        return values + change.added
    if queue and queue.curves:
        return grown(values, queue, change.factor) + change.added
    return values * change.factor + change.added


def _by(queue: Queue | None) -> str:
    if queue is None:
        return ""
    if queue.curves:
        return f", by queueing: {queue.curves[0].name}"
    return f": {queue.why}" if queue.is_flat else f", by a straight line, for {queue.why}"
