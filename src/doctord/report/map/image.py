"""Latency maps as a picture, SVG or PNG: the count above in blue, the time waited below in red."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf, log2, sqrt

from doctord.analyse.latency.map import LatencyMap
from doctord.diagnose.words import shortened
from doctord.report import picture
from doctord.report.map import reading
from doctord.report.map.axis import moments, place_of, times_in_words
from doctord.report.map.grid import Cells, Grid, Scale, Value, choose_edges, grid, share, value_of
from doctord.report.map.terminal import amount, label, means_as_marks
from doctord.report.palettes import BLUE, RED, Rgb, colour, level
from doctord.report.picture import Boxes, Lines, Picture, Words

ROWS = 24
LEFT, RIGHT, NARROWEST = 84, 24, 960
TITLE, HEADING, TIMES, BETWEEN, MARKERS = 56, 26, 20, 16, 18
LEAST_HEIGHT, ROW_HEIGHT = 120, 13
LEVELS = 32
LEGEND = 160
MOST_MARKERS, MOST_SENTENCES, LONGEST, SENTENCE = 6, 5, 140, 18
INK, QUIET, RULE, OVER, MARK = (27, 31, 36), (87, 96, 106), (213, 218, 224), (87, 96, 106), (170, 51, 119)
HATCH_STEP = 6
SCALE_NAMES = {"root": "square root", "log": "logarithm", "linear": "linear"}
PANELS: tuple[tuple[Value, str, Sequence[Rgb]], ...] = (("count", "Waits", BLUE), ("time", "Time waited", RED))


def svg(maps: Sequence[LatencyMap], *, rows: int = ROWS, scale: Scale = "root") -> str:
    """The maps as one SVG file, one below the other, in at most so many rows each."""
    return picture.svg(draw(maps, rows, scale))


def png(maps: Sequence[LatencyMap], *, rows: int = ROWS, scale: Scale = "root") -> bytes:
    """The maps as one PNG file, one below the other, in at most so many rows each."""
    return picture.png(draw(maps, rows, scale))


def draw(maps: Sequence[LatencyMap], rows: int, scale: Scale) -> Picture:
    """The maps as boxes, lines and words."""
    width = max([NARROWEST, *(len(drawn.columns) for drawn in maps)])
    page = Picture(LEFT + width + RIGHT, 0, "; ".join(_title(drawn) for drawn in maps))
    page.words = "; ".join(_in_words(drawn) for drawn in maps)
    for drawn in maps:
        sheet = _sheet(drawn, rows, scale, width, page.height)
        page.shapes += sheet.title()
        for number, panel in enumerate(PANELS):
            page.shapes += sheet.panel(sheet.maps_top + number * sheet.panel_height, *panel)
        page.shapes += sheet.markers(sheet.maps_top + 2 * sheet.panel_height)
        page.height = sheet.bottom
    return page


def _sheet(drawn: LatencyMap, rows: int, scale: Scale, width: int, top: int) -> "_Sheet":
    marked = means_as_marks(drawn) if drawn.kind == "mean" else drawn
    cells = grid(marked, choose_edges(marked.whole, rows))
    sentences = reading.sentences(drawn)[:MOST_SENTENCES] if drawn.kind == "histogram" else ()
    return _Sheet(drawn, cells, sentences, scale, width, top)


def _title(drawn: LatencyMap) -> str:
    place = " on ".join(filter(None, (drawn.db, drawn.host)))
    return f"{drawn.subject}, {place}" if place else drawn.subject


def _in_words(drawn: LatencyMap) -> str:
    waits = sum(column.count or 0 for column in drawn.columns)
    waited_us = sum(column.waited_us or 0 for column in drawn.columns)
    mean = f", {amount(waited_us / waits / 1e6, 'time')} on average" if waits else ""
    return f"{waits:,.0f} waits{mean}"


@dataclass(frozen=True)
class _Sheet:
    """One map on the picture: where its cells stand, and how they are coloured."""

    drawn: LatencyMap
    cells: Grid
    sentences: Sequence[str]
    scale: Scale
    width: int
    top: int

    @property
    def height(self) -> int:
        """Height of the cells of one panel."""
        return max(LEAST_HEIGHT, ROW_HEIGHT * len(self.cells.rows))

    @property
    def maps_top(self) -> int:
        """Where the panels begin, below the title and what was read from the map."""
        return self.top + TITLE + SENTENCE * len(self.sentences)

    @property
    def panel_height(self) -> int:
        """Height of a panel with its heading and times."""
        return HEADING + self.height + TIMES + BETWEEN

    @property
    def bottom(self) -> int:
        """Where the map ends."""
        named = min(len(self._inside()), MOST_MARKERS)
        return self.maps_top + 2 * self.panel_height + MARKERS * named

    def x(self, column: float) -> float:
        """The left end of a column, on half units, so that no seam is seen between two."""
        return LEFT + round(2 * column * self.width / max(len(self.drawn.columns), 1)) / 2

    def y(self, row: float) -> float:
        """The foot of a row below the top of the cells."""
        return round(2 * self.height * (1 - row / max(len(self.cells.rows), 1))) / 2

    def title(self) -> Iterator[Words]:
        """What it is of, and when."""
        only = "mean only: the source knows no distribution" if self.drawn.kind == "mean" else ""
        told = filter(None, (_in_words(self.drawn), times_in_words(self.drawn.columns), only))
        yield Words(LEFT, self.top + 26, shortened(_title(self.drawn)), 18, colour=INK)
        yield Words(LEFT, self.top + 46, "; ".join(told), 12, colour=QUIET)
        for nth, sentence in enumerate(self.sentences, 1):
            yield Words(LEFT, self.top + 46 + SENTENCE * nth, shortened(sentence, LONGEST), 12, colour=INK)

    def panel(self, top: int, what: Value, name: str, palette: Sequence[Rgb]) -> Iterator[Boxes | Lines | Words]:
        """A heading with the scale of colours, the cells, gaps, latencies and times."""
        rates = [
            _rates(cells, column.interval_s, what)
            for cells, column in zip(self.cells.columns, self.drawn.columns, strict=True)
        ]
        largest = max((rate for held in rates if held for rate in held), default=0.0)
        inside = top + HEADING
        yield Words(LEFT, top + 16, f"{name} per second", 13, colour=INK)
        yield from self._legend(top, what, palette, largest)
        cells = self._marks(rates, largest) if self.drawn.kind == "mean" else self._runs(rates, largest)
        for nth, places in sorted(cells.items()):
            moved = [(x, inside + y, width, height) for x, y, width, height in places]
            yield Boxes(moved, colour(palette, nth / (LEVELS - 1)))
        yield Lines(list(self._hatches(inside)), RULE)
        yield from self._latencies(inside)
        yield from self._times(inside)

    def _level(self, rate: float, largest: float) -> int:
        return level(share(rate, largest, self.scale), LEVELS)

    def _runs(self, rates: Sequence[Sequence[float] | None], largest: float) -> dict[int, list[tuple[float, ...]]]:
        """Boxes by level; neighbours of one level are one box."""
        boxes: dict[int, list[tuple[float, ...]]] = defaultdict(list)
        for row in range(len(self.cells.rows)):
            levels = [None if not held or not held[row] else self._level(held[row], largest) for held in rates]
            for nth, run in groupby(range(len(levels)), key=levels.__getitem__):
                columns = list(run)
                if nth is not None:
                    x, y = self.x(columns[0]), self.y(row + 1)
                    boxes[nth].append((x, y, self.x(columns[-1] + 1) - x, self.y(row) - y))
        return boxes

    def _marks(self, rates: Sequence[Sequence[float] | None], largest: float) -> dict[int, list[tuple[float, ...]]]:
        """A thin mark by level at the mean of each column that has one."""
        boxes: dict[int, list[tuple[float, ...]]] = defaultdict(list)
        for number, (held, column) in enumerate(zip(rates, self.drawn.columns, strict=True)):
            if held and column.mean_us:
                x, y = self.x(number), self._y_of(column.mean_us)
                boxes[self._level(max(held), largest)].append((x, y - 2, max(self.x(number + 1) - x, 0.5), 4))
        return boxes

    def _y_of(self, latency_us: float) -> float:
        """Where a latency lies, between the edges of its row."""
        row = next(nth for nth, row in enumerate(self.cells.rows) if latency_us <= row.le_us)
        high = self.cells.rows[row].le_us
        low = self.cells.rows[row].gt_us or high / sqrt(2)  # rows of means are half powers of two
        inside = log2(latency_us / low) / log2(high / low)
        return self.y(row + min(max(inside, 0.0), 1.0))

    def _hatches(self, top: float) -> Iterator[tuple[float, float, float, float]]:
        """Slanted lines over what was not measured."""
        gaps = [column.is_gap for column in self.drawn.columns]
        for is_gap, run in groupby(range(len(gaps)), key=gaps.__getitem__):
            columns = list(run)
            if is_gap:
                yield from _hatch(self.x(columns[0]), top, self.x(columns[-1] + 1), top + self.height)

    def _latencies(self, top: int) -> Iterator[Lines | Words]:
        """The latency of each row, and a line under what is above the last edge."""
        right, foot = LEFT + self.width, top + self.height
        frame: list[tuple[float, float, float, float]] = [(LEFT, top, LEFT, foot), (LEFT, foot, right, foot)]
        for nth, row in enumerate(self.cells.rows):
            # A row of cells has its name beside its middle; between the marks of means an edge is a level.
            beside = self.y(nth + 1) if self.drawn.kind == "mean" else (self.y(nth) + self.y(nth + 1)) / 2
            yield Words(LEFT - 8, top + beside + 4, label(row), 11, "end", QUIET)
            if row.le_us == inf:
                frame.append((LEFT - 4, top + self.y(nth), right, top + self.y(nth)))
        yield Lines(frame, OVER)

    def _times(self, top: int) -> Iterator[Lines | Words]:
        foot = top + self.height
        shown = list(moments(self.drawn.columns, self.width))
        yield Lines([(self.x(at), foot, self.x(at), foot + 4) for at, _ in shown], QUIET)
        for at, text in shown:
            yield Words(self.x(at), foot + 16, text, 11, "middle", QUIET)

    def _legend(self, top: int, what: Value, palette: Sequence[Rgb], largest: float) -> Iterator[Boxes | Words]:
        """The colours from nothing to the most, and how values become colours."""
        most = amount(largest, what)
        left = LEFT + self.width - LEGEND - 8 - 8 * len(most)
        step = LEGEND / LEVELS
        for nth in range(LEVELS):
            yield Boxes([(left + nth * step, top + 6, step, 11)], colour(palette, nth / (LEVELS - 1)))
        yield Words(left - 8, top + 16, f"{SCALE_NAMES[self.scale]}  0", 11, "end", QUIET)
        yield Words(left + LEGEND + 8, top + 16, most, 11, colour=QUIET)

    def _inside(self) -> list[tuple[int, str]]:
        """The column of each marker of the time shown, and its words."""
        return [
            (column, f"{marker.at:%H:%M:%S}  {marker.kind}: {marker.text}")
            for marker in self.drawn.markers
            if (column := place_of(self.drawn.columns, marker.at)) is not None
        ]

    def markers(self, top: int) -> Iterator[Lines | Words]:
        """A line through both maps where something happened, and in words the last ones."""
        inside = self._inside()
        first = self.maps_top + HEADING
        for panel in (first, first + self.panel_height):
            yield Lines(
                [(self.x(at + 0.5), panel - 4, self.x(at + 0.5), panel + self.height) for at, _ in inside], MARK
            )
        for nth, (_, text) in enumerate(inside[-MOST_MARKERS:]):
            yield Words(LEFT, top + MARKERS * nth, shortened(text, LONGEST), 12, colour=MARK)


def _rates(cells: Cells, interval_s: float, what: Value) -> list[float] | None:
    per_second = (1.0 if what == "count" else 1e-6) / (interval_s or 1.0)
    return None if cells is None else [value_of(cell, what) * per_second for cell in cells]


def _hatch(left: float, top: float, right: float, foot: float) -> Iterator[tuple[float, float, float, float]]:
    """Lines that rise to the right, cut at the rectangle."""
    first = int((left + top) // HATCH_STEP) + 1
    for nth in range(first, int((right + foot) // HATCH_STEP) + 1):
        both = nth * HATCH_STEP  # x + y is the same all along such a line
        begin, end = max(left, both - foot), min(right, both - top)
        yield begin, both - begin, end, both - end
