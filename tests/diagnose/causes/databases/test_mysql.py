"""Causes that are the same everywhere, on a MySQL server: by its own events and counters, with its own parameters."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding, Impact
from doctord.report.phrases import said

GIB = 2**30
COMMON = {"ts": datetime(2026, 11, 20, tzinfo=UTC), "interval_s": 60.0, "host": "h", "db": "mysql:3306"}
DATA_READ = "wait/io/file/innodb/innodb_data_file read"


def found(
    waits: Mapping[str, float], ms: float | None = None, memory: Mapping[str, Any] | None = None, **status: float
) -> dict[str, Finding]:
    """The findings where sessions wait so many seconds per second in these events, beside two on a CPU."""
    rows = [
        {**COMMON, "kind": "foreground", "wait_class": "Other", "event": event, "average_active_sessions": of,
         "avg_wait_ms": ms, "waits_per_s": of * 1000 / ms if ms else None}
        for event, of in waits.items()
    ]  # fmt: skip
    rows.append({**COMMON, "kind": "foreground", "wait_class": "CPU", "event": "CPU", "average_active_sessions": 2.0})
    counted = [{**COMMON, "name": f"global_status.{name}", "value": value} for name, value in status.items()]
    settings = [{**COMMON, "component": "mysql", "name": "innodb_buffer_pool_size", "value": str(GIB)},
                {**COMMON, "component": "mysql", "name": "max_connections", "value": "151"}]  # fmt: skip
    host = [{**COMMON, "db": None, **memory}] if memory else []
    for row in host:
        del row["db"]
    dataset = Dataset.from_rows(wait=rows, statistic=counted, setting=settings, memory=host)
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def steps(finding: Finding) -> str:
    return " ".join(said(step) for step in finding.remedy)


def test_slow_reads() -> None:
    finding = found({DATA_READ: 2.0}, ms=25.0)["reads_slow"]
    assert said(finding.title) == "Single-block reads take 25.0 ms: 50 % of database time"
    assert "reads_slow" not in found({DATA_READ: 2.0}, ms=2.0)


def test_a_small_buffer_pool_beside_free_memory() -> None:
    memory = {"total_bytes": 64 * GIB, "available_bytes": 40 * GIB}
    finding = found({DATA_READ: 2.0}, ms=1.0, memory=memory, innodb_pages_read=2000.0)["buffer_pool_small"]
    told = " ".join(said(item.figure) + said(item.why) for item in finding.for_)
    assert "31.2 MiB/s" in told  # pages of 16 KiB
    assert "innodb_buffer_pool_size is 1.0 GiB" in told
    assert "innodb_buffer_pool_size" in steps(finding)
    assert "shared_buffers" not in steps(finding)
    assert "buffer_pool_small" not in found({DATA_READ: 2.0}, ms=1.0, innodb_pages_read=2000.0)


def test_sorts_and_tables_that_spill() -> None:
    finding = found({"Creating sort index": 1.0}, sort_merge_passes=12.0)["sort_spill"]
    assert any("12 merge passes" in said(item.figure) for item in finding.for_)
    assert "sort_buffer_size" in steps(finding)
    assert "sort_spill" not in found({"Creating sort index": 0.01}, sort_merge_passes=12.0)


def test_plans_that_are_made_all_the_time() -> None:
    finding = found({"statistics": 1.0, "Opening tables": 1.0})["hard_parsing"]
    assert said(finding.title) == "Parsing and planning takes 50 % of database time"
    assert "eq_range_index_dive_limit" in steps(finding)


def test_a_connection_for_each_transaction() -> None:
    finding = found({}, connections=100.0, handler_commit=110.0, threads_created=95.0)["connection_churn"]
    assert finding.confidence == 0.9
    assert any("95 threads created" in said(item.figure) for item in finding.for_)
    assert "thread_cache_size" in steps(finding)
    assert "connection_churn" not in found({}, connections=1.0, handler_commit=110.0)


def test_connections_near_the_limit() -> None:
    assert "connections_near_limit" in found({}, threads_connected=145.0)
    assert "connections_near_limit" not in found({}, threads_connected=100.0)


def test_row_locks_of_which_many_end_in_deadlocks_are_theirs() -> None:
    causes = found({"LOCK WAIT": 2.0}, innodb_deadlocks=3.0, innodb_row_lock_waits=6.0)
    assert causes["row_locks"].explained_by == "deadlocks_reported"
    deadlocks = causes["deadlocks_reported"]
    assert (said(deadlocks.title), deadlocks.severity) == ("180 deadlocks on mysql:3306", "critical")
    assert deadlocks.impact == Impact(0.5, "at_most")
    assert said(deadlocks.for_[1].figure) == "100 % of the waits for rows are in one"
    rare = found({"LOCK WAIT": 2.0}, innodb_deadlocks=0.5, innodb_row_lock_waits=60.0)
    assert rare["row_locks"].explained_by is None
