"""What differs between two intervals of a latency map, in words. `figures.js` says the same on the page."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from math import inf

from doctord.analyse.latency.difference import Difference, Part, Shift, difference, part
from doctord.analyse.latency.histogram import Histogram
from doctord.analyse.latency.map import LatencyMap
from doctord.report.map.grid import GridRow, choose_edges
from doctord.report.map.terminal import amount, label
from doctord.units import in_latency, number

# Less than this share of the waits in other buckets is no change.
ALIKE = 0.01


# As many rows as the page has, so that both say the same.
ROWS = 40


def compared(drawn: LatencyMap, at: datetime) -> Difference:
    """What differs after a moment (B) from before (A), in rows as they are shown."""
    edges = choose_edges(drawn.whole, ROWS)
    sides = (part(drawn, None, at), part(drawn, at, None))
    a, b = (replace(side, histogram=side.histogram.rebucket(edges)) for side in sides)
    return difference(a, b)


def sentences(found: Difference) -> Iterator[str]:
    """How many waits, which of them lie elsewhere, and how far median and 99 % went."""
    before, after = found.a.per_second, found.b.per_second
    if before is None or after is None:
        yield "Not measured in both intervals."
        return
    counts = f"Waits per second: {amount(before, 'count')} in A, {amount(after, 'count')} in B"
    yield f"{counts}{_ratio(after / before) if before else ''}."
    if found.a.is_of_means or found.b.is_of_means:
        means = f"Mean: {_mean(found.a)} in A, {_mean(found.b)} in B"
        yield f"{means}. More is not known: the source knows no distribution."
        return
    if not (found.grown and found.shrunk) or found.moved < ALIKE:
        if found.shifts:
            yield f"They are spread alike: {100 * found.moved:.3g} % differ."
        return
    yield (
        f"{100 * found.moved:.3g} % of the waits lie elsewhere: {_run(found.shrunk)} lost"
        f" {-100 * found.shrunk.gained:.3g} %, {_run(found.grown)} gained {100 * found.grown.gained:.3g} %."
    )
    for name, share in (("Median", 0.5), ("99 %", 0.99)):
        yield f"{name}: {_quantile(found.a.histogram, share)} in A, {_quantile(found.b.histogram, share)} in B."


def _mean(side: Part) -> str:
    return "none" if side.mean_us is None else in_latency(side.mean_us / 1e6)


def _ratio(ratio: float) -> str:
    return ": as many" if f"{ratio:.3g}" == "1" else f": {number(ratio)} times as many"


def _run(run: Shift) -> str:
    return f"{'' if run.gt_us else 'up to '}{label(GridRow(run.gt_us, run.le_us), both=True)}"


def _quantile(histogram: Histogram, share: float) -> str:
    found = histogram.quantile(share)
    if found is None:
        return "none"
    return f"over {in_latency(found.low_us / 1e6)}" if found.high_us == inf else in_latency(found.us / 1e6)
