"""The plot of one figure that nears its limit: history, shifts, outliers, forecast with interval, limit, the date.

Static SVG: built as XML elements, so that every text is escaped by the serialiser; colours are classes of the page's
style sheet. A gap in the history is shaded and breaks the line. Pointing at a mark says what it is.
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from doctord.analyse.capacity.action_plan import Entry
from doctord.report.capacity.view import Blocks, View, seen, ticks_of
from doctord.report.plain import clean
from doctord.report.plot import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from doctord.units import number, quantity, scale

ROOM_FOR_DATE = 66.0  # on a wide page; on a narrow one letters are half as large again


def svg(entry: Entry, horizon_s: float) -> str:
    """The plot of an entry as one `<svg>` element."""
    series, unit = entry.item.series, entry.item.series.figure.unit
    view, past = seen(entry, horizon_s)
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
