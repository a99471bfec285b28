"""Statements: whose work the database time was."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.time import active_sessions, processor_times, seconds_observed, time_model
from doctord.dataset.dataset import Dataset
from doctord.regex import regex

GETS = "v$sqlstats.gets"  # of Oracle, whose reports count blocks that were found and read as one
# What SQL's own PREPARE has before the statement, as pg_stat_statements gives its text.
PREPARED: Final = regex(r"^\s*prepare\s+\S+?\s*(?:\((?:[^()]|\([^()]*\))*\))?\s+as\s+", re.IGNORECASE)


class Statement(NamedTuple):
    """One normalised statement over the interval.

    `share` is its part of database time, by the server's own timing or by sampled sessions, whichever saw more of it,
    with its part of what clients waited for a CPU before the server knew of their call;
    `cpu` is the part of its time on a CPU (0 to 1), `cpu_s_per_s` that time itself; `blocks_per_call` and `gets_per_s`
    are blocks read and found in memory, `wal_bytes_per_s` is the redo that it generates. What was not measured is null.
    """

    db: str
    statement_id: str
    text: str | None
    share: float
    cpu: float | None
    calls_per_s: float | None
    elapsed_ms: float | None
    rows_per_call: float | None
    temp_bytes_per_s: float | None
    read_blocks_per_s: float | None
    blocks_per_call: float | None
    cpu_s_per_s: float | None = None
    gets_per_s: float | None = None
    wal_bytes_per_s: float | None = None

    @property
    def rows_per_s(self) -> float | None:
        """Rows that come of it, or that it changes."""
        known = self.rows_per_call is not None and self.calls_per_s is not None
        return (self.rows_per_call or 0.0) * (self.calls_per_s or 0.0) if known else None


@lru_cache(maxsize=2)  # causes ask for them, and so does who holds the time
def statements(dataset: Dataset) -> list[Statement]:
    """Statements that took part of the database time, largest share first."""
    model = time_model(dataset)
    seconds = model.seconds or seconds_observed(dataset)
    total = model.seconds_per_second * seconds
    if model.of != "database" or not total:
        return []
    merged = _timed(dataset).join(
        _sampled(dataset), on=["db", "statement_id"], how="full", coalesce=True, maintain_order="left_right"
    )
    merged = _with_texts(merged, dataset)
    # the server times what has ended, and the leader alone; samples hold what still runs, and parallel workers
    elapsed = pl.max_horizontal("elapsed_s", "sampled_s")
    spent = merged.with_columns(elapsed.alias("spent_s")).with_columns(_before_calls(dataset, total))
    ordered = spent.with_columns(((pl.col("spent_s") + pl.col("before_s")) / total).clip(0, 1).alias("share")).sort(
        "share",
        "db",
        "statement_id",
        descending=[True, False, False],
        maintain_order=True,
    )
    return [_statement(row, seconds) for row in ordered.iter_rows(named=True)]


def _before_calls(dataset: Dataset, total: float) -> pl.Expr:
    """Seconds that clients waited for a CPU before their calls began, by statement.

    Each call waited as long; where calls are not told, they are shared out as the statements' own time is. It is no
    more than what the statements leave of all time: a server's own timing holds part of the run queue.
    """
    beyond = sum((one.unsampled_s for one in processor_times(dataset).values()), start=0.0)
    left = (pl.lit(total) - pl.col("spent_s").sum()).clip(0.0, beyond)
    by = pl.when(pl.col("calls").sum() > 0).then(pl.col("calls").fill_null(0.0)).otherwise(pl.col("spent_s"))
    part = pl.when(by.sum() > 0).then(by / by.sum()).otherwise(0.0)
    return (left * part).fill_null(0.0).alias("before_s")


def _timed(dataset: Dataset) -> pl.DataFrame:
    weight = pl.col("interval_s")
    rates = {
        "elapsed_s": "elapsed_s_per_s",
        "cpu_s": "cpu_s_per_s",
        "calls": "calls_per_s",
        "rows": "rows_per_s",
        "temp_bytes": "temp_bytes_per_s",
        "read_blocks": "read_blocks_per_s",
        "hit_blocks": "hit_blocks_per_s",
        "wal_bytes": "wal_bytes_per_s",
    }
    gets = (
        dataset.frame("statistic")
        .filter((pl.col("name") == GETS) & (weight > 0))
        .group_by("db", pl.col("entity").alias("statement_id"), maintain_order=True)
        .agg((pl.col("value") * weight).sum().alias("gets"))
    )
    return (
        dataset.frame("statement")
        .filter(weight > 0)
        .group_by("db", "statement_id", maintain_order=True)
        .agg(
            pl.col("text").drop_nulls().last(),
            *(
                pl.when(pl.col(rate).is_not_null().any()).then((pl.col(rate) * weight).sum()).alias(name)
                for name, rate in rates.items()
            ),
        )
        .join(gets, on=["db", "statement_id"], how="left", maintain_order="left")
        .with_columns(pl.coalesce("gets", pl.col("hit_blocks") + pl.col("read_blocks").fill_null(0.0)))
    )


def _with_texts(merged: pl.DataFrame, dataset: Dataset) -> pl.DataFrame:
    """The same, where the server timed none of it with the text that was seen while it ran."""
    told = dataset.frame("statement").filter(pl.col("interval_s").is_null() & pl.col("text").is_not_null())
    if told.is_empty():
        return merged
    seen = told.group_by("db", "statement_id", maintain_order=True).agg(pl.col("text").last().alias("seen"))
    joined = merged.join(seen, on=["db", "statement_id"], how="left", maintain_order="left")
    return joined.with_columns(pl.coalesce("text", "seen").alias("text")).drop("seen")


def _sampled(dataset: Dataset) -> pl.DataFrame:
    return (
        active_sessions(dataset)
        .filter(pl.col("statement_id").is_not_null())
        .group_by("db", "statement_id", maintain_order=True)
        .agg(pl.col("interval_s").sum().alias("sampled_s"))
    )


def _statement(row: dict[str, float | None], seconds: float) -> Statement:
    calls = row["calls"]
    blocks = [one for one in (row["read_blocks"], row["hit_blocks"]) if one is not None]
    return Statement(
        db=str(row["db"]),
        statement_id=str(row["statement_id"]),
        text=None if row["text"] is None else PREPARED.sub("", str(row["text"])),
        share=row["share"] or 0.0,
        cpu=min(row["cpu_s"] / row["elapsed_s"], 1.0) if row["cpu_s"] is not None and row["elapsed_s"] else None,
        calls_per_s=None if calls is None else calls / seconds,
        elapsed_ms=row["elapsed_s"] * 1000 / calls if row["elapsed_s"] is not None and calls else None,
        rows_per_call=row["rows"] / calls if row["rows"] is not None and calls else None,
        temp_bytes_per_s=None if row["temp_bytes"] is None else row["temp_bytes"] / seconds,
        read_blocks_per_s=None if row["read_blocks"] is None else row["read_blocks"] / seconds,
        blocks_per_call=sum(blocks) / calls if blocks and calls else None,
        cpu_s_per_s=None if row["cpu_s"] is None else row["cpu_s"] / seconds,
        gets_per_s=None if row["gets"] is None else row["gets"] / seconds,
        wal_bytes_per_s=None if row["wal_bytes"] is None else row["wal_bytes"] / seconds,
    )
