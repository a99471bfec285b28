"""Statements whose durations a server's log tells: how many, and how long each took."""

import re
from dataclasses import dataclass

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.regex import regex

# A limit above this is set to find slow statements (log_min_duration_statement, long_query_time).
QUICK_US = 10_000.0
# Of a log that tells no times: how often each statement came, and the seconds of all its calls together.
IN_ALL = ("in_all.statement_calls", "in_all.statement_time")
_COMMIT = regex(r"^(commit|end)\b", re.IGNORECASE)


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
    """Statements that were timed, over an interval or in a log without times as a whole, most time first."""
    found = [*_over_intervals(dataset), *_in_all(dataset)]
    return sorted(found, key=lambda one: (-one.total_s, one.db, one.statement_id))


def _in_all(dataset: Dataset) -> list[Logged]:
    amounts = dataset.frame("statistic").filter(pl.col("name").is_in(IN_ALL) & (pl.col("value") > 0))
    texts = (
        dataset.frame("statement")
        .select("db", "statement_id", "text")
        .unique(["db", "statement_id"], maintain_order=True)
    )
    summed = (
        amounts.pivot("name", index=["db", "entity"], values="value", aggregate_function="sum", maintain_order=True)
        .rename({"entity": "statement_id"})
        .join(texts, on=["db", "statement_id"], how="left", maintain_order="left")
    )
    if not {*IN_ALL} <= {*summed.columns}:
        return []
    calls, elapsed_s = IN_ALL
    return [
        Logged(row["db"] or "", row["statement_id"], row["text"] or "", row[calls], row[elapsed_s] * 1e3 / row[calls])
        for row in summed.drop_nulls(IN_ALL).iter_rows(named=True)
    ]


def _over_intervals(dataset: Dataset) -> list[Logged]:
    rows = dataset.frame("statement").filter((pl.col("interval_s") > 0) & (pl.col("calls_per_s") > 0))
    calls, elapsed_s = pl.col("calls_per_s") * pl.col("interval_s"), pl.col("elapsed_s_per_s") * pl.col("interval_s")
    summed = (
        rows.filter(pl.col("elapsed_s_per_s").is_not_null())
        .group_by("db", "statement_id", maintain_order=True)
        .agg(pl.col("text").drop_nulls().last().fill_null(""), calls.sum().alias("count"), elapsed_s.sum().alias("s"))
    )
    return [
        Logged(row["db"] or "", row["statement_id"] or "", row["text"], row["count"], row["s"] * 1e3 / row["count"])
        for row in summed.iter_rows(named=True)
    ]


def durations_are_all_told(dataset: Dataset) -> bool:
    """Whether a log tells the time of quick statements too, so that it does not list the slow ones alone."""
    of_statements = pl.col("subject") == "statement duration"
    return not dataset.frame("latency").filter(of_statements & (pl.col("gt_us") < QUICK_US)).is_empty()
