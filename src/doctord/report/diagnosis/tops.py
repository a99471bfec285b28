"""Tables of a report beside its plots: who used the host, which statements took the time, who blocked whom."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from doctord.analyse.host.processes import processes
from doctord.analyse.time import seconds_observed, seconds_of, time_model
from doctord.dataset.dataset import Dataset

MOST_ROWS = 10
MOST_SESSIONS = 40


@dataclass(frozen=True, slots=True)
class Process:
    """One process: CPU in % of one CPU over the interval observed; null where unmeasured."""

    pid: int
    command: str
    user: str | None
    cpu_pct: float | None
    run_wait_pct: float | None
    io_wait_pct: float | None
    read_bytes_per_s: float | None
    write_bytes_per_s: float | None
    rss_bytes: int | None


@dataclass(frozen=True, slots=True)
class Statement:
    """One normalised statement: rates over the interval observed; null where unmeasured."""

    statement_id: str
    text: str | None
    elapsed_s_per_s: float | None
    calls_per_s: float | None
    elapsed_ms: float | None
    rows_per_s: float | None
    read_blocks_per_s: float | None
    temp_bytes_per_s: float | None


@dataclass(frozen=True, slots=True)
class Blocked:
    """One session of a blocking tree, `depth` steps below its root."""

    depth: int
    db: str
    sid: int
    waiters: int
    user: str | None
    program: str | None
    state: str | None
    event: str | None
    in_state_s: float | None


def top_processes(dataset: Dataset) -> list[Process]:
    """The processes that used most CPU, in order."""
    seconds = seconds_of(dataset, "process")
    if not seconds:
        return []
    used = processes(dataset).filter(pl.col("cpu_s").fill_null(1) > 0).head(MOST_ROWS)
    return [_process(row, seconds) for row in used.iter_rows(named=True)]


def top_statements(dataset: Dataset) -> list[Statement]:
    """The statements that took most time, in order; empty without statistics of statements."""
    rates = ("elapsed_s_per_s", "calls_per_s", "rows_per_s", "read_blocks_per_s", "temp_bytes_per_s")
    model = time_model(dataset)
    seconds = (model.seconds if model.of == "database" else 0.0) or seconds_observed(dataset)
    if not seconds:
        return []
    frame = dataset.frame("statement").filter(pl.col("interval_s").is_not_null())
    sums = [
        pl.when(pl.col(rate).is_not_null().any())
        .then((pl.col(rate) * pl.col("interval_s")).sum() / seconds)
        .alias(rate)
        for rate in rates
    ]
    grouped = frame.group_by("db", "statement_id", maintain_order=True).agg(pl.col("text").drop_nulls().last(), *sums)
    ordered = grouped.sort(
        "elapsed_s_per_s", "statement_id", descending=[True, False], nulls_last=True, maintain_order=True
    )
    ms = pl.when(pl.col("calls_per_s") > 0).then(1000 * pl.col("elapsed_s_per_s") / pl.col("calls_per_s"))
    columns = ("statement_id", "text", "elapsed_s_per_s", "calls_per_s", "elapsed_ms", *rates[2:])
    rows = ordered.head(MOST_ROWS).with_columns(ms.alias("elapsed_ms")).select(columns)
    return [Statement(**row) for row in rows.iter_rows(named=True)]


def blocking_tree(dataset: Dataset) -> list[Blocked]:
    """Who waited for whom at the moment with most sessions blocked; each session follows the one that blocks it."""
    session = dataset.frame("session")
    blocked = session.filter(pl.col("blocker_sid").is_not_null())
    if blocked.is_empty():
        return []
    worst = (
        blocked.group_by("ts", "db", maintain_order=True)
        .len()
        .sort("len", "ts", descending=[True, False], maintain_order=True)
        .row(0, named=True)
    )
    moment = session.filter((pl.col("ts") == worst["ts"]) & (pl.col("db") == worst["db"]))
    return list(_tree({row["sid"]: row for row in moment.iter_rows(named=True)}, worst["db"]))[:MOST_SESSIONS]


def _tree(sessions: dict[int, dict[str, Any]], db: str) -> Iterator[Blocked]:
    """The sessions depth first; of a ring (a deadlock), each once."""
    waiters: dict[int, list[int]] = {}
    for sid, row in sessions.items():
        if row["blocker_sid"] is not None:
            waiters.setdefault(row["blocker_sid"], []).append(sid)
    waiting = {sid for sids in waiters.values() for sid in sids}
    roots = sorted(set(waiters) - waiting, key=lambda sid: -len(waiters[sid]))
    seen: set[int] = set()
    stack = [(0, sid) for sid in (*sorted(waiting), *reversed(roots))]
    while stack:
        depth, sid = stack.pop()
        if sid in seen:
            continue
        seen.add(sid)
        below, row = waiters.get(sid, []), sessions.get(sid, {})
        known = {column: row.get(column) for column in ("user", "program", "state", "event", "in_state_s")}
        yield Blocked(depth, db, sid, waiters=len(below), **known)
        stack += [(depth + 1, other) for other in reversed(below)]


def _process(row: dict[str, Any], seconds: float) -> Process:
    return Process(
        pid=row["pid"],
        command=row["command"] or "unknown",
        user=row["user"],
        cpu_pct=_per(row["cpu_s"], seconds / 100),
        run_wait_pct=_per(row["run_wait_s"], seconds / 100),
        io_wait_pct=_per(row["io_wait_s"], seconds / 100),
        read_bytes_per_s=_per(row["read_bytes"], seconds),
        write_bytes_per_s=_per(row["write_bytes"], seconds),
        rss_bytes=row["rss_bytes"],
    )


def _per(amount: float | None, seconds: float) -> float | None:
    return None if amount is None else amount / seconds
