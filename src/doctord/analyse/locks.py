"""Blocking trees from sampled sessions: who waits, for whom, and what the one at the root is doing."""

from dataclasses import dataclass

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import CLIENT

LONGEST_CHAIN_LOG2 = 6


@dataclass(frozen=True, slots=True)
class Blocker:
    """A session at the root of a blocking tree.

    `blocked_s` is the time others spent waiting behind it, directly or through others; `idle_blocked_s` the part of it
    in which the root itself was idle in a transaction, and `longest_idle_s` how long it once was. `transaction_s` is
    the age that its transaction reached; `waiters` the most sessions that stood behind it at one moment; `event` what
    it did most while it was at work and others waited.
    """

    db: str
    sid: int
    user: str | None
    program: str | None
    statement_id: str | None
    blocked_s: float
    idle_blocked_s: float
    waiters: int
    transaction_s: float | None
    longest_idle_s: float
    event: str | None


def blockers(dataset: Dataset) -> list[Blocker]:
    """Roots of the blocking trees, the one that cost others most first."""
    session = dataset.frame("session")
    waiting = (
        session.lazy()
        .filter(pl.col("blocker_sid").is_not_null() & (pl.col("kind") == CLIENT))
        .select("ts", "db", "sid", "blocker_sid", "interval_s")
        .collect(engine="in-memory")  # the streaming one hands rows out in no order
    )
    if waiting.is_empty():
        return []
    moment = _moment(session["db"].unique(maintain_order=True))
    behind = (
        _with_roots(waiting.with_columns(moment))
        .group_by("moment", "root", maintain_order=True)
        .agg(
            pl.col("db").first(),
            pl.col("interval_s").sum().alias("blocked_s"),
            pl.len().cast(pl.Int64).alias("waiters"),
        )
    )
    root_state = session.filter(pl.col("blocker_sid").is_null()).select(
        moment,
        pl.col("sid").alias("root"),
        *("user", "program", "state", "statement_id", "transaction_s", "in_state_s", "event"),
    )
    idle = pl.col("state").str.starts_with("idle in transaction").fill_null(value=False)
    grouped = (
        behind.join(root_state, on=["moment", "root"], how="left", maintain_order="left")
        .group_by("db", "root", maintain_order=True)
        .agg(
            pl.col("user", "program", "statement_id").drop_nulls().last(),
            pl.col("blocked_s").sum(),
            pl.col("blocked_s").filter(idle).sum().alias("idle_blocked_s"),
            pl.col("waiters").max(),
            pl.col("transaction_s").max(),
            pl.col("in_state_s").filter(idle).max().fill_null(0.0).alias("longest_idle_s"),
            pl.col("event").filter(~idle).drop_nulls().mode().sort().first(),
        )
        .sort("blocked_s", descending=True, maintain_order=True)
        .rename({"root": "sid"})
    )
    return [Blocker(**row) for row in grouped.iter_rows(named=True)]


def _moment(servers: pl.Series) -> pl.Expr:
    """A number for each sample of each server: joining on it costs a fraction of joining on time and name."""
    numbers = pl.Series(range(servers.len()), dtype=pl.Int64)
    server = pl.col("db").replace_strict(servers, numbers, return_dtype=pl.Int64)
    return (pl.col("ts").dt.epoch("us") * servers.len() + server).alias("moment")


def _with_roots(waiting: pl.DataFrame) -> pl.DataFrame:
    """The waiting sessions with the root of each one's chain, found by pointer doubling."""
    chain = waiting.select("moment", "db", "sid", "interval_s", pl.col("blocker_sid").alias("root"))
    for _ in range(LONGEST_CHAIN_LOG2):
        step = chain.select("moment", pl.col("sid").alias("root"), pl.col("root").alias("further"))
        chain = chain.join(step, on=["moment", "root"], how="left", maintain_order="left")
        ended = chain["further"].null_count() == chain.height
        chain = chain.with_columns(pl.coalesce("further", "root").alias("root")).drop("further")
        if ended:
            break
    return chain
