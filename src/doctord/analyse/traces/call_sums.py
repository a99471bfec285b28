"""Sums of system calls that stand among other figures of a dataset, by what the calls do."""

from dataclasses import dataclass

import polars as pl

from doctord._native import call_class
from doctord.dataset.dataset import Dataset

COUNTED = "trace.calls"


@dataclass(frozen=True, slots=True)
class ClassSum:
    """Calls of one class: how many, the seconds in them, and their share (0 to 1) of the time that was looked at."""

    count: float
    seconds: float
    share: float


def class_sums(dataset: Dataset) -> dict[str, ClassSum]:
    """Sums by class (`read`, `seek`, ...: see docs/reference/trace.md); empty where no calls were traced."""
    traced = dataset.frame("statistic").filter(name=COUNTED)["entity"].drop_nulls().unique(maintain_order=True)
    calls = dataset.frame("wait").filter(
        pl.col("db").is_null() & pl.col("event").is_in(traced.implode()) & (pl.col("interval_s") > 0)
    )
    seconds = pl.col("average_active_sessions") * pl.col("interval_s")
    grouped = (
        calls.with_columns(of=pl.col("event").map_elements(call_class, pl.String))
        .group_by("of", maintain_order=True)
        .agg((pl.col("waits_per_s") * pl.col("interval_s")).sum(), seconds.sum().alias("seconds"))
    )
    looked_s = float(calls.unique(["ts", "interval_s"], maintain_order=True)["interval_s"].sum())
    return {of: ClassSum(count, spent, spent / looked_s) for of, count, spent in grouped.iter_rows()}
