"""Backups that go through the database server: processes of its own that send its files or all its rows to a tool."""

from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.host.other_processes import COMMAND_LENGTH
from doctord.dataset.dataset import Dataset

# What PostgreSQL's own tools call themselves to the server.
TOOLS: Final = ("pg_basebackup", "pg_dump", "pg_dumpall")
WAL_SENDER: Final = "walsender"
READING: Final = "backup"  # the kind of wait of whoever reads files for a base backup
BACKUP: Final = "for a backup"


class Backups(NamedTuple):
    """Processes of a backup, as rows of `doctord.analyse.host.processes`.

    `inside` are those of the server, whose command says so; `outside` the tools themselves, where they run here.
    """

    inside: pl.DataFrame
    outside: pl.DataFrame


def backups(dataset: Dataset, processes: pl.DataFrame) -> Backups:
    """Who backs the database up, by its sessions: a tool that is known, or a WAL sender that reads data files."""
    is_tool = pl.col("program").is_in(TOOLS).fill_null(value=False)
    is_sender = (pl.col("kind") == WAL_SENDER) & (pl.col("wait_kind") == READING)
    pids = dataset.rows("session", is_tool | is_sender.fill_null(value=False), "pid")["pid"].drop_nulls()
    inside = processes.filter(pl.col("database") & pl.col("pid").is_in(pids.implode()))
    tools = [tool[:COMMAND_LENGTH] for tool in TOOLS]
    return Backups(
        inside.with_columns((pl.col("command") + f" {BACKUP}").alias("command")),
        processes.filter(~pl.col("database") & pl.col("command").is_in(tools)) if pids.len() else processes.clear(),
    )
