"""Processes whose own memory grows: how fast, how sure that is, and whether the growth goes on.

Source: H. Theil, "A rank-invariant method of linear and polynomial regression analysis", 1950; P. K. Sen, "Estimates of
the regression coefficient based on Kendall's tau", 1968: the median of the slopes between all pairs of readings, which
a few far values do not move, and its interval.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

import numpy as np
import polars as pl

from doctord.analyse.host.parents import ENTITY, PRIVATE
from doctord.dataset.dataset import Dataset

# Ten minutes: every start of a server, and every large task, grows for some.
LEAST_S = 600.0
LEAST_READINGS = 12
# Readings are gathered into so many steps at most: the pairs of more would only take longer.
MOST_STEPS = 120
NORMAL_95 = 1.96
# A cache that fills grows ever more slowly; a leak does not.
GOES_ON = 0.5
# Less is what a heap that breathes comes and goes by.
LEAST_GROWTH_BYTES = 16 * 2**20
LEAST_GROWTH_SHARE = 0.05


class Growth(NamedTuple):
    """A process whose own memory grew from `since` on, from `first_bytes` to `last_bytes` at `until`.

    `bytes_per_s` is the trend, `low` and `high` the ends of its interval of 95 %; `lately` is that of the last third
    of the time. `age_s` is how long the process had run at the end, `threads` by how many times its threads became
    more; null where that was not seen.
    """

    command: str
    pid: int
    entity: str
    since: datetime
    until: datetime
    first_bytes: float
    last_bytes: float
    bytes_per_s: float
    low: float
    high: float
    lately: float
    age_s: float | None
    threads: float | None


def growths(dataset: Dataset) -> list[Growth]:
    """Processes whose own memory has grown for ten minutes and longer, and still does, the fastest first.

    One that grew and came to rest is left out, and so is one whose growth slowed down to less than half: a cache fills.
    """
    told = dataset.frame("statistic").filter((pl.col("name") == PRIVATE) & pl.col("value").is_not_null())
    found = [growth for rows in told.partition_by("entity", maintain_order=True) for growth in _growth(dataset, rows)]
    return sorted(found, key=lambda growth: -growth.bytes_per_s)


def _growth(dataset: Dataset, rows: pl.DataFrame) -> Iterator[Growth]:
    named = rows["entity"].head(1).str.extract_groups(ENTITY).struct.unnest()
    rows = rows.sort("ts", maintain_order=True)
    since, until = rows["ts"][0], rows["ts"][-1]
    seconds = (until - since).total_seconds()
    if named["pid"][0] is None or rows.height < LEAST_READINGS or seconds < LEAST_S:
        return
    times, values = _steps((rows["ts"] - since).dt.total_microseconds().to_numpy() / 1e6, rows["value"].to_numpy())
    slope, low, high = trend(times, values)
    late = times >= seconds * 2 / 3
    lately, late_low, _ = trend(times[late], values[late])
    grown = slope * seconds
    if low <= 0 or late_low <= 0 or lately < GOES_ON * slope or grown < LEAST_GROWTH_BYTES:
        return
    if grown < LEAST_GROWTH_SHARE * values[-1]:
        return
    pid = int(named["pid"][0])
    yield Growth(
        named["command"][0], pid, rows["entity"][0], since, until, float(values[0]), float(values[-1]),
        slope, low, high, lately, *_of_process(dataset, pid, until),
    )  # fmt: skip


def trend(times: np.ndarray, values: np.ndarray) -> tuple[float, float, float]:
    """The median slope between pairs of readings, and the ends of its interval of 95 %; zeros of less than three."""
    count = len(times)
    if count < 3:
        return 0.0, 0.0, 0.0
    one, other = np.triu_indices(count, 1)
    apart = times[other] - times[one]
    slopes = np.sort(((values[other] - values[one])[apart > 0]) / apart[apart > 0])
    if not slopes.size:
        return 0.0, 0.0, 0.0
    width = NORMAL_95 * np.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    low = int(max((slopes.size - width) // 2, 0))
    high = int(min(slopes.size - 1 - low, slopes.size - 1))
    return float(np.median(slopes)), float(slopes[low]), float(slopes[high])


def _steps(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of neighbours where there are many readings."""
    pieces = min(len(times), MOST_STEPS)
    means = [
        np.array([part.mean() for part in np.array_split(numbers, pieces)]) for numbers in (times, values.astype(float))
    ]
    return means[0], means[1]


def _of_process(dataset: Dataset, pid: int, until: datetime) -> tuple[float | None, float | None]:
    """How long the process had run, and how many times as many threads it had at the end as at the beginning."""
    rows = dataset.rows("process", pl.col("pid") == pid, "ts", "started", "threads").sort("ts", maintain_order=True)
    started, threads = rows["started"].drop_nulls(), rows["threads"].drop_nulls()
    age_s = (until - started[-1]).total_seconds() if len(started) else None
    return age_s, threads[-1] / threads[0] if len(threads) and threads[0] else None
