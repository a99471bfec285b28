"""Latency maps written out by hand, for the tests of what shows them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

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
