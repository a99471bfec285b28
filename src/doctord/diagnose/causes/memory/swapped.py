"""Who is in swap, and for whom: the database's own memory that was put away, and the processes that grew meanwhile."""

from typing import Final

import polars as pl

from doctord.analyse.host.processes import DATABASE_COMMAND
from doctord.dataset.dataset import Dataset
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase

# A part of their own memory: less is what a start left behind, and nobody asks for again.
SWAPPED_SHARE: Final = 0.05
# Of the host's memory: what a process has to take more of to be named.
GREW_SHARE: Final = 0.02
MOST_TOLD: Final = 2
# A process without a row among so many intervals at the end has ended: what it had in swap is given back.
LAST_LOOKS: Final = 5


def swapped(dataset: Dataset) -> list[Evidence]:
    """How much of the memory of the database's own processes is in swap, as of the last reading of each."""
    ends = dataset.frame("process")["ts"]
    if ends.is_empty():
        return []
    last_s = LAST_LOOKS * pl.col("interval_s").fill_null(0.0).max()
    lives = (ends.max() - pl.col("ts").max()).dt.total_microseconds() / 1e6 <= last_s
    last = _of_each(dataset, pl.col("anon_bytes", "swap_bytes").drop_nulls().last(), lives.alias("lives"))
    last = last.filter("lives").filter(pl.col("command").str.contains(DATABASE_COMMAND)).drop_nulls("swap_bytes")
    there, away = float(last["anon_bytes"].sum()), float(last["swap_bytes"].sum())
    if not away or away < SWAPPED_SHARE * (there + away):
        return []
    many = last.filter(pl.col("swap_bytes") > 0).height
    return [
        Evidence("process", "swap_bytes > 0", phrase("{:bytes} of the database's own memory is in swap", away),
                 phrase("{:bytes}", SWAPPED_SHARE * (there + away)),
                 phrase("{:share} of it, of {:count process/processes}", away / (there + away), many), "at_least")
    ]  # fmt: skip


def grown(dataset: Dataset) -> list[Evidence]:
    """The processes that are not the database's and take notably more memory than when one began to look.

    One that began later took all that it has.
    """
    total = dataset.frame("memory")["total_bytes"].drop_nulls()
    if total.is_empty():
        return []
    rss, begun = pl.col("rss_bytes").drop_nulls(), dataset.frame("process")["ts"].min()
    before = pl.when(pl.col("started").first() > begun).then(0).otherwise(rss.first())
    both = _of_each(dataset, (rss.last() - before).alias("more"), rss.last())
    is_other = ~pl.col("command").str.contains(DATABASE_COMMAND)
    most = both.filter(is_other & (pl.col("more") >= GREW_SHARE * total[-1]))
    most = most.sort("more", "pid", descending=[True, False], maintain_order=True).head(MOST_TOLD)
    return [
        Evidence("process", f"pid = {row['pid']}",
                 phrase("{} (pid {}) took {:bytes} more", row["command"], str(row["pid"]), row["more"]), "",
                 phrase("{:bytes} resident in the end, and not a process of the database", row["rss_bytes"]))
        for row in most.iter_rows(named=True)
    ]  # fmt: skip


def _of_each(dataset: Dataset, *wanted: pl.Expr) -> pl.DataFrame:
    """One row for each process, with its last name."""
    columns = ("ts", "interval_s", "pid", "started", "command", "rss_bytes", "anon_bytes", "swap_bytes")
    rows = dataset.rows("process", pl.col("command").is_not_null(), *columns).sort("ts", maintain_order=True)
    return rows.group_by("pid", "started", maintain_order=True).agg(pl.col("command").last(), *wanted)
