"""One line of the overview as SVG: from now to the horizon, when the plan must begin and when the limit is passed."""

from datetime import datetime, timedelta
from xml.etree.ElementTree import Element, SubElement, tostring

from doctord.analyse.capacity.action_plan import Entry
from doctord.report.plain import clean

WIDTH, HEIGHT = 220, 18
MIDDLE = HEIGHT / 2
LEFT, RIGHT = 6, 6
MARKS = 3  # parts of the horizon that have a tick


def svg(entry: Entry, now: datetime, within_s: float, text: str) -> str:
    """The line of an entry; `text` says it for who cannot see it."""

    def x(moment: datetime) -> float:
        share = (moment - now).total_seconds() / within_s
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    horizon, when = now + timedelta(seconds=within_s), entry.item.when
    root = Element("svg", {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "class": "strip"})
    SubElement(root, "title").text = clean(text)
    for mark in range(MARKS + 1):
        _path(root, f"M{x(now + timedelta(seconds=within_s * mark / MARKS)):.1f} 2v{HEIGHT - 4}", "grid")
    _path(root, f"M{x(now):.1f} {MIDDLE}H{x(horizon):.1f}", "tick")
    if entry.verdict == "violated":
        _path(root, f"M{x(now):.1f} {MIDDLE}H{x(horizon):.1f}", "between")
        _dot(root, x(now))
        return tostring(root, encoding="unicode")
    if first := when.earliest or when.date:
        _path(root, f"M{x(first):.1f} {MIDDLE}H{x(when.latest or horizon):.1f}", "between")
    if entry.begin_by:
        _path(root, f"M{x(entry.begin_by):.1f} {MIDDLE - 5}l5 5l-5 5z", "begin")
    if when.date:
        _dot(root, x(when.date))
    return tostring(root, encoding="unicode")


def _path(root: Element, line: str, look: str) -> None:
    SubElement(root, "path", {"d": line, "class": look})


def _dot(root: Element, x: float) -> None:
    SubElement(root, "circle", {"cx": f"{x:.1f}", "cy": f"{MIDDLE}", "r": "5", "class": "crossing"})
