"""Small plots over time as SVG: lines or a stack of layers, with UTC on one axis and a unit on the other.

Where nothing was measured the plot says so: a gap is shaded, never drawn as zero. Built as XML elements, so that every
text is escaped by the serialiser. Colours and patterns are classes of the page's style sheet.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from statistics import median
from xml.etree.ElementTree import Element, SubElement, tostring

from doctord.report.plain import clean
from doctord.report.series import Series, Step
from doctord.units import number

WIDTH, HEIGHT = 480, 212
LEFT, RIGHT, TOP, BOTTOM = 56, 10, 18, 30
DIGIT = 9.5  # as wide as on a narrow page, where letters are largest
TIME_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
DAY_S = 86_400


@dataclass(frozen=True)
class Plot:
    """What to draw: `since` and `until` in seconds since the epoch; `limit` a level with its name, for a line across.

    A limit over four times the highest value is left out of the drawing: it would flatten what is to be seen. `reaches`
    is the highest value of a plot that it stands beside, on one scale with it.
    """

    title: str
    unit: str
    series: tuple[Series, ...]
    since: float
    until: float
    stacked: bool = False
    limit: tuple[str, float] | None = None
    reaches: float = 0.0

    @cached_property
    def highest(self) -> float:
        """The highest value drawn, that of the stack where it is one."""
        if self.stacked:
            columns = zip(*(series.steps for series in self.series), strict=True)
            return max(self.reaches, *(math.fsum(step.mean for step in steps) for steps in columns))
        return max(self.reaches, *(series.highest for series in self.series))

    @property
    def limit_shown(self) -> bool:
        """Whether the limit is near enough to be drawn."""
        return self.limit is not None and self.limit[1] <= 4 * self.highest

    @cached_property
    def top(self) -> float:
        """Upper end of the axis: a tick at or above everything drawn."""
        most = max(self.highest, self.limit[1] if self.limit and self.limit_shown else 0.0)
        return ticks(most)[-1]

    @cached_property
    def left(self) -> float:
        """Where the axis of time begins: so far in that the longest value beside it is whole."""
        return max(LEFT, 6 + DIGIT * max(len(number(value)) for value in ticks(self.top)))

    def x(self, moment: float) -> float:
        """The x of a moment (seconds since the epoch) in the units of the drawing; of one outside, at the edge."""
        share = (moment - self.since) / max(self.until - self.since, 1e-6)
        return self.left + min(max(share, 0.0), 1.0) * (WIDTH - self.left - RIGHT)

    def y(self, value: float) -> float:
        """The y of a value in the units of the drawing; the axis begins at 0."""
        return HEIGHT - BOTTOM - value / self.top * (HEIGHT - TOP - BOTTOM)


def svg(plot: Plot) -> str:
    """The plot as one `<svg>` element; it needs at least one series."""
    root = Element("svg", {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "class": "plot"})
    SubElement(root, "title").text = clean(plot.title)
    SubElement(root, "desc").text = clean(described(plot))
    _axes(root, plot)
    for start, end in gaps(plot):
        x, width = plot.x(start), plot.x(end) - plot.x(start)
        box = {"x": f"{x:.1f}", "y": str(TOP), "width": f"{width:.1f}", "height": str(HEIGHT - TOP - BOTTOM)}
        SubElement(SubElement(root, "rect", {**box, "class": "gap"}), "title").text = "not measured"
    draw = _stack if plot.stacked else _lines
    draw(root, plot)
    if plot.limit and plot.limit_shown:
        y = f"{plot.y(plot.limit[1]):.1f}"
        SubElement(root, "path", {"d": f"M{plot.left} {y}H{WIDTH - RIGHT}", "class": "limit"})
        label = SubElement(root, "text", {"x": str(WIDTH - RIGHT - 2), "y": f"{float(y) - 4:.1f}", "class": "end on"})
        label.text = clean(f"{plot.limit[0]} {number(plot.limit[1])}")
    return tostring(root, encoding="unicode")


def described(plot: Plot) -> str:
    """The plot in words, for who cannot see it."""
    parts = [f"{series.name}: mean {number(series.mean)}, highest {number(series.highest)}" for series in plot.series]
    limit = [f"{plot.limit[0]}: {number(plot.limit[1])}"] if plot.limit else []
    return f"{plot.title}, {plot.unit}. {'; '.join(parts + limit)}."


def gaps(plot: Plot) -> list[tuple[float, float]]:
    """Times in which no series was measured: longer than half a usual step, and wide enough to be seen."""
    shortest_s = median(step.end - step.start for series in plot.series for step in series.steps) / 2
    covered = sorted((step.start, step.end) for series in plot.series for step in series.steps)
    found, reached = [], plot.since
    for start, end in (*covered, (plot.until, plot.until)):
        if plot.x(start) - plot.x(reached) > 1 and start - reached > shortest_s:
            found.append((reached, start))
        reached = max(reached, end)
    return found


def _axes(root: Element, plot: Plot) -> None:
    for value in ticks(plot.top):
        y = f"{plot.y(value):.1f}"
        SubElement(root, "path", {"d": f"M{plot.left} {y}H{WIDTH - RIGHT}", "class": "grid"})
        label = SubElement(root, "text", {"x": str(plot.left - 5), "y": f"{float(y) + 4:.1f}", "class": "end"})
        label.text = number(value)
    for moment, clock in time_ticks(plot.since, plot.until):
        x = f"{plot.x(moment):.1f}"
        SubElement(root, "path", {"d": f"M{x} {HEIGHT - BOTTOM}v4", "class": "tick"})
        SubElement(root, "text", {"x": x, "y": str(HEIGHT - 7), "class": "middle"}).text = clock


def _lines(root: Element, plot: Plot) -> None:
    for series in plot.series:
        look = f"c{series.colour} d{series.dash}"
        if any(step.low < step.high for step in series.steps):
            highs = [(step, step.low, step.high) for step in series.steps]
            SubElement(root, "path", {"d": _area(plot, highs), "class": f"band {look}"})
        path = "".join(
            f"M{plot.x(part[0].start):.1f} {plot.y(part[0].mean):.1f}H{plot.x(part[0].end):.1f}"
            + "".join(f"V{plot.y(step.mean):.1f}H{plot.x(step.end):.1f}" for step in part[1:])
            for part in _unbroken(series.steps)
        )
        line = SubElement(root, "path", {"d": path, "class": f"line {look}"})
        SubElement(line, "title").text = clean(series.name)


def _stack(root: Element, plot: Plot) -> None:
    below = [0.0] * len(plot.series[0].steps)
    for series in plot.series:
        above = [base + step.mean for base, step in zip(below, series.steps, strict=True)]
        area = _area(plot, list(zip(series.steps, below, above, strict=True)))
        layer = SubElement(root, "path", {"d": area, "class": "layer", "fill": f"url(#fill{series.colour})"})
        SubElement(layer, "title").text = clean(series.name)
        below = above


def _area(plot: Plot, steps: Sequence[tuple[Step, float, float]]) -> str:
    """The outline of what lies between a lower and an upper value of each step, one piece per unbroken run."""
    bounds = {step.start: (low, high) for step, low, high in steps}
    pieces = []
    for part in _unbroken([step for step, _, _ in steps]):
        there = "".join(f"V{plot.y(bounds[step.start][1]):.1f}H{plot.x(step.end):.1f}" for step in part)
        back = "".join(f"V{plot.y(bounds[step.start][0]):.1f}H{plot.x(step.start):.1f}" for step in reversed(part))
        pieces.append(f"M{plot.x(part[0].start):.1f} {plot.y(bounds[part[0].start][0]):.1f}{there}{back}Z")
    return "".join(pieces)


def _unbroken(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Runs of steps without a gap between them."""
    run = list(steps[:1])
    for before, step in pairwise(steps):
        if step.start > before.end:
            yield run
            run = []
        run.append(step)
    if run:
        yield run


def ticks(most: float) -> list[float]:
    """Round values from 0 to at least `most`, three to six of them (1, 2 or 5 times a power of ten apart)."""
    if most <= 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(most / 4))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power * 4 >= most)
    return [i * step for i in range(math.ceil(most / step - 1e-9) + 1)]


def time_ticks(since: float, until: float) -> list[tuple[float, str]]:
    """Round moments in UTC, at most five, with their labels; an interval too short for two has the one it has."""
    step = next((s for s in TIME_STEPS_S if (until - since) / s <= 5), math.ceil((until - since) / 5 / DAY_S) * DAY_S)
    form = "%H:%M:%S" if step < 60 else "%H:%M" if step < DAY_S else "%b %d"
    moments = range(math.ceil(since / step) * step, math.floor(until) + 1, step)
    last = WIDTH - RIGHT - 30
    span = max(until - since, 1e-6)
    shown = [m for m in moments if LEFT + (m - since) / span * (WIDTH - LEFT - RIGHT) <= last]
    return [(float(m), datetime.fromtimestamp(m, UTC).strftime(form)) for m in shown]
