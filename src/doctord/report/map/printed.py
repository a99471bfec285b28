"""A latency map as it is printed: in the room that standard output has, with what can be read from it."""

import os
import sys
from datetime import datetime
from json import dumps

from doctord.analyse.latency.map import LatencyMap
from doctord.report.lines import hanging
from doctord.report.map import reading
from doctord.report.map.cells import Colours
from doctord.report.map.difference import compared, sentences
from doctord.report.map.document import document
from doctord.report.map.terminal import BESIDE_COLUMNS, BESIDE_ROWS, frame
from doctord.report.map.view import View

DEFAULT_ROWS = 12


def size(view: View) -> tuple[int, int]:
    """Columns and lines of the terminal, or of a page that holds what was asked for."""
    if sys.stdout.isatty():
        columns, lines = os.get_terminal_size(sys.stdout.fileno())  # $COLUMNS stays when a window changes its size
        return columns or 80, lines or 24
    width = 80 if view.columns is None else view.columns + BESIDE_COLUMNS
    return width, 2 * (view.rows or DEFAULT_ROWS) + BESIDE_ROWS


def room(view: View) -> int:
    """How many columns of a map are seen at once."""
    columns, _ = size(view)
    return min(view.columns or columns, columns - BESIDE_COLUMNS)


def colours() -> Colours:
    """How many colours standard output shows, by what its environment says."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return "none"
    return "true" if os.environ.get("COLORTERM") in {"truecolor", "24bit"} else "256"


def render(drawn: LatencyMap, view: View, compare_at: datetime | None = None) -> str:
    """The map, what can be read from it, and what differs after a moment, if one is given."""
    found = sentences(compared(drawn, compare_at)) if compare_at else ()
    said = [
        line.plain
        for sentence in (*reading.sentences(drawn), *found)
        for line in hanging("* ", sentence, size(view)[0])
    ]
    return "\n".join([*frame(drawn, view, size(view), colours()).lines, *said])


def written(drawn: LatencyMap, view: View, compare_at: datetime | None = None, *, json: bool = False) -> str:
    """The same, or as one JSON document: docs/reference/map.md."""
    return dumps(document(drawn, compare_at), allow_nan=False) if json else render(drawn, view, compare_at)
