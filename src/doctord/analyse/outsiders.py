"""Outsiders: processes that compete with the database and do not work for it."""

import polars as pl

from doctord.analyse.processes import processes
from doctord.chart.chart import Chart

# The kernel keeps this many characters of a command's name (TASK_COMM_LEN less its end mark).
COMMAND_LENGTH = 15


def outsiders(chart: Chart) -> pl.DataFrame:
    """Processes outside the database, in the columns of `doctord.analyse.processes.processes`, most CPU first.

    Left out, because their work is the database's own: its clients on the same host (a command that sessions name as
    their program) and kernel threads (they have no memory of their own, and flush and reclaim for others).
    """
    programs = chart.frame("session")["program"].drop_nulls().unique().str.slice(0, COMMAND_LENGTH)
    outside = (
        ~pl.col("database")
        & ~pl.col("command").is_in(programs.implode()).fill_null(value=False)
        & (pl.col("rss_bytes").is_null() | (pl.col("rss_bytes") > 0))
    )
    return processes(chart).filter(outside).sort("cpu_s", "pid", descending=[True, False], nulls_last=True)


def by_bytes(rows: pl.DataFrame) -> pl.DataFrame:
    """Processes with `moved`, the bytes that they read and wrote, most first; those that moved none are left out."""
    moved = pl.col("read_bytes").fill_null(0.0) + pl.col("write_bytes").fill_null(0.0)
    moving = rows.with_columns(moved.alias("moved")).filter(pl.col("moved") > 0)
    return moving.sort("moved", "pid", descending=[True, False])
