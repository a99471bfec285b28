"""A server's recording by hand: two hundred seconds under a paced load, with an incident in it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

from doctord.dataset.dataset import Dataset
from doctord.dataset.rows import rows
from doctord.lake.writer import LakeWriter

START: Final = datetime(2026, 11, 20, 22, 0, tzinfo=UTC)
SECONDS: Final = 200
BEGIN, END = 100, 140
DB: Final = "postgresql:5432"
COMMITS: Final = "pg_stat_database.xact_commit"


def moment(second: float) -> datetime:
    """A second of the recording."""
    return START + timedelta(seconds=second)


def tables(
    event: str | None = "tuple",
    *,
    begin: int = BEGIN,
    end: int = END,
    commits: float = 100.0,
    ill_commits: float = 100.0,
    seed: int = 1,
    seconds: int = SECONDS,
) -> dict[str, list[dict[str, Any]]]:
    """Rows of cpu, disk, wait and statistic, each second; in the incident two sessions wait for `event`, or for none.

    `disk` as the event is one in which writes take twenty times as long, and nobody waits for a lock.
    """  # fmt: skip
    rng = np.random.default_rng(seed)
    told: dict[str, list[dict[str, Any]]] = {"cpu": [], "disk": [], "memory": [], "wait": [], "statistic": []}
    for second in range(1, seconds + 1):
        is_ill = event is not None and begin < second <= end
        rate = (ill_commits if is_ill else commits) * rng.uniform(0.95, 1.05)
        row = {"ts": int(moment(second).timestamp() * 1e6), "interval_s": 1.0, "host": "db1"}
        told["cpu"].append(
            {**row, "usr_pct": rng.uniform(9, 11), "sys_pct": rng.uniform(2, 3), "irq_pct": 0.0, "idle_pct": 87.0,
             "run_queue": rng.uniform(0, 1), "csw_per_s": rate * rng.uniform(19, 21),
             "interrupts_per_s": rate * rng.uniform(9, 11)}
        )  # fmt: skip
        slow = 20.0 if is_ill and event == "disk" else 1.0
        told["disk"].append(
            {**row, "device": "sda", "writes_per_s": rate * 1.1, "reads_per_s": 0.0, "read_bytes_per_s": 0.0,
             "write_bytes_per_s": rate * 8192 * rng.uniform(0.9, 1.1), "write_ms": slow * rng.uniform(0.9, 1.1),
             "util_pct": min(99.0, slow * rng.uniform(8, 9))}
        )  # fmt: skip
        told["memory"].append(
            {**row, "total_bytes": 2**34, "available_bytes": 2**33 + int(rng.integers(2**20)),
             "minor_faults_per_s": rate * rng.uniform(4, 6)}
        )  # fmt: skip
        wait = {**row, "db": DB, "wait_class": "CPU", "event": "CPU"}
        told["wait"].append({**wait, "average_active_sessions": max(rate, 20.0) * rng.uniform(0.002, 0.003)})
        if is_ill:
            kind, named = ("System I/O", "WALSync") if event == "disk" else ("Application", event)
            waiting = {"wait_class": kind, "event": named, "average_active_sessions": rng.uniform(1.8, 2.2)}
            told["wait"].append({**wait, **waiting})
        figure = {**row, "component": "postgresql", "db": DB, "kind": "rate", "unit": "per_s"}
        for name, value in (
            (COMMITS, rate),
            ("pg_stat_database.tup_fetched", rate * rng.uniform(3, 4)),
            ("pg_stat_wal.wal_records", rate * rng.uniform(5, 6)),
            ("pg_stat_wal.wal_sync", rate * rng.uniform(0.9, 1.0)),
        ):
            told["statistic"].append({**figure, "entity": "app", "name": name, "value": value})
    return told


def dataset(**given: Any) -> Dataset:
    """The same as a dataset."""
    return Dataset.from_rows(**{name: list(_dated(told)) for name, told in tables(**given).items()})


def lake(place: Path, **given: Any) -> Path:
    """The same in a lake."""
    with LakeWriter(place) as writer:
        for name, told in tables(**given).items():
            writer.append(rows(name, told))
    return place


def _dated(told: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in told:
        yield {**row, "ts": datetime.fromtimestamp(row["ts"] / 1e6, UTC)}
