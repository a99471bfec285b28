"""The cells of a latency map as they are drawn: which buckets are shown, and how much each cell holds.

The source's buckets become rows between edges at which none of them has to be cut: powers of two where they allow it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, starmap
from math import ceil, inf, isclose, log1p, log2, sqrt
from typing import Literal

from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.map import Column, LatencyMap

Scale = Literal["linear", "root", "log"]
Value = Literal["count", "time"]
# A logarithmic scale spreads so many orders of magnitude over the colours.
LOG_STEEPNESS = 1000.0
# Steps between two edges that are tried, the finest first: half a power of two, one, two...
RATIOS = (sqrt(2), 2.0, 4.0, 8.0, 16.0, 64.0, 256.0)
# What is less than this share of all may be shown in a common lowest row.
RARE_SHARE = 0.001


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row of cells: latencies above `gt_us` and up to `le_us`, which is infinite above the last edge."""

    gt_us: float
    le_us: float


@dataclass(frozen=True, slots=True)
class Cell:
    """Waits of one row in one column, and their time, microseconds."""

    count: int
    waited_us: float


# A column's cells, from the lowest row up; null where nothing was measured, or the mean alone.
Cells = tuple[Cell, ...] | None

EMPTY = Cell(0, 0.0)


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows from the shortest latency up, and the cells of each column of the map."""

    rows: tuple[GridRow, ...]
    columns: tuple[Cells, ...]

    def largest(self, what: Value) -> float:
        """The largest value of any cell; 0 when there is none."""
        return max((value_of(cell, what) for cells in self.columns if cells for cell in cells), default=0.0)


def value_of(cell: Cell, what: Value) -> float:
    """A cell's waits, or its time in microseconds."""
    return cell.count if what == "count" else cell.waited_us


def share(value: float, largest: float, scale: Scale) -> float:
    """How far up the colours a value lies, 0 to 1: so that one spike does not wash out the rest, root or log."""
    part = value / largest if largest else 0.0
    if scale == "root":
        return sqrt(part)
    if scale == "log":
        return log1p(part * LOG_STEEPNESS) / log1p(LOG_STEEPNESS)
    return part


def grid(drawn: LatencyMap, edges: Sequence[float]) -> Grid:
    """The cells of a map between upper edges (microseconds, ascending), as `choose_edges` gives them.

    What is longer than the last edge has a row above it. The cells of a column are kept for the next call.

    Raises:
        UserError: an edge lies inside of a bucket.
    """
    above = any(
        column.histogram is not None and _is_above(column, edges[-1] if edges else 0.0) for column in drawn.columns
    )
    uppers = (*edges, *([inf] if above else []))
    layout = tuple(starmap(GridRow, pairwise([0.0, *uppers])))
    return Grid(layout, tuple(cells_of(column, uppers) for column in drawn.columns))


def _is_above(column: Column, edge_us: float) -> bool:
    """Whether a column holds waits that are longer than an edge."""
    buckets = column.histogram.buckets if column.histogram else ()
    return (
        bool(buckets)
        and buckets[-1].le_us > edge_us
        and any(bucket.count for bucket in buckets if bucket.le_us > edge_us)
    )


@lru_cache(maxsize=8192)
def cells_of(column: Column, uppers: tuple[float, ...]) -> Cells:
    """A column's cells between upper edges, the last of which is infinite where there is a row above the others."""
    if column.histogram is None:
        return None
    finite = [edge for edge in uppers if edge < inf]
    held = {bucket.le_us: Cell(bucket.count, bucket.time_us) for bucket in column.histogram.rebucket(finite).buckets}
    return tuple(held.get(edge, EMPTY) for edge in uppers)


def choose_edges(whole: Histogram, rows: int, low_us: float | None = None, high_us: float | None = None) -> list[float]:
    """The edges between which the waits of a histogram are shown in at most so many rows, no bucket cut.

    Of a part between two latencies there are more, narrower rows; what is below is in the lowest, above in the highest.

    Powers of two of the source's own unit, or finer where the rows suffice. Where they do not, the lowest rows become
    one as long as hardly anything is in them, and then all rows become coarser.
    """
    filled = [
        bucket
        for bucket in whole.buckets
        if bucket.count and bucket.gt_us >= (low_us or 0.0) and bucket.gt_us < (high_us or inf)
    ]
    finite = [bucket for bucket in filled if bucket.le_us < inf]
    if not finite:
        return [bucket.gt_us for bucket in filled if bucket.gt_us > 0]
    above = any(bucket.count and bucket.le_us > finite[-1].le_us for bucket in whole.buckets)
    room = rows - (1 if above else 0)
    narrow = all(bucket.le_us <= 1.5 * bucket.gt_us for bucket in finite)
    ratios = RATIOS if narrow else RATIOS[1:]
    ladders = [_without_rare_bottom(_ladder(finite, ratio), whole, room) for ratio in ratios]
    return next((ladder for ladder in ladders if len(ladder) <= room), ladders[-1][-max(room, 1) :])


def _ladder(filled: Sequence[Bucket], ratio: float) -> list[float]:
    """Edges from the top down, each about `ratio` below the one above, where no bucket has to be cut."""
    highest, lowest = filled[-1], filled[0]
    wide = highest.gt_us <= highest.le_us / 2
    edges = [highest.le_us if wide else 2.0 ** ceil(log2(highest.le_us))]
    while True:
        target = edges[-1] / ratio
        cut = next((bucket for bucket in filled if bucket.gt_us < target < bucket.le_us), None)
        edge = target
        if cut:  # two halves of a power of two make no exact one
            edge = cut.le_us if isclose(target, cut.le_us, rel_tol=1e-9) else cut.gt_us
        if edge < lowest.le_us:
            return edges[::-1]
        edges.append(edge)


def _without_rare_bottom(ladder: list[float], whole: Histogram, room: int) -> list[float]:
    """The ladder without its lowest edges when it is too long for the room and hardly anything is below them."""
    surplus = len(ladder) - room
    if surplus <= 0:
        return ladder
    below = sum(bucket.count for bucket in whole.buckets if bucket.le_us <= ladder[surplus - 1])
    return ladder[surplus:] if below <= RARE_SHARE * whole.total else ladder
