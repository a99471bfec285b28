"""Who used the host: processes over a whole interval, told apart into the database's and everybody else's."""

from typing import Literal

import polars as pl

from doctord.dataset.dataset import Dataset

# How the processes of each vendor's servers are called.
COMMANDS = {
    "postgresql": r"^(postgres|postmaster)",
    "mysql": r"^(mysqld|mariadbd)",
    "oracle": r"^(oracle|ora_)",
}
DATABASE_COMMAND = "|".join(COMMANDS.values())
_SECONDS = pl.col("interval_s")
_SUMS = {
    "cpu_s": pl.coalesce(pl.col("usr_pct") + pl.col("sys_pct"), "cpu_pct") * _SECONDS / 100,
    "run_wait_s": pl.col("run_wait_pct") * _SECONDS / 100,
    "io_wait_s": pl.col("io_wait_pct") * _SECONDS / 100,
    "memory_wait_s": pl.col("memory_wait_pct") * _SECONDS / 100,
    "read_bytes": pl.col("read_bytes_per_s") * _SECONDS,
    "write_bytes": pl.col("write_bytes_per_s") * _SECONDS,
    "icsw": pl.col("icsw_per_s") * _SECONDS,
    "vcsw": pl.col("vcsw_per_s") * _SECONDS,
    "major_faults": pl.col("major_faults_per_s") * _SECONDS,
}


def processes(dataset: Dataset) -> pl.DataFrame:
    """One row per process: what it used over the time it was seen; null, not zero, where nothing was measured.

    Columns: pid, started, command, user, unit, database (is it part of a database server), seconds, cpu_s, run_wait_s,
    io_wait_s, memory_wait_s, read_bytes, write_bytes, icsw, vcsw, major_faults, rss_bytes.
    """
    return dataset.derived("process", _summed)


def _summed(rows: pl.DataFrame) -> pl.DataFrame:
    return (
        rows.lazy()
        .filter(_SECONDS.is_not_null())
        .select("pid", "started", "command", "user", "unit", "rss_bytes", _SECONDS.alias("seconds"), **_SUMS)
        .group_by("pid", "started", maintain_order=True)
        .agg(
            pl.col("command", "user", "unit").last(),
            pl.col("command").last().str.contains(DATABASE_COMMAND).fill_null(value=False).alias("database"),
            pl.col("seconds").sum(),
            *(pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name) for name in _SUMS),
            pl.col("rss_bytes").last(),
        )
        .sort("cpu_s", "pid", descending=[True, False], nulls_last=True, maintain_order=True)
        # The streaming engine adds up in whichever order its threads end: the last digits would differ from run to run.
        .collect(engine="in-memory")
    )


def owners(rows: pl.DataFrame, by: Literal["user", "unit"]) -> pl.DataFrame:
    """What processes used together, by whose they are, as prstat -a does it by user and prstat -J by project.

    Args:
        rows: processes, as from `processes`; those whose user or unit is not known are left out.
        by: the column that says whose they are.

    Returns:
        Columns owner, processes, cpu_s, rss_bytes (a page that several share counts for each); most CPU time first.
    """
    return (
        rows.filter(pl.col(by).is_not_null())
        .group_by(pl.col(by).alias("owner"), maintain_order=True)
        .agg(pl.len().alias("processes"), pl.col("cpu_s", "rss_bytes").sum())
        .sort("cpu_s", "owner", descending=[True, False], maintain_order=True)
    )
