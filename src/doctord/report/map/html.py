"""Latency maps as one HTML page that needs nothing else: to point at, to zoom into, to compare intervals of.

The page's own script (`figures.js`, `canvas.js`, `page.js`, in this order) draws from data in the page. Its
content security policy allows no request, so it works offline and tells nobody what it shows.
"""

from collections.abc import Sequence
from datetime import datetime
from importlib.resources import files
from json import dumps
from math import inf
from typing import Any

from markupsafe import Markup

from doctord.analyse.latency.map import Column, LatencyMap
from doctord.report.diagnosis.html import environment
from doctord.report.map import reading
from doctord.report.map.grid import LOG_STEEPNESS, Cells, Scale, choose_edges, grid
from doctord.report.map.terminal import means_as_marks
from doctord.report.palettes import BLUE, RED
from doctord.report.plain import clean

ROWS = 40
SCRIPTS = ("map/figures.js", "map/canvas.js", "map/page.js")
# What must not stand in a script element as it is: it could end it, or the line.
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def page(
    maps: Sequence[LatencyMap], *, rows: int = ROWS, scale: Scale = "root", compare_at: datetime | None = None
) -> str:
    """The page.

    Args:
        maps: What can be chosen on it, the first one shown first.
        rows: How many rows of latencies each has at most.
        scale: How values become colours at first.
        compare_at: Up to this moment is interval A, what comes after is B; null leaves both to the reader.
    """
    held = {
        "maps": [data(drawn, rows) for drawn in maps],
        "palettes": {"blue": BLUE, "red": RED},
        "logSteepness": LOG_STEEPNESS,
        "scale": scale,
        "compareAt": None if compare_at is None else _milliseconds(compare_at),
    }
    return (
        environment()
        .get_template("map/page.html.j2")
        .render(
            maps=maps,
            data=Markup(_safe(dumps(held, allow_nan=False, separators=(",", ":")))),  # noqa: S704 - made safe here
            script=Markup("\n".join(_own(name) for name in SCRIPTS)),  # noqa: S704 - our own files
        )
    )


def data(drawn: LatencyMap, rows: int) -> dict[str, Any]:
    """A map as the script takes it: rows of latencies from the lowest up, and for each column what its cells hold.

    Moments are milliseconds since the epoch, latencies and times waited microseconds; a gap is null.
    """
    marked = means_as_marks(drawn) if drawn.kind == "mean" else drawn
    cells = grid(marked, choose_edges(marked.whole, rows))
    pairs = list(zip(cells.columns, drawn.columns, strict=True))
    return {
        "subject": clean(drawn.subject),
        "place": clean(" on ".join(filter(None, (drawn.db, drawn.host)))),
        "kind": drawn.kind,
        "reading": [clean(sentence) for sentence in reading.sentences(drawn) if drawn.kind == "histogram"],
        "timeIs": drawn.whole.time.sureness,
        "rows": [[row.gt_us, None if row.le_us == inf else row.le_us] for row in cells.rows],
        "ends": [_milliseconds(column.end) for column in drawn.columns],
        "seconds": [column.interval_s for column in drawn.columns],
        "counts": [_counts(held, column) for held, column in pairs],
        "waits": [None if held is None else [_short(cell.waited_us) for cell in held] for held, _ in pairs],
        "means": [column.mean_us for column in drawn.columns] if drawn.kind == "mean" else None,
        "markers": [
            {"at": _milliseconds(marker.at), "kind": clean(marker.kind), "text": clean(marker.text)}
            for marker in drawn.markers
        ],
    }


def _counts(held: Cells, column: Column) -> list[float] | None:
    """Counts of a column's cells; those of a mean are known to a fraction, being rates times seconds."""
    if held is None or column.mean is None:
        return None if held is None else [cell.count for cell in held]
    counts = [_short(column.mean.count) if cell.count else 0 for cell in held]
    # Waits that took no time have no mark, but they were there.
    return counts if any(counts) or not counts else [_short(column.mean.count), *counts[1:]]


def _short(value: float) -> float:
    """A figure with no more digits than are shown."""
    rounded = round(float(value), 1)
    return int(rounded) if rounded.is_integer() else rounded


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _safe(json: str) -> str:
    for mark, escaped in UNSAFE.items():
        json = json.replace(mark, escaped)
    return json


def _own(name: str) -> str:
    return files("doctord.report").joinpath(name).read_text(encoding="utf-8")
