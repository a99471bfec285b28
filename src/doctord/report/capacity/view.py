"""What of a figure that nears its limit is drawn, and where: how much past, how far ahead, between which values."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from doctord.analyse.capacity.action_plan import Entry
from doctord.analyse.capacity.forecast.predict import SUMMED
from doctord.analyse.capacity.series import DAY_S, Numbers, Series
from doctord.report.plot import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, time_ticks
from doctord.units import scale

MOST_BLOCKS = 200  # of a history: more cannot be told apart in a small plot
LEAST_PAST_S = 14 * DAY_S
PAST_BY_FUTURE = 2.0  # so many times the time to come is shown of the past
MONTHS_FROM_S = 100 * DAY_S  # what is longer has months on its axis
MONTHS_APART = (1, 2, 3, 6, 12, 24, 60)


@dataclass(frozen=True, eq=False)
class View:
    """What part of time (seconds since the epoch) and values is drawn, and where."""

    since: float
    until: float
    low: float
    high: float
    tick: float

    def x(self, moment: float) -> float:
        """The x of a moment (seconds since the epoch) in the units of the drawing; of one outside, at the edge."""
        share = (moment - self.since) / (self.until - self.since)
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Where a value is drawn; what lies outside, at the edge."""
        return min(max(self.y_beyond(value), float(TOP)), float(HEIGHT - BOTTOM))

    def y_beyond(self, value: float) -> float:
        """The y of a value in the plot's units, also of one above or below the axis: it lies outside the frame then."""
        return HEIGHT - BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)


@dataclass(frozen=True, eq=False)
class Blocks:
    """A history thinned: start and end of each block in seconds since the epoch; NaN where nothing was measured."""

    start: Numbers
    end: Numbers
    value: Numbers
    low: Numbers
    high: Numbers


def seen(entry: Entry, horizon_s: float) -> tuple[View, Blocks]:
    """What is drawn: the time until the limit is passed for certain, twice as much past, and the values of both."""
    since, until = _time(entry, horizon_s)
    past = blocks_of(entry.item.series, since, entry.item.forecast.step_s)
    return View(since, until, *_bounds(_values(entry, past, until), entry.item.series.figure.unit)), past


def blocks_of(series: Series, since: float, step_s: int) -> Blocks:
    """A history after a moment, in blocks of at least so many seconds, each one value as the figure sums up."""
    first = max(0, math.floor((since - series.start.timestamp()) / series.step_s) + 1)
    shown = len(series.values) - first
    per_block = max(1, round(step_s / series.step_s), -(-shown // MOST_BLOCKS))
    padded = np.concatenate([np.full(-shown % per_block, np.nan), series.values[first:]])
    rows = np.where(np.isfinite(padded), padded, np.nan).reshape(-1, per_block)
    some = np.isfinite(rows).any(axis=1)
    value, low, high = (np.full(len(rows), np.nan) for _ in range(3))
    value[some] = SUMMED[series.figure.sum](rows[some])
    low[some], high[some] = np.nanmin(rows[some], axis=1), np.nanmax(rows[some], axis=1)
    end = series.end.timestamp() - np.arange(len(rows) - 1, -1, -1, dtype=float) * per_block * series.step_s
    start = np.maximum(end - float(per_block * series.step_s), series.at(first - 1).timestamp())
    return Blocks(start, end, value, low, high)


def ticks_of(since: float, until: float) -> list[tuple[float, str]]:
    """Round moments in UTC with their labels; months where the time is long."""
    if until - since <= MONTHS_FROM_S:
        return time_ticks(since, until)
    first, last = (datetime.fromtimestamp(moment, UTC) for moment in (since, until))
    months = range(12 * first.year + first.month, 12 * last.year + last.month)
    apart = next((apart for apart in MONTHS_APART if len(months) / apart <= 6), 120)
    moments = [datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC) for month in months if month % apart == 0]
    edge = until - 0.05 * (until - since)
    return [(one.timestamp(), f"{one:%b %Y}") for one in moments if since < one.timestamp() < edge]


def _time(entry: Entry, horizon_s: float) -> tuple[float, float]:
    series, path = entry.item.series, entry.item.forecast
    now, begin, ahead_s = series.end.timestamp(), series.at(-1).timestamp(), _ahead_s(entry, horizon_s)
    violated_s = 1.25 * (now - entry.since.timestamp()) if entry.since else 0.0
    past_s = min(now - begin, max(PAST_BY_FUTURE * ahead_s, LEAST_PAST_S, violated_s))
    last = path.at(len(path.mean) - 1).timestamp() if len(path.mean) else now + ahead_s
    until = min(max(now + ahead_s, now + past_s / PAST_BY_FUTURE), last)
    return now - past_s, max(until, now + 1)


def _values(entry: Entry, past: Blocks, until: float) -> Numbers:
    """What must be seen: the history without its outliers, the limit, and the forecast until after the date."""
    path, date, now = entry.item.forecast, entry.item.when.date, entry.item.series.end.timestamp()
    odd = [moment.timestamp() for moment in path.outliers]
    enough = (until + min(date.timestamp(), until)) / 2 if date else until
    told = path.mean[: max(1, math.ceil((enough - now) / path.step_s))]
    limit = [entry.item.threshold.limit]
    drawn = np.concatenate([past.low, past.high[~np.isin(past.end, odd)], past.value, told, limit])
    return np.asarray(drawn[np.isfinite(drawn)])


def _ahead_s(entry: Entry, horizon_s: float) -> float:
    """How far ahead is drawn: until the limit is passed for certain, or the interval is seen."""
    if entry.verdict == "violated":
        return horizon_s / 3
    when = entry.item.when
    far = when.latest or when.date
    return (far - entry.item.series.end).total_seconds() * (1.25 if when.latest else 2.5) if far else horizon_s


def _bounds(values: Numbers, unit: str) -> tuple[float, float, float]:
    """The lowest and highest tick, and how far apart they are: from zero on, unless all values lie far from it.

    They are round in the unit that stands at the axis.
    """
    low, high = float(values.min()), float(values.max())
    if 0 <= low < high / 2 or (low == high and low > 0):
        low = 0.0
    size, _ = scale(max(abs(low), abs(high)), unit)
    step = size * _tick_step((high - low) / size)
    return math.floor(low / step) * step, math.ceil(high / step + 0.05) * step, step


def _tick_step(span: float) -> float:
    """1, 2 or 5 times a power of ten, of which about four make the span."""
    if span <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / 4))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power * 4.5 >= span)
