"""What will be violated, and when: every threshold held against the forecast of every series that it concerns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from doctord.analyse.capacity.forecast import Forecast, When, forecast, when
from doctord.analyse.capacity.queue_fit import Queue
from doctord.analyse.capacity.responses import queues_of
from doctord.analyse.capacity.series import DAY_S, Series
from doctord.analyse.capacity.threshold import Threshold
from doctord.analyse.capacity.whatif import Change, changed

NEAR_S = 7.0 * DAY_S  # how far hours tell


@dataclass(frozen=True, eq=False)
class Item:
    """One threshold of one series.

    Attributes:
        threshold: The threshold.
        series: What was measured.
        forecast: Where it goes, what-ifs included.
        when: When it passes the limit.
    """

    threshold: Threshold
    series: Series
    forecast: Forecast
    when: When

    @property
    def newest(self) -> float:
        """The last value that was measured."""
        measured = self.series.values[np.isfinite(self.series.values)]
        return float(measured[-1])


def outlook(
    histories: Sequence[Series], thresholds: Sequence[Threshold], horizon_s: float, changes: Sequence[Change] = ()
) -> list[Item]:
    """Every threshold with every series that it concerns: violated ones first, then by date, then those without.

    Where too few days were measured to tell of months, their hours may tell of the next days. What they say is taken
    where it is a date: that nothing comes within days is no answer to the question of months.

    Args:
        histories: What was measured.
        thresholds: What may be.
        horizon_s: How far to look, seconds.
        changes: What will happen that the history cannot know of.
    """
    concerned = [
        (threshold, series)
        for threshold in thresholds
        for series in histories
        if threshold.concerns(series) and np.isfinite(series.values).any()
    ]
    grows = any(change.factor != 1 for change in changes)
    queues = queues_of({id(series): series for _, series in concerned}.values(), histories) if grows else {}
    items = _held(concerned, horizon_s, changes, queues)
    short = [place for place, item in enumerate(items) if _is_short(item, horizon_s)]
    for place, item in zip(short, _held([concerned[place] for place in short], NEAR_S, changes, queues), strict=True):
        if item.when.verdict in {"violated", "date"}:
            note = f"too few days were measured to look further than {NEAR_S / DAY_S:.0f} d: hours are looked at"
            items[place] = replace(item, forecast=replace(item.forecast, notes=(*item.forecast.notes, note)))
    return sorted(items, key=_urgency)


def _is_short(item: Item, horizon_s: float) -> bool:
    return item.when.verdict == "cannot be told" and item.series.step_s < DAY_S and horizon_s > NEAR_S


def _held(
    concerned: Sequence[tuple[Threshold, Series]],
    horizon_s: float,
    changes: Sequence[Change],
    queues: Mapping[int, Queue],
) -> list[Item]:
    """Thresholds held against forecasts, in their order."""
    forecasts = _forecasts([series for _, series in concerned], horizon_s)
    items = []
    for threshold, series in concerned:
        known = forecasts[id(series)]
        path = changed(known, series, changes, queues.get(id(series)))
        crossing = when(
            series, path, threshold.limit, threshold.worse, hold_s=threshold.hold_s, is_changed=path is not known
        )
        items.append(Item(threshold, series, path, crossing))
    return items


def _forecasts(histories: Sequence[Series], horizon_s: float) -> dict[int, Forecast]:
    """The forecast of each series, those of equal steps together: they learn from each other."""
    found = dict[int, Forecast]()
    for step_s in sorted({series.step_s for series in histories}):
        alike = list({id(series): series for series in histories if series.step_s == step_s}.values())
        steps = max(1, round(horizon_s / step_s))
        found |= {id(series): told for series, told in zip(alike, forecast(alike, steps), strict=True)}
    return found


def _urgency(item: Item) -> tuple[int, float, str]:
    order = ("violated", "date", "not within the horizon", "cannot be told")
    first = item.when.date or item.when.earliest
    return order.index(item.when.verdict), first.timestamp() if first else float("inf"), item.series.name
