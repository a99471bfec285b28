"""fio's log of histograms: a line for each second of each thread and direction, with how many took how long.

A line is `milliseconds, direction, block size, count, count, ...`. The bins are 64 for each power of two nanoseconds
(`plat_idx_to_val` in fio's stat.c); fio writes a line when a request ends after its second, and none for the last one.
"""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from doctord.analyse.stress.latencies import Latencies, bucket_of

_BINS_LOG2: Final = 6
_BEFORE: Final = 3  # cells of a line before the first bin
_DIRECTIONS: Final = {0: "read", 1: "write"}


def latencies_of(folder: Path, begins_s: int, seconds: int) -> dict[str, Latencies]:
    """Latencies by direction in a folder of logs, from a second on and for so many."""
    found = dict[str, Latencies]()
    for file in sorted(folder.glob("*_clat_hist.*.log")):
        for line in file.read_text(encoding="ascii").splitlines():
            cells = np.array(line.split(","), np.int64)
            second = max(round(cells[0] / 1000) - 1, 0) - begins_s  # that which has just ended
            name = _DIRECTIONS.get(int(cells[1]))
            if name and 0 <= second < seconds:
                found.setdefault(name, Latencies.zeros(seconds)).counts[second] += _in_buckets(cells[_BEFORE:])
    return found


def _in_buckets(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same counts, each in the bucket of ours that the middle of its bin falls into."""
    row: NDArray[np.int64] = Latencies.zeros(1).counts[0]
    held: NDArray[np.int64] = np.flatnonzero(counts)
    np.add.at(row, bucket_of(_middle_ns(held) / 1e3), counts[held])
    return row


def _middle_ns(index: NDArray[np.int64]) -> NDArray[np.float64]:
    """The middle of bins by their place.

    >>> _middle_ns(np.array([77, 128, 1000])).tolist()
    [77.0, 129.0, 1712128.0]
    """
    shift = np.maximum((index >> _BINS_LOG2) - 1, 0)
    low = np.where(shift, (1 << (shift + _BINS_LOG2)) + ((index & 63) << shift), index)
    return np.asarray(low + np.where(shift, (1 << shift) / 2, 0.0), np.float64)
