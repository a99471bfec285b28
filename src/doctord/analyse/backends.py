"""What the kernel counts for the sessions of a server that runs on this host.

A PostgreSQL backend whose query has arrived and that has not been given a CPU yet is still `idle` in pg_stat_activity,
a thread of MySQL still sleeps in its process list, and whoever samples these queues for a CPU like all others: on a
full host samples miss most of the time that clients wait. The scheduler counts it for each process
(/proc/PID/schedstat), whoever looks. MySQL and MariaDB have one process for all: less what its background threads took,
where the server tells which these are.
"""

from datetime import datetime
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.figures import figures
from doctord.analyse.spells import covered_s
from doctord.dataset.dataset import Dataset
from doctord.dataset.mysql_names import BACKGROUND, SERVER_PID

# As the process table calls them. A parallel worker is at work from its start to its end, so that samples tell of it
# all; most live too short for a row of their own. Every other process of a server works for the server itself.
CLIENT_BACKEND: Final = "postgres: client backend"
POSTMASTER: Final = "postmaster_pid"
# Our own sessions work for nobody who waits: a setting `backend PID` of this component names each, or its program.
OWN: Final = "doctord"
OWN_BACKEND: Final = "backend "
# Process rows that miss so much of the sampled time (a first and a last second) stand for all of it; not for more.
MOST_SCALED: Final = 1.25
# A sampler that was kept from its work comes a second or two late, and goes on; a server that is away longer is away.
LATE_S: Final = 3.0
_COUNTED: Final = ("ts", "interval_s", "pid", "ppid", "usr_pct", "sys_pct", "cpu_pct", "run_wait_pct", "vcsw_per_s")
CPU_PCT: Final = pl.coalesce(pl.col("usr_pct") + pl.col("sys_pct"), "cpu_pct")


class Backends(NamedTuple):
    """What the client backends of one server did, seconds over the time that sessions were sampled.

    `cpu_s` on a CPU and `run_wait_s` ready to run without one; `sleeps` is how often they gave a CPU up by themselves,
    to wait for a client or for anything else (null where not all tell it), `seconds` that time. `by_pid` has of
    each its number (`pid`), both times together (`spent_s`), and how long it was there (`there_s`). `is_all` says that
    the server's own process was told, so that all that it started are among them. `are_threads`: the sessions are
    threads of one process, of which no one's own time is known (`by_pid` is empty).
    """

    cpu_s: float
    run_wait_s: float
    sleeps: float | None
    seconds: float
    by_pid: pl.DataFrame
    is_all: bool = False
    are_threads: bool = False


def backends(dataset: Dataset, db: str | None, looks: pl.DataFrame) -> Backends | None:
    """What the kernel counted for those of one server; null where it runs elsewhere, or nobody read the run queue.

    Args:
        dataset: with rows of `process`; those of `setting` tell the server's own process, whose children or threads
            they are.
        db: the server.
        looks: rows that tell when its sessions were sampled: `ts`, `interval_s`, and whether that is what they are for
            (`is_told`), or they are the samples themselves.
    """
    since, until = _span(looks)
    threads_of = _told(dataset, db, SERVER_PID)
    is_its = pl.col("pid").is_in(threads_of.implode()) if threads_of.len() else pl.col("command") == CLIENT_BACKEND
    rows = dataset.rows("process", is_its & pl.col("run_wait_pct").is_not_null(), *_COUNTED)
    if rows.is_empty() or since is None or until is None:
        return None
    rows = rows.filter((pl.col("ts") > since) & (pl.col("ts") <= until))
    if threads_of.is_empty():
        rows = rows.filter(_of_server(dataset, db, rows))
        rows = rows.filter(~pl.col("pid").is_in(own_backends(dataset, db)))
    if rows.is_empty():
        return None
    scale = _edges(dataset, since, until) * _looked(looks) if looks["is_told"].any() else 1.0
    if threads_of.len():
        return _of_threads(dataset, db, rows, scale, covered_s(looks))
    sums = rows.select(
        cpu=_seconds(CPU_PCT),
        run_wait=_seconds(pl.col("run_wait_pct")),
        sleeps=(pl.col("vcsw_per_s") * pl.col("interval_s")).sum(),
    ).row(0, named=True)
    all_tell = rows["vcsw_per_s"].null_count() == 0
    return Backends(
        cpu_s=float(sums["cpu"]) * scale,
        run_wait_s=float(sums["run_wait"]) * scale,
        sleeps=float(sums["sleeps"]) * scale if all_tell else None,
        seconds=covered_s(looks),
        by_pid=rows.group_by("pid", maintain_order=True).agg(
            ((_seconds(CPU_PCT) + _seconds(pl.col("run_wait_pct"))) * scale).alias("spent_s"),
            (pl.col("interval_s").sum() * scale).alias("there_s"),
        ),
        is_all=not _told(dataset, db, POSTMASTER).is_empty() and rows["ppid"].null_count() == 0,
    )


def _of_threads(dataset: Dataset, db: str | None, process: pl.DataFrame, scale: float, seconds: float) -> Backends:
    """What the rows of a server's process tell of its sessions, which are threads of it."""
    whole = process.select(_seconds(CPU_PCT).alias("cpu_s"), _seconds(pl.col("run_wait_pct")).alias("run_wait_s"))
    told_s = covered_s(process)
    background = [sum(one.mean for one in figures(dataset, name) if one.db == db) for name in BACKGROUND]
    cpu_s, run_wait_s = (
        max(float(own) - per_s * told_s, 0.0) * scale for own, per_s in zip(whole.row(0), background, strict=True)
    )
    by_pid = process.select("pid", pl.lit(0.0).alias("spent_s"), pl.lit(0.0).alias("there_s")).clear()
    return Backends(cpu_s, run_wait_s, None, seconds, by_pid, are_threads=True)


def _seconds(percent: pl.Expr) -> pl.Expr:
    return (percent * pl.col("interval_s") / 100).sum()


def _span(rows: pl.DataFrame) -> tuple[datetime | None, datetime | None]:
    """From when to when rows tell; null without any."""
    starts = pl.col("ts") - pl.duration(microseconds=pl.col("interval_s").fill_null(0.0) * 1_000_000)
    return rows.select(starts.min().alias("since"), pl.col("ts").max().alias("until")).row(0)


def _of_server(dataset: Dataset, db: str | None, rows: pl.DataFrame) -> pl.Expr:
    """Which rows are of one server's processes: children of its own; where that is not told, of who started a session.

    Where the source tells no parents, the sessions' own processes.
    """
    postmasters = _told(dataset, db, POSTMASTER)
    sampled = dataset.rows("session", pl.col("db") == db, "pid")["pid"].drop_nulls().unique(maintain_order=True)
    is_sampled = pl.col("pid").is_in(sampled.implode())
    if postmasters.is_empty():
        postmasters = rows.filter(is_sampled)["ppid"].drop_nulls().unique(maintain_order=True)
    if postmasters.is_empty() or rows["ppid"].null_count() == rows.height:
        return is_sampled
    return pl.col("ppid").is_in(postmasters.implode())


def _told(dataset: Dataset, db: str | None, name: str) -> pl.Series:
    """The number of a server's own process, as its collector tells it by that name; several after a restart."""
    told = dataset.frame("setting").filter((pl.col("name") == name) & (pl.col("db") == db))
    return told["value"].cast(pl.Int64, strict=False).drop_nulls().unique(maintain_order=True)


def session_pids(dataset: Dataset) -> pl.Series:
    """The processes of all sessions: of those that were sampled, and of servers whose sessions are threads.

    Null among them where one is not known.
    """
    servers = dataset.frame("setting").filter(pl.col("name") == SERVER_PID)["value"].cast(pl.Int64, strict=False)
    return pl.concat([dataset.frame("session")["pid"], servers]).unique(maintain_order=True)


def own_backends(dataset: Dataset, db: str | None) -> list[int]:
    """The numbers of our own sessions."""
    settings = dataset.frame("setting").filter(
        (pl.col("component") == OWN) & (pl.col("db") == db) & pl.col("name").str.starts_with(OWN_BACKEND)
    )
    told = settings["name"].str.strip_prefix(OWN_BACKEND).cast(pl.Int64, strict=False)
    seen = dataset.rows("session", (pl.col("db") == db) & (pl.col("program") == OWN), "pid")["pid"]
    return sorted({*told.drop_nulls(), *seen.drop_nulls()})


def _edges(dataset: Dataset, since: datetime, until: datetime) -> float:
    """What the sums are multiplied with: rows of processes begin and end a little before the samples, or after."""
    inside = (pl.col("ts") > since) & (pl.col("ts") <= until)
    first, last = _span(dataset.rows("process", inside, "ts", "interval_s"))
    if first is None or last is None or first == last:
        return 1.0
    return min((until - since) / (last - first), MOST_SCALED)


def _looked(looks: pl.DataFrame) -> float:
    """The part (0 to 1) of the time that samples stand for, where they came late; a server that was away has none.

    Where nobody tells when it looked, samples alone tell nothing of that: there are none of moments without work.
    """
    told = looks.filter("is_told")
    whole = covered_s(told, bridging_s=LATE_S)
    return covered_s(told) / whole if whole else 1.0


def run_queue_share(dataset: Dataset, pids: pl.Series | None = None) -> float | None:
    """Of the time that processes wanted a CPU, the share (0 to 1) in which they waited for one; null if unmeasured.

    Microstates as in Solaris' prstat -m: LAT / (USR + SYS + LAT).
    """
    of_them = pl.lit(value=True) if pids is None else pl.col("pid").is_in(pids.implode())
    columns = ("usr_pct", "sys_pct", "run_wait_pct", "interval_s")
    process = dataset.rows("process", of_them & pl.col("run_wait_pct").is_not_null(), *columns)
    wanted, waited = process.select(
        ((pl.col("usr_pct") + pl.col("sys_pct") + pl.col("run_wait_pct")) * pl.col("interval_s")).sum(),
        (pl.col("run_wait_pct") * pl.col("interval_s")).sum().alias("waited"),
    ).row(0)
    return float(waited / wanted) if wanted else None
