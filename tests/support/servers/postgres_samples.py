"""Helpers: collectors of a server, and the rows that they yield."""

import time
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from doctord._native import Batch
from doctord.collect.core.collector import Collector
from doctord.collect.core.notices import Notices
from doctord.collect.postgres.connection.connect import Target
from doctord.collect.postgres.connection.link import Link

SECRET = "hunter2-4711"  # noqa: S105 - sought in everything that comes out


def link_to(dsn: str) -> Link:
    return Link(Target.from_dsn(dsn), Notices())


def rows_of(table: str, batches: Iterable[Batch]) -> list[dict[str, Any]]:
    return [row for batch in batches if batch.table == table for row in pa.record_batch(batch).to_pylist()]


def figures(batches: Iterable[Batch], entity: str | None = None) -> dict[str, float]:
    """Figures of `statistic` by name, of one entity."""
    return {row["name"]: row["value"] for row in rows_of("statistic", batches) if row["entity"] == entity}


def until(
    collector: Collector, table: str, wanted: Callable[[dict[str, Any]], bool], seconds: float = 60
) -> dict[str, Any]:
    """Samples until a row is as wanted, and returns it."""
    deadline = time.monotonic() + seconds
    seen = []
    while time.monotonic() < deadline:
        for row in rows_of(table, collector.sample()):
            if wanted(row):
                return row
            seen.append(row)
        time.sleep(0.02)
    raise AssertionError(f"no such row in {table}; the last of {len(seen)}: {seen[-5:]}")


def settled(read: Any, link: Link, wanted: Any) -> list[Batch]:
    """Reads until what the server counted has arrived in its views: up to a second before version 15."""
    for _ in range(50):
        batches = read(link)
        if wanted(batches):
            return batches
        time.sleep(0.1)
    raise AssertionError(f"not seen: {[rows_of(batch.table, [batch]) for batch in batches]}")
