"""Load and response of the same minutes: of each disk, of the CPUs, and throughput by active sessions of databases."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, Literal

import polars as pl

from doctord.analyse.capacity.load.responses import WAITS
from doctord.analyse.capacity.series import stepped
from doctord.analyse.figures import cpus_told
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure
from doctord.dataset.tables import WORKING

STEP_S: Final = 60
SHORT_STEP_S: Final = 1
COUNTERS_S: Final = 10  # those of a database are read less often than a host's
SHORT_S: Final = 3600  # a load test, say, of which every report counts
REQUEST_MS: Final = Figure(
    "disk_request_ms",
    "time of a request",
    "storage",
    "disk",
    "coalesce((coalesce(read_ms * reads_per_s, 0) + coalesce(write_ms * writes_per_s, 0))"
    " / (reads_per_s + writes_per_s), request_ms, host_queue_ms + device_ms)",
    "ms",
    each=("device",),
    weight="coalesce(reads_per_s + writes_per_s, requests_per_s)",
)
KEYS: Final = ["host", "db", "entity", "ts"]
# Events of Oracle that are one request to storage each: what a heat map of its latencies is drawn of.
BLOCK_READ, LOG_WRITE = "db file sequential read", "log file parallel write"
PRESSURE: Final = Figure(
    "cpu_pressure_pct", "CPU pressure", "cpu", "cpu", "pressure_some_pct", "%", where="cpu IS NULL"
)
# A database's load: both names are the average number of active sessions.
USERS: Final = Figure(
    "active_sessions",
    "active sessions",
    "workload",
    "statistic",
    "value",
    "sessions",
    where="name IN ('v$sys_time_model.DB time', 'v$sysmetric.Average Active Sessions')",
    each=("instance",),
)
# What it does for them, the best first.
DONE: Final = ("commits_per_s", "executions_per_s")
# Tables that are looked at, each with a condition in SQL on its rows.
NEEDS: Final = {
    "disk": "true",
    "wait": f"event = {LOG_WRITE!r} OR event = {BLOCK_READ!r} AND coalesce(kind, 'foreground') <> 'background'",
    "cpu": "cpu IS NULL",
    "session": "state = 'active'",
    "statistic": "name IN ('v$sys_time_model.DB time', 'v$sysmetric.Average Active Sessions', 'v$osstat.NUM_CPUS', "
    "'v$sysstat.user commits', 'v$sysstat.execute count', 'pg_stat_database.xact_commit')",
}


@dataclass(frozen=True, eq=False)
class Observed:
    """What was observed, by step.

    Attributes:
        requests: kind (`disk`, `wait`), host, db, entity (the device; instance and event), ts, load (requests per s),
            response_s (mean of a request).
        cpus: host, ts, used_pct (of all), run_queue (tasks running or waiting), pressure_pct; null: not measured.
        databases: host, db, entity, done (name of the figure), ts, users (active sessions), throughput (per s).
        count: CPUs of each host.
    """

    requests: pl.DataFrame
    cpus: pl.DataFrame
    databases: pl.DataFrame
    count: Mapping[str | None, int]

    @classmethod
    def joined(cls, parts: Iterable["Observed"]) -> "Observed":
        """The observations of several intervals in one: their rows one after the other, counts of CPUs from all."""
        return reduce(
            lambda one, other: cls(
                pl.concat([one.requests, other.requests]),
                pl.concat([one.cpus, other.cpus]),
                pl.concat([one.databases, other.databases]),
                {**one.count, **other.count},
            ),
            parts,
        )


def step_of(dataset: Dataset) -> int:
    """Seconds of a step: a minute, or one second of what lasted less than an hour."""
    since, until = dataset.since, dataset.until
    is_short = since is not None and until is not None and (until - since).total_seconds() < SHORT_S
    return SHORT_STEP_S if is_short else STEP_S


def observed(dataset: Dataset, figures: Mapping[str, Figure], step_s: int = STEP_S) -> Observed:
    """Load and response of a dataset by step.

    Args:
        dataset: What was measured.
        figures: Doctor D's own, by name.
        step_s: Seconds of a step.
    """

    def steps(figure: Figure, name: str) -> pl.DataFrame:
        frame = stepped(dataset.frame(figure.table), figure, step_s)
        return frame.select(*KEYS, pl.col("value").alias(name))

    waits = [replace(figure, where=NEEDS["wait"]) for figure in (WAITS, figures["wait_ms"])]
    pairs = (("disk", figures["disk_requests_per_s"], REQUEST_MS), ("wait", waits[0], waits[1]))
    requests = [
        _beside(steps(load, "load"), steps(response, "ms")).select(
            pl.lit(kind).alias("kind"), *KEYS, "load", (pl.col("ms") / 1000).alias("response_s")
        )
        for kind, load, response in pairs
    ]
    used = steps(figures["cpu_used_pct"], "used_pct")
    queues, pressures = steps(figures["run_queue_tasks"], "run_queue"), steps(PRESSURE, "pressure_pct")
    cpus = _beside(_beside(used, queues, how="left"), pressures, how="left").drop("db", "entity")
    databases = _databases(dataset, max(step_s, COUNTERS_S), figures)
    return Observed(pl.concat(requests), cpus, databases, cpus_of(dataset))


def cpus_of(dataset: Dataset) -> dict[str | None, int]:
    """How many CPUs each host has, where its own rows or its database tell it."""
    seen = (
        dataset.frame("cpu")
        .filter(pl.col("cpu").is_not_null())
        .group_by("host", maintain_order=True)
        .agg(pl.col("cpu").n_unique())
    )
    return cpus_told(dataset) | dict(seen.iter_rows())


def _beside(one: pl.DataFrame, other: pl.DataFrame, how: Literal["inner", "left"] = "inner") -> pl.DataFrame:
    return one.join(other, on=KEYS, how=how, nulls_equal=True, maintain_order="left").sort(KEYS, maintain_order=True)


def _databases(dataset: Dataset, step_s: int, figures: Mapping[str, Figure]) -> pl.DataFrame:
    users = pl.concat(
        [
            stepped(dataset.frame("statistic"), USERS, step_s).select(*KEYS, pl.col("value").alias("users")),
            _sampled(dataset, step_s),
        ]
    )
    done = [
        stepped(dataset.frame("statistic"), figures[name], step_s).select(
            *KEYS, pl.lit(name).alias("done"), pl.col("value").alias("throughput")
        )
        for name in DONE
    ]
    return _beside(users, pl.concat(done)).select("host", "db", "entity", "done", "ts", "users", "throughput")


def _sampled(dataset: Dataset, step_s: int) -> pl.DataFrame:
    """Active sessions of each database of PostgreSQL: of each step the samples' time, divided by its own."""
    step_us = step_s * 1_000_000
    end_us = -(-pl.col("ts").dt.epoch("us") // step_us) * step_us
    working = pl.col("kind").is_in(WORKING) & (pl.col("state") == "active") & (pl.col("wait_class") != "Idle")
    return (
        dataset.frame("session")
        .filter(working & pl.col("database").is_not_null())
        .group_by(
            "host",
            "db",
            pl.col("database").alias("entity"),
            pl.from_epoch(end_us, "us").alias("ts"),
            maintain_order=True,
        )
        .agg((pl.col("interval_s").sum() / step_s).alias("users"))
        .with_columns(pl.col("ts").dt.replace_time_zone("UTC"))
    )
