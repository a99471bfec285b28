"""Every second of the sessions is in the time model once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.time import run_queue_share, seconds_observed, time_model
from doctord.chart.chart import Chart

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
DB = "postgresql:5432"


def second(i: int, **columns: Any) -> dict[str, Any]:
    return {"ts": START + timedelta(seconds=i), "interval_s": 1.0, "host": "a", **columns}


def session(i: int, event: str, wait_class: str, **columns: Any) -> dict[str, Any]:
    known = {"db": DB, "sid": 1, "pid": 1, "kind": "client backend", "state": "active"}
    return second(i, wait_class=wait_class, event=event, **(known | columns))


def host(seconds: int) -> list[dict[str, Any]]:
    return [second(i, idle_pct=50.0) for i in range(1, seconds + 1)]


def test_shares_of_sampled_sessions() -> None:
    samples = [session(1, "WALSync", "Commit"), session(2, "WALSync", "Commit"), session(3, "CPU", "CPU")]
    model = time_model(Chart.from_rows(cpu=host(4), session=samples))
    assert model.of == "database"
    assert model.seconds_per_second == pytest.approx(0.75)
    assert model.share("Commit") == pytest.approx(2 / 3)
    assert model.shares[0].event == "WALSync"
    assert sum(part.share for part in model.shares) == pytest.approx(1)


def test_idle_transactions_and_background_processes_are_not_database_time() -> None:
    samples = [
        session(1, "ClientRead", "Network", state="idle in transaction"),
        session(1, "WALSync", "System I/O", kind="walwriter"),
        session(1, "CPU", "CPU"),
    ]
    assert time_model(Chart.from_rows(cpu=host(1), session=samples)).seconds_per_second == pytest.approx(1)


def test_time_without_a_wait_is_split_into_cpu_and_run_queue_by_the_host() -> None:
    process = [
        second(1, pid=1, command="postgres: client backend", usr_pct=20.0, sys_pct=10.0, run_wait_pct=30.0),
        second(1, pid=2, command="hog", usr_pct=100.0, sys_pct=0.0, run_wait_pct=0.0),
    ]
    model = time_model(Chart.from_rows(cpu=host(1), session=[session(1, "CPU", "CPU")], process=process))
    assert model.share("CPU") == pytest.approx(0.5)
    assert model.share("Scheduler", "run queue") == pytest.approx(0.5)


def test_run_queue_is_unknown_not_zero_where_it_was_not_measured() -> None:
    process = [second(1, pid=1, usr_pct=20.0, sys_pct=10.0)]
    assert run_queue_share(Chart.from_rows(process=process)) is None


def test_without_a_database_the_time_is_that_of_the_processes() -> None:
    process = [second(1, pid=1, usr_pct=20.0, sys_pct=10.0, run_wait_pct=30.0)]
    model = time_model(Chart.from_rows(cpu=host(1), process=process))
    assert model.of == "processes"
    assert model.seconds_per_second == pytest.approx(0.6)
    assert model.share("I/O") == 0


def test_gaps_in_the_recording_are_not_observed_time() -> None:
    assert seconds_observed(Chart.from_rows(cpu=[second(1), second(100)])) == pytest.approx(2)
