"""Series that resemble what servers do: each row holds a share of the one before, and a load rises and falls."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from doctord.analyse.study.samples import Numbers
from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 10, tzinfo=UTC)


def autocorrelated(rng: np.random.Generator, rows: int, share: float) -> Numbers:
    """AR(1) of mean 0 and variance 1, in its steady state from the first row on."""
    found = np.empty(rows)
    found[0] = rng.normal()
    steps = rng.normal(size=rows) * np.sqrt(1 - share**2)
    for row in range(1, rows):
        found[row] = share * found[row - 1] + steps[row]
    return found


def latencies(rng: np.random.Generator, rows: int, share: float = 0.5, mean: float = 1.0) -> Numbers:
    """A figure above zero that wanders so."""
    return np.asarray(mean * np.exp(0.3 * autocorrelated(rng, rows, share)), dtype=np.float64)


def of_a_server(cost_s: Numbers, commits_per_s: Numbers, begin_s: float = 0.0, host: str = "db1") -> Dataset:
    """What a recorder keeps each second of a server whose commits cost so much, all of it in one wait event."""
    waits, statistics = list[dict[str, Any]](), list[dict[str, Any]]()
    for row, (cost, commits) in enumerate(zip(cost_s, commits_per_s, strict=True), 1):
        at = {"ts": START + timedelta(seconds=begin_s + row), "interval_s": 1.0, "host": host, "db": "postgresql:5432"}
        told = {"event": "WALSync", "wait_class": "Commit", "kind": "foreground"}
        waits.append(at | told | {"waits_per_s": commits, "avg_wait_ms": cost * 1000})
        waits[-1]["average_active_sessions"] = cost * commits
        name = {"component": "postgresql", "name": "pg_stat_database.xact_commit", "entity": "shop", "kind": "rate"}
        statistics.append(at | name | {"value": commits, "unit": "per_s"})
    return Dataset.from_rows(wait=waits, statistic=statistics)


def of_samples(seconds: int) -> Dataset:
    """What a recorder keeps of a server with three sessions: samples twice a second, their sums, commits, a process."""
    sessions, waits, statistics, processes = (list[dict[str, Any]]() for _ in range(4))
    doing = (
        ("User I/O", "DataFileRead", "active"),
        ("CPU", "CPU", "active"),
        ("Idle", "ClientRead", "idle in transaction"),
    )
    for second in range(1, seconds + 1):
        at = {"ts": START + timedelta(seconds=second), "interval_s": 1.0, "host": "db1"}
        of_server = at | {"db": "postgresql:5432"}
        for sid, (wait_class, event, state) in enumerate(doing[second % 2 :]):
            what = {"wait_class": wait_class, "event": event}
            for half in (0.5, 0.0):
                when = {"ts": START + timedelta(seconds=second - half), "interval_s": 0.5}
                sessions.append(of_server | when | what | {"sid": sid, "kind": "client", "state": state})
            if state == "active":
                waits.append(of_server | what | {"average_active_sessions": 1.0})
        if not any(row["event"] == "CPU" and row["ts"] == at["ts"] for row in waits):
            waits.append(of_server | {"wait_class": "CPU", "event": "CPU", "average_active_sessions": 0.0})
        name = {"component": "postgresql", "name": "pg_stat_database.xact_commit", "kind": "rate", "unit": "per_s"}
        statistics.append(of_server | name | {"value": 100.0})
        processes.append(at | {"pid": 1, "command": "init"})
    return Dataset.from_rows(session=sessions, wait=waits, statistic=statistics, process=processes)
