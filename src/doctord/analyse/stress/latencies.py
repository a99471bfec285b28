"""Latencies of one step of a load test, counted by second and by bucket, so that steps can be added and resampled."""

from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Counts: TypeAlias = NDArray[np.int64]

PER_DECADE: Final = 100  # buckets: 2.3 % wide, and a quantile is told within them
LEAST_US, MOST_US = 1.0, 1e9
EDGES_US: Final = np.logspace(0, 9, 9 * PER_DECADE + 1)
MIDDLES_US: Final = np.sqrt(EDGES_US[1:] * EDGES_US[:-1])


class Latencies(NamedTuple):
    """Latencies: of transactions from the moment at which each was due, of requests from when each was issued.

    `counts` has a row for each second in which they ended, and a column for each bucket of EDGES_US.
    """

    counts: Counts

    @classmethod
    def zeros(cls, seconds: int) -> "Latencies":
        """So many seconds in which nothing ended."""
        return cls(np.zeros((seconds, len(EDGES_US) - 1), np.int64))

    @property
    def number(self) -> int:
        """How many."""
        return int(self.counts.sum())

    def quantile_us(self, share: float) -> float | None:
        """The latency that so much of them do not exceed, in microseconds; null where there are none."""
        return quantile_us(self.counts.sum(axis=0), share)

    def mean_us(self) -> float | None:
        """Their mean, in microseconds, within a bucket's width; null where there are none."""
        counts = self.counts.sum(axis=0)
        return float(counts @ MIDDLES_US / counts.sum()) if counts.any() else None

    def busy_by_second(self) -> NDArray[np.float64]:
        """How many were outstanding in each second, on average, by those that ended in it (Little's law)."""
        return np.asarray(self.counts @ MIDDLES_US / 1e6)

    def largest_us(self) -> float | None:
        """The upper end of the last bucket that holds one; null where there are none."""
        held = np.flatnonzero(self.counts.sum(axis=0))
        return float(EDGES_US[held[-1] + 1]) if len(held) else None


def counted(ended_s: NDArray[np.float64], latency_us: NDArray[np.float64], seconds: int) -> Latencies:
    """Latencies by the second, from the start, in which each ended; what ends after the last one counts to it."""
    row = np.clip(ended_s.astype(np.int64), 0, seconds - 1)
    found = Latencies.zeros(seconds)
    np.add.at(found.counts, (row, bucket_of(latency_us)), 1)
    return found


def bucket_of(latency_us: NDArray[np.float64]) -> NDArray[np.int64]:
    """The column of each latency."""
    return np.clip(np.searchsorted(EDGES_US, latency_us, side="right") - 1, 0, len(EDGES_US) - 2)


def together(several: list[Latencies]) -> Latencies:
    """The seconds of several steps, one after the other."""
    return Latencies(np.concatenate([one.counts for one in several]))


def at_once(several: list[Latencies]) -> Latencies:
    """What ended in the same seconds, reads and writes say."""
    return Latencies(np.asarray(sum(one.counts for one in several), np.int64))


def quantile_us(counts: Counts, share: float) -> float | None:
    """A quantile of counts by bucket, on the logarithm between a bucket's ends; null where all are 0.

    >>> counts = np.zeros(len(EDGES_US) - 1, np.int64)
    >>> counts[300] = 100  # 1 ms
    >>> round(quantile_us(counts, 0.5))
    1012
    """
    total = counts.sum()
    if not total:
        return None
    sums = np.cumsum(counts)
    at = int(np.searchsorted(sums, share * total))
    inside = (share * total - (sums[at] - counts[at])) / counts[at]
    low, high = EDGES_US[at], EDGES_US[at + 1]
    return float(low * (high / low) ** inside)
