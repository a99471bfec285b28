"""Statements whose durations a server's log tells: how many, and how long each took."""

import re
from dataclasses import dataclass

import polars as pl

from doctord.dataset.dataset import Dataset

# A limit above this is set to find slow statements (log_min_duration_statement, long_query_time).
QUICK_US = 10_000.0
_COMMIT = re.compile(r"^(commit|end)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Logged:
    """One normalised statement of a log: its server, identifier and text, how often it came, and its mean time, ms."""

    db: str
    statement_id: str
    text: str
    count: float
    mean_ms: float

    @property
    def total_s(self) -> float:
        """Seconds of all of them together."""
        return self.count * self.mean_ms / 1e3

    @property
    def is_commit(self) -> bool:
        """Whether it ends a transaction."""
        return _COMMIT.match(self.text) is not None


def logged(dataset: Dataset) -> list[Logged]:
    """Statements of the table `statement` that were timed over an interval, most time first."""
    rows = dataset.frame("statement").filter((pl.col("interval_s") > 0) & (pl.col("calls_per_s") > 0))
    calls, elapsed_s = pl.col("calls_per_s") * pl.col("interval_s"), pl.col("elapsed_s_per_s") * pl.col("interval_s")
    summed = (
        rows.filter(pl.col("elapsed_s_per_s").is_not_null())
        .group_by("db", "statement_id", maintain_order=True)
        .agg(pl.col("text").drop_nulls().last().fill_null(""), calls.sum().alias("count"), elapsed_s.sum().alias("s"))
        .sort("s", "db", "statement_id", descending=[True, False, False], maintain_order=True)
    )
    return [
        Logged(row["db"] or "", row["statement_id"] or "", row["text"], row["count"], row["s"] * 1e3 / row["count"])
        for row in summed.iter_rows(named=True)
    ]


def durations_are_all_told(dataset: Dataset) -> bool:
    """Whether a log tells the time of quick statements too, so that it does not list the slow ones alone."""
    of_statements = pl.col("subject") == "statement duration"
    return not dataset.frame("latency").filter(of_statements & (pl.col("gt_us") < QUICK_US)).is_empty()
