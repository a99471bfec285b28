"""Processes that start others: how many a second, what each costs them, and how much memory a fork has to copy."""

from dataclasses import dataclass

import polars as pl

from doctord.dataset.dataset import Dataset

CHILDREN, PRIVATE, TABLES = "process.children_per_s", "process.anon_bytes", "process.page_table_bytes"
ENTITY = r"^(?<command>.*) \(pid (?<pid>\d+)\)$"


@dataclass(frozen=True, slots=True)
class Parent:
    """A process that starts others.

    `children` is how many it started over the `seconds` that it was seen for; `cpu_s` and `sys_s` its own CPU time
    meanwhile, `sys_s` that in the kernel, where the forks are; null is what was not measured. `anon_bytes` is the
    memory of its own, `page_table_bytes` the tables that describe all of its memory, as last seen.
    """

    command: str
    pid: int
    entity: str
    children: float
    seconds: float
    cpu_s: float | None
    sys_s: float | None
    anon_bytes: float | None
    page_table_bytes: float | None


def parents(dataset: Dataset) -> list[Parent]:
    """Who started children, the one with most system time first."""
    told = dataset.frame("statistic").filter(pl.col("name").is_in([CHILDREN, PRIVATE, TABLES]))
    if not told["name"].eq(CHILDREN).any():
        return []
    named = pl.col("entity").str.extract_groups(ENTITY).struct
    sums = (
        told.group_by("entity", maintain_order=True)
        .agg(
            children=(pl.col("value") * pl.col("interval_s")).filter(pl.col("name") == CHILDREN).sum(),
            anon_bytes=pl.col("value").filter(pl.col("name") == PRIVATE).last(),
            page_table_bytes=pl.col("value").filter(pl.col("name") == TABLES).last(),
        )
        .with_columns(named.field("command"), named.field("pid").cast(pl.Int64))
        .filter((pl.col("children") > 0) & pl.col("pid").is_not_null())
    )
    own = sums.join(_times(dataset, sums["pid"]), on="pid", how="inner", maintain_order="left")
    columns = list(Parent.__slots__)
    found = own.select(columns).sort("sys_s", "pid", descending=[True, False], nulls_last=True, maintain_order=True)
    return [Parent(**row) for row in found.to_dicts()]


def _times(dataset: Dataset, pids: pl.Series) -> pl.DataFrame:
    seconds = pl.col("interval_s")
    system, user = pl.col("sys_pct") * seconds / 100, pl.col("usr_pct") * seconds / 100
    known = pl.col("sys_pct").count() > 0
    is_theirs = pl.col("pid").is_in(pids.implode()) & seconds.is_not_null()
    return (
        dataset.rows("process", is_theirs, "pid", "interval_s", "usr_pct", "sys_pct")
        .group_by("pid", maintain_order=True)
        .agg(
            seconds=seconds.sum(),
            cpu_s=pl.when(known).then((system + user).sum()),
            sys_s=pl.when(known).then(system.sum()),
        )
    )
