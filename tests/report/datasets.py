"""A made-up dataset to plot: a host with two CPUs and a PostgreSQL in which sessions queue behind an idle blocker."""

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from doctord.dataset.dataset import Dataset
from report.examples import SINCE

DB = "postgresql:5432"
BLOCKER, WAITERS = 4711, 12
GIB = 2**30


def dataset(seconds: int = 20, missing: range = range(0), processes: int = 8) -> Dataset:
    """One sample per second, but for those in `missing`; sessions five times a second."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for second in range(1, seconds + 1):
        if second not in missing:
            for table, row in _second(second, processes):
                rows.setdefault(table, []).append({"ts": _at(second), "interval_s": 1.0, "host": "db1"} | row)
    return Dataset.from_rows(**rows)


def _at(second: float) -> datetime:
    return SINCE + timedelta(seconds=second)


def _second(second: int, processes: int) -> Iterator[tuple[str, dict[str, Any]]]:
    wave = math.sin(second / 3)
    yield (
        "cpu",
        {
            "usr_pct": 18 + 8 * wave,
            "sys_pct": 5 + wave,
            "irq_pct": 0.5,
            "steal_pct": 0.1,
            "run_queue": 1 + (second % 3),
            "pressure_some_pct": 2 + wave,
        },
    )
    yield from (("cpu", {"cpu": number, "usr_pct": 18.0, "sys_pct": 5.0}) for number in range(2))
    yield (
        "memory",
        {
            "total_bytes": 24 * GIB,
            "available_bytes": 17 * GIB,
            "anon_bytes": 3 * GIB,
            "shmem_bytes": 2 * GIB,
            "page_tables_bytes": GIB // 8,
            "page_cache_bytes": int((9 + wave) * GIB),
            "swap_in_per_s": 0.0,
            "swap_out_per_s": 0.0,
            "scan_per_s": 0.0,
            "pressure_some_pct": 0.4,
            "pressure_full_pct": 0.1,
        },
    )
    yield from _devices(second, wave)
    yield "network", {"retransmits_per_s": 3.0 if second % 7 == 0 else 0.0, "listen_drops_per_s": 0.0}
    yield from (("process", _process(number, wave)) for number in range(processes))
    yield from _database(second)


def _devices(second: int, wave: float) -> Iterator[tuple[str, dict[str, Any]]]:
    for device, writes in (("vda", 220 + 60 * wave), ("vdb", 15.0)):
        yield (
            "disk",
            {
                "device": device,
                "reads_per_s": 40.0 if second % 4 else 0.0,
                "writes_per_s": writes,
                "read_ms": 0.7 + 0.1 * wave if second % 4 else None,
                "write_ms": (4 + 3 * wave + second % 2) * (1 if device == "vda" else 0.3),
                "host_queue": 0.2 if device == "vda" else 0.0,
                "device_queue": (1.1 + wave) * (1 if device == "vda" else 0.2),
            },
        )


def _process(number: int, wave: float) -> dict[str, Any]:
    return {
        "pid": 4700 + number,
        "started": SINCE,
        "command": f"postgres: app: client {number}" if number else "postgres: walwriter",
        "user": "postgres",
        "usr_pct": 10.0 / (number + 1),
        "sys_pct": 2 + wave,
        "run_wait_pct": 0.5,
        "write_bytes_per_s": 2.5e6 if number < 2 else None,
        "rss_bytes": 140 * 2**20,
    }


def _database(second: int) -> Iterator[tuple[str, dict[str, Any]]]:
    yield (
        "statistic",
        {
            "component": "postgresql",
            "db": DB,
            "name": "pg_stat_database.xact_commit",
            "value": 31.0,
            "unit": "per_s",
            "kind": "rate",
        },
    )
    yield (
        "statement",
        {
            "db": DB,
            "statement_id": "81",
            "text": "UPDATE account SET balance = balance + $1 WHERE id = $2",
            "calls_per_s": 30.5,
            "elapsed_s_per_s": 14.1,
            "rows_per_s": 30.5,
            "read_blocks_per_s": 0.2,
        },
    )
    waiting = 2 if second < 6 else min(WAITERS, 2 + (second - 6) * 2)
    for part in range(5):
        yield from (("session", {"ts": _at(second - part / 5), **row}) for row in _sessions(second, waiting))


def _sessions(second: int, waiting: int) -> Iterator[dict[str, Any]]:
    common = {"db": DB, "interval_s": 0.2, "kind": "client", "user": "app"}
    idle = {"state": "idle in transaction", "wait_class": "Idle", "event": "Client:ClientRead", "program": "psql"}
    yield common | idle | {"sid": BLOCKER, "in_state_s": float(second)}
    active = common | {"state": "active", "program": "shop", "statement_id": "81", "in_state_s": second / 2}
    yield active | {"sid": 4800, "wait_class": "CPU", "event": "CPU"}
    if second % 3:
        yield active | {"sid": 4801, "wait_class": "Commit", "event": "IO:WALSync"}
    for number in range(waiting):
        blocker = BLOCKER if number < 4 else 4900 + number % 4
        lock = {"wait_class": "Application", "event": "Lock:transactionid", "blocker_sid": blocker}
        yield active | lock | {"sid": 4900 + number}
