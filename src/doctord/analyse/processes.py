"""Who used the host: processes over a whole interval, told apart into the database's and everybody else's."""

import polars as pl

from doctord.chart.chart import Chart

DATABASE_COMMAND = r"^(postgres|postmaster|mysqld|mariadbd|oracle|ora_)"


def processes(chart: Chart) -> pl.DataFrame:
    """One row per process: means over the time it was seen, weighted by interval.

    Columns: pid, started, command, user, database (is it part of a database server), seconds, cpu_s, run_wait_s,
    io_wait_s, memory_wait_s (null where unmeasured), read_bytes, write_bytes, icsw, vcsw, major_faults, rss_bytes.
    """
    weight = pl.col("interval_s")

    def seconds(column: str) -> pl.Expr:
        return _sum_or_null(pl.col(column) * weight / 100)

    return (
        chart.frame("process")
        .filter(weight.is_not_null())
        .group_by("pid", "started")
        .agg(
            pl.col("command").last(),
            pl.col("user").last(),
            pl.col("command").last().str.contains(DATABASE_COMMAND).fill_null(value=False).alias("database"),
            weight.sum().alias("seconds"),
            (seconds("usr_pct") + seconds("sys_pct")).alias("cpu_s"),
            seconds("run_wait_pct").alias("run_wait_s"),
            seconds("io_wait_pct").alias("io_wait_s"),
            seconds("memory_wait_pct").alias("memory_wait_s"),
            _sum_or_null(pl.col("read_bytes_per_s") * weight).alias("read_bytes"),
            _sum_or_null(pl.col("write_bytes_per_s") * weight).alias("write_bytes"),
            _sum_or_null(pl.col("icsw_per_s") * weight).alias("icsw"),
            _sum_or_null(pl.col("vcsw_per_s") * weight).alias("vcsw"),
            _sum_or_null(pl.col("major_faults_per_s") * weight).alias("major_faults"),
            pl.col("rss_bytes").last(),
        )
        .sort("cpu_s", descending=True, nulls_last=True)
    )


def _sum_or_null(values: pl.Expr) -> pl.Expr:
    """The sum of what was measured; null, not zero, when nothing was."""
    return pl.when(values.is_not_null().any()).then(values.sum())
