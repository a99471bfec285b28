"""A forest plot as SVG: a line for each figure, its difference as a dot, its interval as a bar."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from doctord.analyse.study.compare import Outcome
from doctord.report.plain import clean
from doctord.units import number

WIDTH, ROW, LABEL, EDGE, AXIS = 720, 26, 300, 20, 34
LOOKS: Final[dict[Outcome, str]] = {"better": "c0", "worse": "c5"}
OTHER: Final = "c9"


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of the plot: its name, the difference, the ends of its interval (null: it has none), what it is."""

    name: str
    value: float
    low: float | None
    high: float | None
    outcome: Outcome


def svg(marks: Sequence[Mark], unit: str) -> str:
    """The plot; differences in one unit. It needs at least one mark.

    The axis is as long as the differences are; an interval that goes on beyond it is cut off there.
    """
    most = max(abs(mark.value) for mark in marks) * 1.25 or 1.0
    height = ROW * len(marks) + AXIS
    root = Element("svg", {"viewBox": f"0 0 {WIDTH} {height}", "role": "img", "class": "plot forest"})
    SubElement(root, "title").text = clean(f"Differences, {unit}")
    for value in (-most / 1.25, 0.0, most / 1.25):
        at = {"x": f"{_x(value, most):.1f}", "y": str(height - 10), "class": "middle"}
        SubElement(root, "text", at).text = clean(f"{number(value)} {unit}" if value else "no difference")
        line = f"M{_x(value, most):.1f} 4V{height - AXIS + 8}"
        SubElement(root, "path", {"d": line, "class": "grid" if value else "tick"})
    for place, mark in enumerate(marks):
        _draw(root, mark, ROW * place + ROW / 2, most)
    return tostring(root, encoding="unicode")


def _draw(root: Element, mark: Mark, y: float, most: float) -> None:
    label = SubElement(root, "text", {"x": str(LABEL - EDGE), "y": f"{y + 4:.1f}", "class": "end"})
    label.text = clean(mark.name if len(mark.name) <= 44 else f"{mark.name[:43]}…")
    look = LOOKS.get(mark.outcome, OTHER)
    if mark.low is not None and mark.high is not None:
        ends = (_x(end, most) for end in (mark.low, mark.high))
        SubElement(root, "path", {"d": "M{:.1f} {y}H{:.1f}".format(*ends, y=y), "class": f"line {look}"})
    dot = {"cx": f"{_x(mark.value, most):.1f}", "cy": f"{y:.1f}", "r": "5", "class": f"dot {look}"}
    SubElement(SubElement(root, "circle", dot), "title").text = clean(f"{mark.name}: {number(mark.value)}")


def _x(value: float, most: float) -> float:
    """Where a difference stands; one beyond the axis at its end."""
    share = min(max(value / most, -1.0), 1.0)
    middle = (LABEL + WIDTH - EDGE) / 2
    return middle + share * (WIDTH - EDGE - LABEL) / 2
