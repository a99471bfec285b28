"""The files that `doctord map` writes: a page, and pictures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from doctord.analyse.latency.map import LatencyMap
from doctord.cli._verdict import check_writable
from doctord.cli.arguments import Refusal
from doctord.report import map_html, map_image
from doctord.report.map_view import View

PICTURE_COLUMNS, PAGE_COLUMNS = 960, 3600


@dataclass(frozen=True, slots=True)
class Files:
    """Where to write what; null does not."""

    html: Path | None = None
    svg: Path | None = None
    png: Path | None = None

    def check(self) -> None:
        """Refuse what could not be written in the end, before anybody waits for it."""
        for file in filter(None, (self.html, self.svg, self.png)):
            check_writable(file)

    def write(self, view: View, compare_at: datetime | None, maps: Callable[[int], Sequence[LatencyMap]]) -> None:
        """Write what was asked for.

        Args:
            view: Rows, columns and scale, where they are chosen.
            compare_at: What is before this moment and after it is compared on the page; null leaves that to the reader.
            maps: Gives the maps in at most so many columns, that of most waits first: pictures show that one.
        """
        if self.html:
            found = maps(view.columns or PAGE_COLUMNS)
            written = map_html.page(found, rows=view.rows or map_html.ROWS, scale=view.scale, compare_at=compare_at)
            _write(self.html, written.encode())
        if self.svg or self.png:
            shown = maps(view.columns or PICTURE_COLUMNS)[:1]
            rows = view.rows or map_image.ROWS
            if self.svg:
                _write(self.svg, map_image.svg(shown, rows=rows, scale=view.scale).encode())
            if self.png:
                _write(self.png, map_image.png(shown, rows=rows, scale=view.scale))


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise Refusal(f"{file}: {error.strerror}", "name a file that you may write") from error
