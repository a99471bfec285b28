"""Oracle hosts for the tests of causes: datasets as AWR and Statspack fill them, healthy unless told otherwise.

    found = oracle_host(waits={"log file sync": (72.0, 26.45)}, background={"log file parallel write": (74.0, 11.8)})

One row per report and entity. A figure set to None was not measured.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding

START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
HOST = "dbhost"
DB = "oracle:PROD"
HOUR_S = 3600.0

CLASSES = {
    "db file": "User I/O", "direct path": "User I/O", "read by other": "User I/O", "cell": "User I/O",
    "log file sync": "Commit", "log file switch": "Configuration", "log buffer": "Configuration",
    "free buffer": "Configuration", "write complete": "Configuration", "buffer busy": "Concurrency",
    "latch": "Concurrency", "cursor": "Concurrency", "library cache": "Concurrency", "row cache": "Concurrency",
    "enq: TX - row": "Application", "enq: TM": "Application", "enq": "Concurrency", "gc": "Cluster",
    "resmgr": "Scheduler", "SQL*Net message from client": "Idle", "SQL*Net": "Network",
}  # fmt: skip

# A quiet hour of an ordinary server: half of its time on a CPU, quick reads, quick commits; waits as (per second, ms).
HEALTHY_CPU_S_PER_S = 1.2
HEALTHY_WAITS: Mapping[str, tuple[float, float]] = {
    "db file sequential read": (300.0, 0.5), "db file scattered read": (5.0, 2.0), "log file sync": (40.0, 0.8),
    "SQL*Net message to client": (900.0, 0.002), "SQL*Net message from client": (900.0, 400.0),
    "enq: TX - row lock contention": (0.01, 60.0), "library cache: mutex X": (0.2, 0.3),
}  # fmt: skip
HEALTHY_BACKGROUND: Mapping[str, tuple[float, float]] = {
    "log file parallel write": (42.0, 0.6), "db file parallel write": (20.0, 0.9), "rdbms ipc message": (30.0, 1000.0),
}  # fmt: skip
HEALTHY_FIGURES: Mapping[str, float] = {
    "v$sys_time_model.hard parse elapsed time": 0.01, "v$sys_time_model.parse time elapsed": 0.02,
    "v$sysstat.redo size": 400e3, "v$sysstat.redo writes": 42.0, "v$sysstat.user commits": 40.0,
    "v$sysstat.user calls": 1500.0, "v$sysstat.execute count": 2000.0, "v$sysstat.parse count (total)": 300.0,
    "v$sysstat.parse count (hard)": 0.5, "v$sysstat.redo buffer allocation retries": 0.0,
    "v$sysstat.physical reads": 320.0, "v$sysstat.session logical reads": 60e3, "v$sysstat.logons cumulative": 0.1,
    "thread_activity.log switches (derived)": 1 / 1800, "v$osstat.NUM_CPUS": 8.0, "v$osstat.BUSY_TIME": 1.6,
    "instance_efficiency.Buffer Hit %": 99.5,
}  # fmt: skip
HEALTHY_HOST = {"usr_pct": 18.0, "sys_pct": 3.0, "wait_io_pct": 2.0, "idle_pct": 77.0}


def oracle_host(
    *,
    waits: Mapping[str, tuple[float, float] | None] | None = None,
    background: Mapping[str, tuple[float, float] | None] | None = None,
    cpu_s_per_s: float = HEALTHY_CPU_S_PER_S,
    unaccounted_s_per_s: float = 0.02,
    figures: Mapping[str | tuple[str, str], float | None] | None = None,
    host: Mapping[str, Any] | None = None,
    settings: Mapping[str, str] | None = None,
    statements: Sequence[Mapping[str, Any]] = (),
    extra: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    reports: int = 1,
    start: datetime = START,
) -> Dataset:
    """A dataset of hourly reports on a server that is healthy but for what the arguments change.

    Args:
        waits: changes to client sessions' waits by event: waits per second and milliseconds each; None removes one.
        background: changes to the background's waits, likewise.
        cpu_s_per_s: DB CPU.
        unaccounted_s_per_s: database time that is neither CPU nor a wait.
        figures: changes to statistics, by name or by name and entity.
        host: changes to the whole-host row of `cpu`.
        settings: initialisation parameters.
        statements: rows of `statement`.
        extra: further rows of any table.
        reports: number of hourly reports, all alike.
        start: when the first began.
    """
    client = _merged(HEALTHY_WAITS, waits or {})
    active = sum(often * ms / 1000 for event, (often, ms) in client.items() if wait_class(event) != "Idle")
    named = _merged(HEALTHY_FIGURES, figures or {})
    named["v$sys_time_model.DB time"] = cpu_s_per_s + active + unaccounted_s_per_s
    named["v$sys_time_model.DB CPU"] = cpu_s_per_s
    cpu = {"wait_class": "CPU", "event": "CPU", "average_active_sessions": cpu_s_per_s, "kind": "foreground", "db": DB}
    rows: dict[str, list[dict[str, Any]]] = {
        "wait": [
            cpu,
            *(_wait(event, *timed, "foreground") for event, timed in client.items()),
            *(
                _wait(event, *timed, "background")
                for event, timed in _merged(HEALTHY_BACKGROUND, background or {}).items()
            ),
        ],
        "statistic": [_figure(name, value) for name, value in named.items()],
        "cpu": [{**HEALTHY_HOST, **(host or {})}],
        "statement": [{"db": DB, **statement} for statement in statements],
        "setting": [
            {"component": "oracle", "db": DB, "name": name, "value": value} for name, value in (settings or {}).items()
        ],
    }
    for table, more in (extra or {}).items():
        rows.setdefault(table, []).extend(dict(row) for row in more)
    return Dataset.from_rows(**{table: [*_hourly(part, reports, start)] for table, part in rows.items()})


def found(**changes: Any) -> dict[str, Finding]:
    """The findings on a host, by cause."""
    return {finding.cause: finding for finding in diagnose(oracle_host(**changes)).findings}


def wait_class(event: str) -> str:
    """The class of an event, by how its name begins."""
    return next((of for beginning, of in CLASSES.items() if event.startswith(beginning)), "Other")


def _merged(healthy: Mapping[Any, Any], changes: Mapping[Any, Any]) -> dict[Any, Any]:
    return {name: value for name, value in {**healthy, **changes}.items() if value is not None}


def _wait(event: str, often: float, ms: float, kind: str) -> dict[str, Any]:
    return {
        "db": DB, "kind": kind, "wait_class": wait_class(event), "event": event, "waits_per_s": often,
        "avg_wait_ms": ms, "average_active_sessions": often * ms / 1000,
    }  # fmt: skip


def _figure(name: str | tuple[str, str], value: float) -> dict[str, Any]:
    name, entity = name if isinstance(name, tuple) else (name, None)
    return {"component": "oracle", "db": DB, "entity": entity, "name": name, "value": value, "unit": "per_s"}


def _hourly(rows: Sequence[Mapping[str, Any]], reports: int, start: datetime) -> list[dict[str, Any]]:
    return [
        {"ts": start + timedelta(hours=hour), "interval_s": HOUR_S, "host": HOST, **row}
        for hour in range(1, reports + 1)
        for row in rows
    ]
