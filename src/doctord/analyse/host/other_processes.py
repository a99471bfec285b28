"""Outsiders: processes that compete with the database and do not work for it."""

from typing import NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset

# The kernel keeps this many characters of a command's name (TASK_COMM_LEN less its end mark).
COMMAND_LENGTH = 15


class Consumer(NamedTuple):
    """Processes of one command, user and unit: how many, the pid of the largest, and what they used together.

    The pid is null for those that lived too short for a sample to see (`doctord.analyse.host.short_lived`).
    """

    command: str
    user: str | None
    unit: str | None
    pid: int | None
    processes: int
    amount: float

    @property
    def name(self) -> str:
        """Command, pid, user and unit in words."""
        if self.pid is None:
            return f"{self.command} (processes that live shorter than a sample)"
        more = f" and {self.processes - 1} more" if self.processes > 1 else ""
        # A control group that neither systemd nor a container's runtime made says little to whoever did not make it.
        where = f", {self.unit}" if self.unit and not self.unit.startswith("/") else ""
        return f"{self.command} (pid {self.pid}{more}, user {self.user or 'unknown'}{where})"


def other_processes(dataset: Dataset, processes: pl.DataFrame) -> pl.DataFrame:
    """Of the rows of `doctord.analyse.host.processes.processes` those of processes outside the database.

    Left out, because their work is the database's own: its clients on the same host (a command that sessions name as
    their program) and kernel threads (they have no memory of their own, and flush and reclaim for others).
    """
    programs = pl.Series(dataset.values("session", "program"), dtype=pl.String).str.slice(0, COMMAND_LENGTH)
    outside = (
        ~pl.col("database")
        & ~pl.col("command").is_in(programs.implode()).fill_null(value=False)
        & (pl.col("rss_bytes").is_null() | (pl.col("rss_bytes") > 0))
    )
    return processes.filter(outside)


def consumers(rows: pl.DataFrame, amount: pl.Expr) -> list[Consumer]:
    """Processes of the same command, user and unit together, the largest consumer first; who used nothing is left out.

    Args:
        rows: processes, as from `other_processes`.
        amount: what to add up, of their columns; what was not measured counts for nobody.
    """
    if rows.is_empty():
        return []
    grouped = (
        rows.with_columns(amount.alias("amount"))
        .filter(pl.col("amount") > 0)
        .sort("amount", "pid", descending=[True, False], maintain_order=True)
        .group_by("command", "user", "unit", maintain_order=True)
        .agg(pl.col("pid").first(), pl.len().alias("processes"), pl.col("amount").sum())
        .sort("amount", descending=True, maintain_order=True)
    )
    return [Consumer(**row) for row in grouped.iter_rows(named=True)]
