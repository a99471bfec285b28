"""The files that latency maps are written to: a page, and pictures."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from doctord.analyse.latency.map import LatencyMap
from doctord.report.map import html as map_html
from doctord.report.map import image
from doctord.report.map.view import View

PAGE_COLUMNS, PICTURE_COLUMNS = 3600, 960


def contents(
    files: Sequence[Path | None],
    view: View,
    maps: Callable[[int], Sequence[LatencyMap]],
    compare_at: datetime | None = None,
) -> Iterator[tuple[Path, str | bytes]]:
    """Each file with what is to be written to it.

    Args:
        files: The page, the picture as SVG, the picture as PNG; null is left out.
        view: Rows, columns and scale, where they are chosen.
        maps: Gives the maps in at most so many columns, that of most waits first: pictures show that one.
        compare_at: What is before this moment and after it is compared on the page; null leaves that to the reader.
    """
    html, svg, png = files
    if html:
        found = maps(view.columns or PAGE_COLUMNS)
        yield html, map_html.page(found, rows=view.rows or map_html.ROWS, scale=view.scale, compare_at=compare_at)
    if svg or png:
        shown, rows = maps(view.columns or PICTURE_COLUMNS)[:1], view.rows or image.ROWS
        if svg:
            yield svg, image.svg(shown, rows=rows, scale=view.scale)
        if png:
            yield png, image.png(shown, rows=rows, scale=view.scale)
