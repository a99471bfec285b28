"""Tasks that wait for I/O, beside those that run or could."""

from typing import NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset

# One is a backup or a copy, which waits for its disk as it should.
LEAST_TASKS = 2.0
# Of the tasks that have something to do: beyond this the wait for I/O is the largest part of their time.
MOST = 0.5
# A checkpoint or a report blocks tasks now and then.
LASTING = 0.5
LATENCIES = ("read_ms", "write_ms", "request_ms", "device_ms")


class Blocked(NamedTuple):
    """Mean numbers of tasks blocked on I/O, and of those running or ready; the share (0 to 1) of the time of it."""

    tasks: float
    ready: float
    part: float

    @property
    def share(self) -> float:
        """Of the tasks that have something to do (0 to 1)."""
        return self.tasks / (self.tasks + self.ready)


def mostly_blocked(dataset: Dataset) -> Blocked | None:
    """The blocked tasks, where they are most of those with something to do, most of the time.

    Null too where a device tells how long its requests take: that says more.
    """
    if any(dataset.frame("disk")[column].drop_nulls().len() for column in LATENCIES):
        return None
    known = pl.col("cpu").is_null() & pl.col("blocked_tasks").is_not_null() & pl.col("run_queue").is_not_null()
    rows = dataset.frame("cpu").filter(known)
    if rows.is_empty():
        return None
    weight = pl.col("interval_s").fill_null(1.0)
    most = (pl.col("blocked_tasks") >= LEAST_TASKS) & (pl.col("blocked_tasks") >= pl.col("run_queue"))
    means = [(pl.col(name) * weight).sum() / weight.sum() for name in ("blocked_tasks", "run_queue")]
    tasks, ready, part = rows.select(*means, part=weight.filter(most).sum() / weight.sum()).row(0)
    if not tasks or tasks < LEAST_TASKS or part < LASTING or tasks < MOST * (tasks + ready):
        return None
    return Blocked(tasks, ready, part)
