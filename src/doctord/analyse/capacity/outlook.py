"""What will be violated, and when: every threshold held against the forecast of every series that it concerns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from doctord.analyse.capacity.forecast import Forecast, When, forecast, when
from doctord.analyse.capacity.load.queue_fit import Queue
from doctord.analyse.capacity.load.responses import queues_of
from doctord.analyse.capacity.series import DAY_S, Series
from doctord.analyse.capacity.thresholds.check import Breach, Checked, check
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.analyse.capacity.whatif import Change, changed

NEAR_S = 7.0 * DAY_S  # how far hours tell
REACH = 10.0  # a forecast reaches so many times as far ahead as its history is long: a quarter of a year from nine days


@dataclass(frozen=True, eq=False)
class Item:
    """One threshold of one series.

    Attributes:
        threshold: The threshold.
        series: What was measured.
        forecast: Where it goes, what-ifs included.
        when: When it passes the limit.
        violation: The violation that lasts; null where there is none.
    """

    threshold: Threshold
    series: Series
    forecast: Forecast
    when: When
    violation: Breach | None = None

    @property
    def newest(self) -> float:
        """The last value that was measured."""
        measured = self.series.values[np.isfinite(self.series.values)]
        return float(measured[-1])


def outlook(
    histories: Sequence[Series],
    thresholds: Sequence[Threshold],
    horizon_s: float,
    changes: Sequence[Change] = (),
    checked: Checked | None = None,
) -> list[Item]:
    """Every threshold with every series that it concerns: violated ones first, then by date, then those without.

    Where too few days were measured to tell of months, their hours may tell of the next days. What they say is taken
    where it is a date: that nothing comes within days is no answer to the question of months.

    Args:
        histories: What was measured.
        thresholds: What may be.
        horizon_s: How far to look, seconds.
        changes: What will happen that the history cannot know of.
        checked: What is violated now, by the finest steps that there are; null: by these histories.
    """
    now = checked or check(thresholds, histories)
    concerned = [
        (threshold, series)
        for threshold in thresholds
        for series in histories
        if threshold.concerns(series) and np.isfinite(series.values).any()
    ]
    grows = any(change.factor != 1 for change in changes)
    queues = queues_of({id(series): series for _, series in concerned}.values(), histories) if grows else {}
    items = _held(concerned, horizon_s, changes, queues, now)
    short = [place for place, item in enumerate(items) if _is_short(item, horizon_s)]
    nearer = _held([concerned[place] for place in short], NEAR_S, changes, queues, now)
    for place, item in zip(short, nearer, strict=True):
        if item.when.verdict == "date":
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
    now: Checked,
) -> list[Item]:
    """Thresholds held against forecasts, in their order."""
    forecasts = paths([series for _, series in concerned], horizon_s)
    items = []
    for threshold, series in concerned:
        known, violation = forecasts[id(series)], now.now_of(threshold, series)
        path = changed(known, series, changes, queues.get(id(series)))
        crossing = when(
            series,
            path,
            threshold.limit,
            threshold.worse,
            hold_s=threshold.hold_s,
            is_changed=path is not known,
            is_violated=violation is not None,
        )
        items.append(Item(threshold, series, path, crossing, violation))
    return items


def reach_s(history_s: float, horizon_s: float) -> float:
    """How far ahead a history of such a length can be asked, where so far is asked, seconds."""
    return min(horizon_s, REACH * history_s)


def _bounded(path: Forecast, series: Series, horizon_s: float) -> Forecast:
    """As much of a forecast as its history can carry, a step at least."""
    steps = max(1, int(reach_s(len(series.values) * series.step_s, horizon_s) // path.step_s))
    return replace(path, mean=path.mean[:steps], low=path.low[:steps], high=path.high[:steps])


def paths(histories: Sequence[Series], horizon_s: float) -> dict[int, Forecast]:
    """The forecast of each series by its `id`, no further than its history reaches.

    Those of equal steps are told together: they learn from each other.
    """
    found = dict[int, Forecast]()
    for step_s in sorted({series.step_s for series in histories}):
        alike = list({id(series): series for series in histories if series.step_s == step_s}.values())
        steps = max(1, round(horizon_s / step_s))
        told = zip(alike, forecast(alike, steps), strict=True)
        found |= {id(series): _bounded(path, series, horizon_s) for series, path in told}
    return found


def _urgency(item: Item) -> tuple[int, float, str]:
    order = ("violated", "date", "not within the horizon", "cannot be told")
    first = item.when.date or item.when.earliest
    return order.index(item.when.verdict), first.timestamp() if first else float("inf"), item.series.name
