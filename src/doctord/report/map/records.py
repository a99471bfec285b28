"""A latency map as PyLatencyMap's tagged records (L. Canali, 2013), so that its tools can read ours.

Each record holds counters that grow, by the upper edge of buckets that are powers of two. What is not known, a gap, is
written as counters that begin anew.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import ceil, inf, log2

from doctord.analyse.latency.histogram import Histogram
from doctord.analyse.latency.map import LatencyMap
from doctord.errors import UserError

# The unit is the first of these in whose powers of two all edges are.
UNITS_US = {"nanosec": 1e-3, "microsec": 1.0, "millisec": 1e3}
# How long a column is taken to last when that is not known: a record needs one before it.
UNKNOWN_S = 1.0
ROUNDING = 1e-9


def records(drawn: LatencyMap) -> Iterator[str]:
    """The lines of the records, without line ends.

    Raises:
        UserError: only means are known, or the buckets are not between powers of two.
    """
    if drawn.kind == "mean":
        raise UserError(f"only means are known of {drawn.subject}", "records hold counts by latency: --json has means")
    unit, edges = _unit(drawn)
    counts = dict.fromkeys(edges, 0)
    is_first = True
    for column in drawn.columns:
        if column.is_gap or is_first:
            counts = dict.fromkeys(edges, 0)
            begin = column.end if column.is_gap else column.end - timedelta(seconds=column.interval_s or UNKNOWN_S)
            yield from _record(drawn, unit, begin, counts)
        is_first = False
        for edge, count in _counts(column.histogram, edges, unit) if column.histogram else ():
            counts[edge] += count
        if not column.is_gap:
            yield from _record(drawn, unit, column.end, counts)


def _unit(drawn: LatencyMap) -> tuple[str, list[int]]:
    """The unit whose powers of two are edges of all buckets, and these powers up to the highest that is needed."""
    whole = drawn.whole
    highest_us = max((bucket.le_us for bucket in whole.buckets if bucket.count), default=1.0)
    if highest_us == inf:
        raise UserError(
            f"of {drawn.subject} some waits are above the last edge", "records name a bucket by its upper edge: --json"
        )
    for unit, unit_us in UNITS_US.items():
        edges = [1 << power for power in range(max(ceil(log2(highest_us / unit_us) - ROUNDING), 0) + 1)]
        try:
            put = whole.rebucket([edge * unit_us for edge in edges])
        except UserError:
            continue
        # Below one of the unit all is one bucket: when nothing is above it, that shows nothing.
        if len(put.buckets) > 1 or len(whole.buckets) <= 1 or highest_us > unit_us:
            return unit, edges
    raise UserError(
        f"the buckets of {drawn.subject} do not lie between powers of two", "records cannot hold them; --json can"
    )


def _counts(histogram: Histogram, edges: list[int], unit: str) -> Iterator[tuple[int, int]]:
    unit_us = UNITS_US[unit]
    for bucket in histogram.rebucket([edge * unit_us for edge in edges]).buckets:
        yield round(bucket.le_us / unit_us), bucket.count


def _record(drawn: LatencyMap, unit: str, at: datetime, counts: dict[int, int]) -> Iterator[str]:
    moment = f"{at.astimezone(UTC):%d-%b-%y %I.%M.%S.%f %p} +00:00".upper()
    yield "<begin record>"
    yield f"timestamp, microsec, {round(at.timestamp() * 1e6)}, {moment}"
    yield f"label, {drawn.subject}"
    yield f"latencyunit, {unit}"
    yield "datasource, oracle"
    yield from (f"{edge}, {count}" for edge, count in counts.items())
    yield "<end record>"
