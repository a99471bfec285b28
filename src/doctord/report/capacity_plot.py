"""The plot of one figure that nears its limit: history, shifts, outliers, forecast with interval, limit, the date.

Static SVG: built as XML elements, so that every text is escaped by the serialiser; colours are classes of the page's
style sheet. A gap in the history is shaded and breaks the line. Pointing at a mark says what it is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from doctord.analyse.capacity.agenda import Entry
from doctord.analyse.capacity.forecast.ahead import SUMMED
from doctord.analyse.capacity.series import DAY_S, Numbers, Series
from doctord.report.plot import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, number, time_ticks
from doctord.report.quantity import quantity, scale
from doctord.report.wording import clean

MOST_BLOCKS = 200  # of a history: more cannot be told apart in a small plot
LEAST_PAST_S = 14 * DAY_S
PAST_BY_FUTURE = 2.0  # so many times the time to come is shown of the past
MONTHS_FROM_S = 100 * DAY_S  # what is longer has months on its axis
MONTHS_APART = (1, 2, 3, 6, 12, 24, 60)
ROOM_FOR_DATE = 66.0  # on a wide page; on a narrow one letters are half as large again


@dataclass(frozen=True, eq=False)
class View:
    """What part of time (seconds since the epoch) and values is drawn, and where."""

    since: float
    until: float
    low: float
    high: float
    tick: float

    def x(self, moment: float) -> float:
        """Where a moment is drawn."""
        share = (moment - self.since) / (self.until - self.since)
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Where a value is drawn; what lies outside, at the edge."""
        return min(max(self.y_beyond(value), float(TOP)), float(HEIGHT - BOTTOM))

    def y_beyond(self, value: float) -> float:
        """Where a value is drawn, be it outside."""
        return HEIGHT - BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)


@dataclass(frozen=True, eq=False)
class Blocks:
    """A history thinned: start and end of each block in seconds since the epoch; NaN where nothing was measured."""

    start: Numbers
    end: Numbers
    value: Numbers
    low: Numbers
    high: Numbers


def svg(entry: Entry, horizon_s: float) -> str:
    """The plot of an entry as one `<svg>` element."""
    series, unit = entry.item.series, entry.item.series.figure.unit
    view, past = _seen(entry, horizon_s)
    root = Element("svg", {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "class": "plot"})
    SubElement(root, "title").text = clean(series.name)
    SubElement(root, "desc").text = clean(described(entry))
    _beyond(root, view, entry)
    _axes(root, view, unit)
    _history(root, view, past)
    _forecast(root, view, entry)
    _limit(root, view, entry)
    _marks(root, view, entry)
    _crossing(root, view, entry)
    return tostring(root, encoding="unicode")


def described(entry: Entry) -> str:
    """The plot in words, for who cannot see it."""
    item, unit = entry.item, entry.item.series.figure.unit
    parts = [f"{quantity(item.newest, unit)} now, limit {quantity(item.threshold.limit, unit)}"]
    if item.when.date:
        until = f"{item.when.latest:%Y-%m-%d}" if item.when.latest else "later"
        earliest = item.when.earliest or item.when.date
        parts.append(f"passed about {item.when.date:%Y-%m-%d}, from {earliest:%Y-%m-%d} to {until}")
    return f"{item.series.name}: {'; '.join(parts)}."


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


def _seen(entry: Entry, horizon_s: float) -> tuple[View, Blocks]:
    """What is drawn: the time until the limit is passed for certain, twice as much past, the values of both."""
    series, path, when = entry.item.series, entry.item.forecast, entry.item.when
    now, begin = series.end.timestamp(), series.at(-1).timestamp()
    ahead_s = _ahead_s(entry, horizon_s)
    violated_s = 1.25 * (now - entry.since.timestamp()) if entry.since else 0.0
    past_s = min(now - begin, max(PAST_BY_FUTURE * ahead_s, LEAST_PAST_S, violated_s))
    last = path.at(len(path.mean) - 1).timestamp() if len(path.mean) else now + ahead_s
    until = min(max(now + ahead_s, now + past_s / PAST_BY_FUTURE), last)
    past = blocks_of(series, now - past_s, path.step_s)
    odd = {moment.timestamp() for moment in path.outliers}
    calm = [high for end, high in zip(past.end, past.high, strict=True) if end not in odd]
    shown_s = ((until - now) + (min(when.date.timestamp(), until) - now)) / 2 if when.date else until - now
    told = path.mean[: max(1, math.ceil(shown_s / path.step_s))]
    drawn = np.concatenate([past.low, calm, past.value, told, [entry.item.threshold.limit]])
    return View(now - past_s, max(until, now + 1), *_bounds(drawn[np.isfinite(drawn)])), past


def _ahead_s(entry: Entry, horizon_s: float) -> float:
    """How far ahead is drawn: until the limit is passed for certain, or the interval is seen."""
    if entry.verdict == "violated":
        return horizon_s / 3
    when = entry.item.when
    far = when.latest or when.date
    return (far - entry.item.series.end).total_seconds() * (1.25 if when.latest else 2.5) if far else horizon_s


def _bounds(values: Numbers) -> tuple[float, float, float]:
    """The lowest and highest tick, and how far apart they are: from zero on, unless all values lie far from it."""
    low, high = float(values.min()), float(values.max())
    if 0 <= low < high / 2 or (low == high and low > 0):
        low = 0.0
    step = _tick_step(high - low)
    return math.floor(low / step) * step, math.ceil(high / step + 0.05) * step, step


def _tick_step(span: float) -> float:
    """1, 2 or 5 times a power of ten, of which about four make the span."""
    if span <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / 4))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power * 4.5 >= span)


def _axes(root: Element, view: View, unit: str) -> None:
    divisor, name = scale(max(abs(view.low), abs(view.high)), unit)
    for count in range(round((view.high - view.low) / view.tick) + 1):
        value = view.low + count * view.tick
        y = view.y(value)
        _path(root, f"M{LEFT} {y:.1f}H{WIDTH - RIGHT}", "grid")
        _text(root, LEFT - 5, y + 4, number(round(value / divisor, 9)), "end")
    _text(root, 2, 11, name, "")
    for moment, label in ticks_of(view.since, view.until):
        _path(root, f"M{view.x(moment):.1f} {HEIGHT - BOTTOM}v4", "tick")
        _text(root, view.x(moment), HEIGHT - 7, label, "middle")


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


def _history(root: Element, view: View, past: Blocks) -> None:
    measured = np.isfinite(past.value)
    for first, last in _runs(~measured):
        x, end = view.x(past.start[first]), view.x(past.end[last])
        box = {"x": f"{x:.1f}", "y": str(TOP), "width": f"{end - x:.1f}", "height": str(HEIGHT - TOP - BOTTOM)}
        _titled(SubElement(root, "rect", box | {"class": "gap"}), "not measured")
    for first, last in _runs(measured):
        part = range(first, last + 1)
        if any(past.low[i] < past.high[i] for i in part):
            there = "".join(f"V{view.y(past.high[i]):.1f}H{view.x(past.end[i]):.1f}" for i in part)
            back = "".join(f"V{view.y(past.low[i]):.1f}H{view.x(past.start[i]):.1f}" for i in reversed(part))
            _path(root, f"M{view.x(past.start[first]):.1f} {view.y(past.low[first]):.1f}{there}{back}Z", "band c2")
        steps = "".join(f"V{view.y(past.value[i]):.1f}H{view.x(past.end[i]):.1f}" for i in part)
        line = _path(root, f"M{view.x(past.start[first]):.1f} {view.y(past.value[first]):.1f}{steps}", "line c2")
        _titled(line, "measured")


def _runs(flags: Sequence[np.bool_] | np.typing.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last place of each run of true flags."""
    padded = np.concatenate([[False], flags, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return [(int(first), int(end) - 1) for first, end in edges.reshape(-1, 2)]


def _forecast(root: Element, view: View, entry: Entry) -> None:
    """The forecast and its interval, cut off at the edges of the plot by an inner picture."""
    path = entry.item.forecast
    kept = [step for step in range(len(path.mean)) if path.at(step).timestamp() <= view.until + path.step_s]
    if not kept:
        return
    at = {step: f"{view.x(path.at(step).timestamp()):.1f}" for step in kept}
    box = {"x": LEFT, "y": TOP, "width": WIDTH - LEFT - RIGHT, "height": HEIGHT - TOP - BOTTOM}
    inner = SubElement(root, "svg", {key: str(size) for key, size in box.items()})
    inner.set("viewBox", " ".join(str(size) for size in box.values()))
    edge = [f"{at[step]} {view.y_beyond(path.high[step]):.1f}" for step in kept]
    edge += [f"{at[step]} {view.y_beyond(path.low[step]):.1f}" for step in reversed(kept)]
    _titled(_path(inner, f"M{'L'.join(edge)}Z", "band c6"), f"{path.level:.0%} of what comes should lie here")
    middle = [f"{at[step]} {view.y_beyond(path.mean[step]):.1f}" for step in kept]
    _titled(_path(inner, f"M{'L'.join(middle)}", "line c6 d1"), f"forecast: {path.model}")


def _beyond(root: Element, view: View, entry: Entry) -> None:
    """The side of the limit on which it is bad."""
    limit = view.y(entry.item.threshold.limit)
    top, bottom = (TOP, limit) if entry.item.threshold.worse == "above" else (limit, HEIGHT - BOTTOM)
    box = {"x": str(LEFT), "y": f"{top:.1f}", "width": str(WIDTH - LEFT - RIGHT), "height": f"{bottom - top:.1f}"}
    SubElement(root, "rect", box | {"class": "beyond"})


def _limit(root: Element, view: View, entry: Entry) -> None:
    threshold = entry.item.threshold
    y = view.y(threshold.limit)
    _path(root, f"M{LEFT} {y:.1f}H{WIDTH - RIGHT}", "limit")
    above = y - 5 if y > TOP + 16 else y + 13
    # What is violated has passed the limit at the left; what is to come will, at the right.
    x, look = (WIDTH - RIGHT - 4, "end on") if entry.verdict == "violated" else (LEFT + 4, "on")
    _text(root, x, above, f"limit {quantity(threshold.limit, entry.item.series.figure.unit)}", look)


def _marks(root: Element, view: View, entry: Entry) -> None:
    """Now, level shifts and outliers."""
    series, path = entry.item.series, entry.item.forecast
    now = view.x(series.end.timestamp())
    _path(root, f"M{now:.1f} {TOP}V{HEIGHT - BOTTOM}", "now")
    date = view.x(entry.item.when.date.timestamp()) if entry.item.when.date else WIDTH
    if not (_is_at_edge(date) and date - now < 2 * ROOM_FOR_DATE):
        _text(root, now - 3, 11, "now", "end")
    for moment in path.change_points:
        if moment.timestamp() > view.since:
            x = view.x(moment.timestamp())
            mark = _path(root, f"M{x:.1f} {TOP}V{HEIGHT - BOTTOM}", "shift")
            _titled(mark, f"the level shifted, {moment:%Y-%m-%d %H:%M} UTC")
    for moment in path.outliers:
        step = round((moment - series.start).total_seconds() / series.step_s)
        if moment.timestamp() > view.since and 0 <= step < len(series.values) and np.isfinite(series.values[step]):
            value = float(series.values[step])
            place = {"cx": f"{view.x(moment.timestamp()):.1f}", "cy": f"{view.y(value):.1f}", "r": "3.5"}
            mark = SubElement(root, "circle", place | {"class": "outlier"})
            _titled(mark, f"outlier, {moment:%Y-%m-%d %H:%M} UTC: {quantity(value, series.figure.unit)}")


def _crossing(root: Element, view: View, entry: Entry) -> None:
    """The date with its interval on the limit, and when to begin with the plan."""
    when, y = entry.item.when, view.y(entry.item.threshold.limit)
    if entry.verdict not in {"date", "perhaps"} or (when.earliest is None and when.date is None):
        return
    earliest = (when.earliest or when.date or entry.item.series.end).timestamp()
    latest = when.latest.timestamp() if when.latest else view.until
    _titled(_path(root, f"M{view.x(earliest):.1f} {y:.1f}H{view.x(latest):.1f}", "between"), _between(entry))
    if when.date:
        x = view.x(when.date.timestamp())
        _path(root, f"M{x:.1f} {y:.1f}V{TOP - 3}", "drop")
        place = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "5", "class": "crossing"}
        _titled(SubElement(root, "circle", place), f"passed about {when.date:%Y-%m-%d}")
        is_left = _is_at_edge(x)
        _text(root, x + (-4 if is_left else 4), 11, f"{when.date:%Y-%m-%d}", "end date" if is_left else "date")
    if entry.begin_by and view.since < entry.begin_by.timestamp() < view.until:
        x, floor = view.x(entry.begin_by.timestamp()), HEIGHT - BOTTOM
        mark = _path(root, f"M{x:.1f} {floor - 9}l5 9h-10z", "begin")
        _titled(mark, f"begin with the plan by {entry.begin_by:%Y-%m-%d}")


def _is_at_edge(x: float) -> bool:
    """Whether a date has no room at the right of a place."""
    return WIDTH - RIGHT - ROOM_FOR_DATE < x < WIDTH


def _between(entry: Entry) -> str:
    when = entry.item.when
    latest = f"{when.latest:%Y-%m-%d}" if when.latest else "beyond the horizon"
    return f"passed between {when.earliest or when.date:%Y-%m-%d} and {latest}"


def _path(root: Element, line: str, look: str) -> Element:
    return SubElement(root, "path", {"d": line, "class": look})


def _titled(element: Element, text: str) -> None:
    SubElement(element, "title").text = clean(text)


def _text(root: Element, x: float, y: float, text: str, look: str) -> None:
    SubElement(root, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": look}).text = clean(text)
