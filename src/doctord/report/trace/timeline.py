"""One pass of a loop as an SVG drawing: a row for each process, a bar for each call, the critical path marked.

Nothing is said by colour alone: calls on the critical path are hatched, taller, and stand in a frame. The drawing
carries its own colours, so that it can stand alone; a page overrides them by its style sheet. Built as XML elements, so
that the serialiser escapes every text.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, tostring

from doctord.analyse.traces.calls import NO_CALL, NOT_IN_TRACE
from doctord.dataset.calltrace import Bar, Row, Timeline
from doctord.diagnose.words import shortened
from doctord.report.plain import clean
from doctord.report.plot import ticks
from doctord.report.trace.wording import called
from doctord.units import in_time

WIDTH = 960
LEFT, RIGHT, TOP, BOTTOM = 170, 12, 40, 26
ROW, TALL, LOW = 34, 22, 12
NARROWEST_NAMED, NARROWEST_RUN = 46, 90
LABEL = 26
INK, QUIET, RULE, PATH, OTHER = "#1b1f24", "#57606a", "#d5dae0", "#aa3377", "#99bbdd"
PATTERN = "onpath"


def svg(timeline: Timeline, *, alone: bool = False) -> str:
    """The drawing as one `<svg>` element; `alone` for a file of its own."""
    height = TOP + ROW * len(timeline["rows"]) + BOTTOM
    attributes = {"viewBox": f"0 0 {WIDTH} {height}", "role": "img", "class": "timeline", "font-family": "sans-serif"}
    root = Element("svg", attributes | ({"xmlns": "http://www.w3.org/2000/svg"} if alone else {}))
    SubElement(root, "title").text = f"Pass {timeline['pass']}: {in_time(timeline['seconds'])}"
    SubElement(root, "desc").text = clean(described(timeline))
    _pattern(root)
    if alone:
        _rect(root, (0, 0, WIDTH, height), {"fill": "#ffffff"})
    _legend(root)
    _axis(root, timeline["seconds"], height - BOTTOM)
    for number, row in enumerate(timeline["rows"]):
        _row(root, row, TOP + ROW * number, timeline["seconds"])
    return tostring(root, encoding="unicode")


def described(timeline: Timeline) -> str:
    """The drawing in words, for who cannot see it: each process, and its time on the critical path."""
    sums = ((row["role"], sum(bar["seconds"] for bar in row["bars"] if bar["on_path"])) for row in timeline["rows"])
    return "; ".join(f"{role}: {in_time(seconds)} on the critical path" for role, seconds in sums)


def _pattern(root: Element) -> None:
    attributes = {"id": PATTERN, "width": "6", "height": "6", "patternUnits": "userSpaceOnUse"}
    pattern = SubElement(SubElement(root, "defs"), "pattern", attributes)
    _rect(pattern, (0, 0, 6, 6), {"fill": PATH, "class": "path-fill"})
    SubElement(pattern, "path", {"d": "M0 6L6 0", "stroke": "#ffffff", "stroke-width": "1", "opacity": ".6"})


def _legend(root: Element) -> None:
    _bar_rect(root, LEFT, 6, 26, on_path=True)
    _text(root, LEFT + 32, 20, "on the critical path")
    _bar_rect(root, LEFT + 170, 6, 26, on_path=False)
    _text(root, LEFT + 202, 20, "other calls; a gap is time with no call running; dashed: not in the trace")


def _axis(root: Element, seconds: float, bottom: float) -> None:
    for moment in ticks(seconds):
        if moment <= seconds:
            x = _x(moment, seconds)
            SubElement(root, "path", {"d": f"M{x:.1f} {TOP - 4}V{bottom}", "stroke": RULE, "class": "grid"})
            end = {"text-anchor": "end"} if x > WIDTH - 60 else {"text-anchor": "middle"}
            _text(root, x, bottom + 16, in_time(moment), end)


def _row(root: Element, row: Row, top: float, seconds: float) -> None:
    indent = 4 + 12 * row["depth"]
    label = _text(root, indent, top + TALL - 5, shortened(row["role"], LABEL - 2 * row["depth"]), {"fill": INK})
    SubElement(label, "title").text = clean(f"{row['role']}, process {row['pid']}")
    line = {"d": f"M{LEFT} {top + TALL}H{WIDTH - RIGHT}", "stroke": RULE, "class": "grid"}
    SubElement(root, "path", line)
    for bar in _path_last(row["bars"]):
        _bar(root, bar, top, seconds)
    for run in _runs(row["bars"]):
        x, end = _x(run[0]["start_s"], seconds), _x(run[-1]["start_s"] + run[-1]["seconds"], seconds)
        if end - x >= NARROWEST_RUN:
            _label(root, x, top, f"{len(run)} x {shortened(run[0]['call'], int((end - x) / 9))}")


def _path_last(bars: Iterable[Bar]) -> list[Bar]:
    """Bars with those of the critical path at the end, so that no other one covers them."""
    return sorted((bar for bar in bars if bar["call"] != NO_CALL or bar["on_path"]), key=lambda bar: bar["on_path"])


def _runs(bars: Iterable[Bar]) -> Iterator[list[Bar]]:
    """Calls of one name on the critical path, one after the other: too short each to bear its name."""
    ordered = sorted((bar for bar in bars if bar["on_path"] and bar["call"] != NO_CALL), key=lambda bar: bar["start_s"])
    for _, group in groupby(ordered, key=lambda bar: bar["call"]):
        run = list(group)
        if len(run) > 2:
            yield run


def _bar(root: Element, bar: Bar, top: float, seconds: float) -> None:
    x, end = _x(bar["start_s"], seconds), _x(bar["start_s"] + bar["seconds"], seconds)
    width = max(end - x, 0.8)
    group = SubElement(root, "g")
    path = ", on the critical path" if bar["on_path"] else ""
    text = f"{called(bar['call'], bar['arguments'])}: {in_time(bar['seconds'])} from {in_time(bar['start_s'])}{path}"
    SubElement(group, "title").text = clean(text)
    if bar["call"] == NOT_IN_TRACE:
        look = {"fill": "none", "stroke": QUIET, "stroke-dasharray": "3 3", "class": "not-measured"}
        _rect(group, (x, top + 1, width, TALL - 2), look)
    else:
        _bar_rect(group, x, top, width, on_path=bar["on_path"])
    if width >= NARROWEST_NAMED and bar["call"] != NO_CALL:
        _label(group, x, top, shortened(bar["call"].strip("()"), max(int(width / 7), 4)))


def _label(root: Element, x: float, top: float, text: str) -> None:
    halo = {"stroke": "#ffffff", "stroke-width": "3", "paint-order": "stroke", "class": "on"}
    _text(root, x + 4, top + TALL - 6, text, {"fill": INK, **halo})


def _bar_rect(root: Element, x: float, top: float, width: float, *, on_path: bool) -> None:
    if on_path:
        look = {"fill": f"url(#{PATTERN})", "stroke": INK, "stroke-width": ".8" if width > 3 else "0", "class": "path"}
        _rect(root, (x, top, width, TALL), look)
    else:
        _rect(root, (x, top + TALL - LOW, width, LOW), {"fill": OTHER, "class": "other"})


def _rect(root: Element, place_of: tuple[float, float, float, float], look: dict[str, str]) -> None:
    x, y, width, height = place_of
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": f"{height:.1f}"}
    SubElement(root, "rect", place | look)


def _text(root: Element, x: float, y: float, text: str, look: dict[str, str] | None = None) -> Element:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "font-size": "12", "fill": QUIET}
    element = SubElement(root, "text", place | (look or {}))
    element.text = clean(text)
    return element


def _x(moment: float, seconds: float) -> float:
    share = moment / seconds if seconds else 0.0
    return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)
