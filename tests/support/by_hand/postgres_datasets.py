"""Rows of a load on a PostgreSQL server, written out by hand for the tests of rules: ten seconds of it."""

from datetime import UTC, datetime
from typing import Any

from settings_datasets import GIB, HOST

DB = "postgresql:5432"
SECONDS = 10
NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLASSES = {
    "CPU": "CPU",
    "run queue": "Scheduler",
    "WALSync": "Commit",
    "WALWrite": "Commit",
    "transactionid": "Application",
    "relation": "Application",
    "WALBufMapping": "Concurrency",
}


def load(
    figures: dict[str, float] | None = None,
    waits: dict[str, int] | None = None,
    *,
    cpus: int = 8,
    memory_bytes: int = 16 * GIB,
    **tables: Any,
) -> dict[str, Any]:
    """Tables for `dataset(..., **load(...))`: figures by name, and sessions in each wait all the time."""
    at = {"ts": NOW, "host": HOST}
    sessions = [
        at | {"interval_s": float(SECONDS), "db": DB, "sid": number, "kind": "client", "state": "active"} | wait
        for number, wait in enumerate(
            {"event": event, "wait_class": CLASSES.get(event, "User I/O")}
            for event, count in (waits or {}).items()
            for _ in range(count)
        )
    ]
    named = [
        at
        | {"interval_s": float(SECONDS), "component": "postgresql", "db": DB, "value": value}
        | dict(zip(("name", "entity"), (*name.split(" "), None), strict=False))
        for name, value in (figures or {}).items()
    ]
    cpu = [at | {"interval_s": float(SECONDS), "cpu": number} for number in (None, *range(cpus))]
    memory = [at | {"total_bytes": memory_bytes, **tables.pop("memory", {})}]
    return {
        "session": [*sessions, *(at | {"db": DB} | row for row in tables.pop("session", []))],
        "statistic": named,
        "cpu": cpu,
        "memory": memory,
        **{name: [at | row for row in rows] for name, rows in tables.items()},
    }
