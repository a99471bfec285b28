"""Waits as their histograms count them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.latency.counted import are_alone, counted_waits
from doctord.analyse.time import time_model
from doctord.analyse.waits import foreground
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose

BEGAN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
READ = "db file sequential read"


def rows(count: int, ms: float, subject: str = READ, db: str | None = None) -> list[dict[str, Any]]:
    """Three intervals of 10 s, all waits of an interval in one bucket around that length."""
    bucket = {"subject": subject, "db": db, "gt_us": ms * 900, "le_us": ms * 1100, "waited_us": None, "count": count}
    return [{"ts": BEGAN + timedelta(seconds=10 * i), "interval_s": 10.0} | bucket for i in range(1, 4)]


def test_number_and_time_are_those_of_the_buckets() -> None:
    (wait,) = counted_waits(Dataset.from_rows(latency=rows(600, 12.0))).values()
    assert (wait.wait_class, wait.wait_kind, wait.per_second) == ("User I/O", "single read", 60.0)
    assert wait.ms == pytest.approx(12.0, rel=0.1)


def test_nodes_of_a_cluster_add_up() -> None:
    """Reports of two nodes beside each other: one event, one database, two hosts."""
    nodes = [row | {"host": host} for host in ("node1", "node2") for row in rows(600, 12.0, db="oracle:PROD")]
    (wait,) = counted_waits(Dataset.from_rows(latency=nodes)).values()
    assert wait.per_second == 120.0
    nobodys = [row | {"host": host} for host in ("node1", None) for row in rows(600, 12.0, db="oracle:PROD")]
    (wait,) = counted_waits(Dataset.from_rows(latency=nobodys)).values()
    assert wait.per_second == 120.0


def test_of_what_two_tools_counted_with_other_edges_the_larger_count_is_taken() -> None:
    coarse = [row | {"gt_us": 8000.0, "le_us": 16_000.0} for row in rows(500, 12.0)]
    (wait,) = counted_waits(Dataset.from_rows(latency=[*rows(600, 12.0), *coarse])).values()
    assert wait.per_second == 60.0


@pytest.mark.parametrize("subject", ["log file parallel write", "pread64", "block I/O"])
def test_what_no_session_waits_for_is_left_out(subject: str) -> None:
    assert counted_waits(Dataset.from_rows(latency=rows(600, 12.0, subject))) == {}


def test_histograms_alone_are_database_time() -> None:
    """What gv$event_histogram tells: 65 sessions on average in single-block reads."""
    dataset = Dataset.from_rows(latency=rows(57690, 11.3))
    model = time_model(dataset)
    assert (model.of, model.shares[0].event) == ("database", READ)
    assert model.seconds_per_second == pytest.approx(65, rel=0.1)
    assert foreground(dataset)[READ].ms == pytest.approx(11.3, rel=0.1)
    diagnosis = diagnose(dataset)
    assert diagnosis.findings[0].cause == "too_many_single_block_reads"
    assert diagnosis.judged == ("database time",)


def test_beside_other_figures_of_the_server_they_only_complete_them() -> None:
    wait = {
        "ts": BEGAN + timedelta(seconds=30),
        "interval_s": 30.0,
        "db": "oracle:A",
        "event": READ,
        "wait_class": "User I/O",
    }
    dataset = Dataset.from_rows(
        latency=rows(20, 34.0, db="oracle:A"), wait=[wait | {"average_active_sessions": 0.07, "kind": "foreground"}]
    )
    assert not are_alone(dataset)
    told = foreground(dataset)[READ]
    assert told.seconds_per_second == 0.07
    assert told.per_second == 2.0
    assert told.ms == pytest.approx(34.0, rel=0.1)


def test_slow_reads_of_a_server_with_little_to_do_are_a_warning() -> None:
    """AWR-miner: 0.07 sessions, nearly all of it in reads of 34 ms."""
    wait = {
        "ts": BEGAN + timedelta(seconds=30),
        "interval_s": 30.0,
        "db": "oracle:A",
        "event": READ,
        "wait_class": "User I/O",
    }
    waits = [wait | {"average_active_sessions": 0.07, "kind": "foreground"}]
    (finding,) = diagnose(Dataset.from_rows(latency=rows(20, 34.0, db="oracle:A"), wait=waits)).findings
    assert (finding.cause, finding.severity) == ("reads_slow", "warning")
    assert not diagnose(Dataset.from_rows(latency=rows(5, 34.0, db="oracle:A"), wait=waits)).findings
