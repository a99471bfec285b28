"""Processes that started and ended between two samples, by name: what no sample of the processes saw."""

from dataclasses import dataclass

import polars as pl

from doctord.analyse.host.processes import DATABASE_COMMAND
from doctord.dataset.dataset import Dataset

ENDS, CPU, ELAPSED = "short_lived.ends_per_s", "short_lived.cpu_s_per_s", "short_lived.elapsed_s"


@dataclass(frozen=True, slots=True)
class ShortLived:
    """Those of one name: how many in all, the CPU time that they used together, and how long each lived on average."""

    command: str
    database: bool
    count: float
    cpu_s: float
    elapsed_s: float | None


def short_lived(dataset: Dataset) -> list[ShortLived]:
    """Who came and went between the samples, by name, most CPU time first; empty where nobody was told."""
    told = dataset.frame("statistic").filter(pl.col("name").is_in([ENDS, CPU, ELAPSED]) & pl.col("value").is_not_null())
    if told.is_empty():
        return []
    wide = told.pivot("name", index=["entity", "ts"], values="value", aggregate_function="last")
    lengths = told.filter(pl.col("name") == ENDS).select("entity", "ts", "interval_s")
    wide = wide.join(lengths, on=["entity", "ts"], how="inner", maintain_order="left")
    wide = wide.with_columns(pl.lit(None, pl.Float64).alias(name) for name in (CPU, ELAPSED) if name not in wide)
    count = pl.col(ENDS) * pl.col("interval_s")
    timed = count.filter(pl.col(ELAPSED).is_not_null()).sum()
    sums = wide.group_by("entity", maintain_order=True).agg(
        count=count.sum(),
        cpu_s=(pl.col(CPU) * pl.col("interval_s")).sum(),
        elapsed_s=pl.when(timed > 0).then((pl.col(ELAPSED) * count).sum() / timed),
    )
    rows = sums.select(
        "count", "cpu_s", "elapsed_s", command="entity", database=pl.col("entity").str.contains(DATABASE_COMMAND)
    ).sort("cpu_s", "command", descending=[True, False], maintain_order=True)
    return [ShortLived(**row) for row in rows.to_dicts()]


def as_processes(found: list[ShortLived], processes: pl.DataFrame) -> pl.DataFrame:
    """The rows of `doctord.analyse.host.processes.processes` with those who lived too short to be among them.

    They have no number and no user, and nothing is known of them but the CPU time.
    """
    rows = pl.DataFrame(
        {
            "command": [one.command for one in found],
            "database": [one.database for one in found],
            "cpu_s": [one.cpu_s for one in found],
        },
        schema={name: processes.schema[name] for name in ("command", "database", "cpu_s")},
    )
    return pl.concat([processes, rows], how="diagonal")
