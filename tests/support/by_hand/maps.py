"""Latency maps written out by hand, for the tests of what shows them."""

import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import ceil, log2

from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.map import Column, LatencyMap, Marker, Mean

T0 = datetime(2026, 11, 21, 6, 0, tzinfo=UTC)


def powers(counts: dict[int, int], unit_us: float = 1.0) -> Histogram:
    """Counts by the power of two of the upper edge."""
    return Histogram.of(
        Bucket(2.0**power / 2 * unit_us, 2.0**power * unit_us, count) for power, count in counts.items()
    )


def map_of(number: int, histogram_of: Callable[[int], Histogram | None], *markers: Marker) -> LatencyMap:
    """A map of so many seconds; null is a gap."""
    columns = tuple(Column(T0 + timedelta(seconds=second), 1.0, histogram_of(second)) for second in range(number))
    return LatencyMap("smgr read", "postgresql:5432", "vm", "histogram", columns, markers)


def bimodal_with_bursts(second: int) -> Histogram | None:
    """Reads from a cache and from a disk, a burst of slow ones every 20 s, and three seconds not measured."""
    if 33 <= second < 36:
        return None
    slow = {19: 3, 20: 1} if second % 20 < 2 else {}
    return powers({6: 20 + second % 3, 7: 200 - second, 8: 30, 12: 4, 13: 80 + second, 14: 9, **slow})


def of_means(number: int) -> LatencyMap:
    """A map that knows means only, with an idle second and a gap."""

    def column(second: int) -> Column:
        mean = None if second == 5 else Mean(0, None) if second == 7 else Mean(10 + second, 1000.0 * (1 + second % 4))
        return Column(T0 + timedelta(seconds=second), 1.0, mean=mean)

    return LatencyMap("vda read", None, "vm", "mean", tuple(column(second) for second in range(number)))


def sampled(draw: random.Random, parts: list[tuple[int, float, float]], *, fine: bool = True) -> Histogram:
    """Log-normal waits: how many, around what, how wide (natural logarithm)."""
    counts: Counter[tuple[float, float]] = Counter()
    for number, around_us, width in parts:
        for _ in range(number):
            us = around_us * draw.lognormvariate(0.0, width)
            top = 2.0 ** ceil(log2(us))
            step = top / 2 / 32
            low = top / 2 + step * int((us - top / 2) / step) if fine else top / 2
            counts[low, low + step if fine else top] += 1
    return Histogram.of(Bucket(low, high, count) for (low, high), count in counts.items())


def of(
    number: int,
    parts_at: "list[tuple[int, float, float]] | None" = None,
    *,
    fine: bool = True,
    subject: str = "smgr read",
) -> LatencyMap:
    """A map of so many seconds with the same waits in each: see `sampled`."""
    draw = random.Random(1)  # noqa: S311 - not for secrets
    parts = parts_at or [(200, 300.0, 0.3)]
    drawn = map_of(number, lambda _: sampled(draw, parts, fine=fine))
    return LatencyMap(subject, drawn.db, drawn.host, drawn.kind, drawn.columns)
