"""Every second of the sessions is in the time model once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.backends import run_queue_share
from doctord.analyse.spells import covered_s
from doctord.analyse.time import seconds_observed, time_model
from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
DB = "postgresql:5432"


def second(i: int, **columns: Any) -> dict[str, Any]:
    return {"ts": START + timedelta(seconds=i), "interval_s": 1.0, "host": "a", **columns}


def session(i: int, event: str, wait_class: str, **columns: Any) -> dict[str, Any]:
    known = {"db": DB, "sid": 1, "pid": 1, "kind": "client", "state": "active"}
    return second(i, wait_class=wait_class, event=event, **(known | columns))


def host(seconds: int) -> list[dict[str, Any]]:
    return [second(i, idle_pct=50.0) for i in range(1, seconds + 1)]


def test_shares_of_sampled_sessions() -> None:
    samples = [session(1, "WALSync", "Commit"), session(2, "WALSync", "Commit"), session(3, "CPU", "CPU")]
    model = time_model(Dataset.from_rows(cpu=host(4), session=samples))
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
    assert time_model(Dataset.from_rows(cpu=host(1), session=samples)).seconds_per_second == pytest.approx(1)


def test_time_without_a_wait_is_split_into_cpu_and_run_queue_by_the_host() -> None:
    process = [
        second(1, pid=1, command="postgres: client backend", usr_pct=20.0, sys_pct=10.0, run_wait_pct=30.0),
        second(1, pid=2, command="hog", usr_pct=100.0, sys_pct=0.0, run_wait_pct=0.0),
    ]
    model = time_model(Dataset.from_rows(cpu=host(1), session=[session(1, "CPU", "CPU")], process=process))
    assert model.share("CPU") == pytest.approx(0.5)
    assert model.share("Scheduler", "run queue") == pytest.approx(0.5)


def test_run_queue_is_unknown_not_zero_where_it_was_not_measured() -> None:
    process = [second(1, pid=1, usr_pct=20.0, sys_pct=10.0)]
    assert run_queue_share(Dataset.from_rows(process=process)) is None


def test_without_a_database_the_time_is_that_of_the_processes() -> None:
    process = [second(1, pid=1, usr_pct=20.0, sys_pct=10.0, run_wait_pct=30.0)]
    model = time_model(Dataset.from_rows(cpu=host(1), process=process))
    assert model.of == "processes"
    assert model.seconds_per_second == pytest.approx(0.6)
    assert model.share("I/O") == 0


def test_gaps_in_the_recording_are_not_observed_time() -> None:
    assert seconds_observed(Dataset.from_rows(cpu=[second(1), second(100)])) == pytest.approx(2)


# A database's own sums.

HOUR = 3600.0


def report(hour: int, event: str, wait_class: str, waited: float, **columns: Any) -> dict[str, Any]:
    known = {"db": "oracle:PRD", "kind": "foreground", "average_active_sessions": waited}
    ends = {"ts": START + timedelta(hours=hour), "interval_s": HOUR, "event": event, "wait_class": wait_class}
    return ends | known | columns


def db_time(hour: int, value: float) -> dict[str, Any]:
    named = {"component": "oracle", "db": "oracle:PRD", "name": "v$sys_time_model.DB time", "value": value}
    return {"ts": START + timedelta(hours=hour), "interval_s": HOUR} | named


def shares(dataset: Dataset) -> dict[str, float]:
    return {part.event: round(part.seconds_per_second, 3) for part in time_model(dataset).shares}


def test_what_database_time_leaves_beside_cpu_and_waits_is_named() -> None:
    waits = [report(1, "CPU", "CPU", 1.0), report(1, "log file sync", "Commit", 2.0)]
    dataset = Dataset.from_rows(wait=waits, statistic=[db_time(1, 4.0)])
    assert shares(dataset) == {"log file sync": 2.0, "CPU": 1.0, "run queue, or not instrumented": 1.0}


def test_reports_in_a_row_are_one_time_and_instances_add_up() -> None:
    waits = [
        report(1, "CPU", "CPU", 1.0, instance="1"),
        report(1, "CPU", "CPU", 1.0, instance="2"),
        report(2, "CPU", "CPU", 2.0, instance="1"),
    ]
    assert shares(Dataset.from_rows(wait=waits)) == {"CPU": 2.0}


def test_background_and_idle_waits_and_those_of_no_database_are_left_out() -> None:
    waits = [
        report(1, "CPU", "CPU", 1.0),
        report(1, "log file parallel write", "System I/O", 5.0, kind="background"),
        report(1, "SQL*Net message from client", "Idle", 50.0),
        report(1, "db file parallel write", "System I/O", 5.0, kind=None),
        report(1, "futex", "Other", 9.0, db=None, kind=None),
    ]
    assert shares(Dataset.from_rows(wait=waits)) == {"CPU": 1.0}


def test_sampled_sessions_come_before_sums() -> None:
    dataset = Dataset.from_rows(
        cpu=host(4), session=[session(1, "WALSync", "Commit")], wait=[report(1, "CPU", "CPU", 1.0)]
    )
    assert set(shares(dataset)) == {"WALSync"}


def test_classes_stand_in_for_events_that_are_not_told() -> None:
    classes = [
        {"ts": START + timedelta(hours=1), "interval_s": HOUR, "component": "oracle", "db": "oracle:PRD"}
        | {"name": "wait_class.waited", "entity": entity, "value": value}
        for entity, value in (("User I/O", 3.0), ("System I/O", 1.0), ("CPU", 1.0))
    ]
    model = time_model(Dataset.from_rows(wait=[report(1, "CPU", "CPU", 1.0)], statistic=classes))
    assert model.share("User I/O") == pytest.approx(0.75)
    assert model.seconds_per_second == pytest.approx(4.0)


def test_a_list_of_top_events_tells_shares() -> None:
    waits = [report(1, "CPU", "CPU", 30.0), report(1, "db file sequential read", "User I/O", 10.0)]
    model = time_model(Dataset.from_rows(wait=[row | {"interval_s": None} for row in waits]))
    assert model.share("User I/O") == pytest.approx(0.25)


def test_overlapping_intervals_are_covered_once() -> None:
    rows = [second(i) for i in (1, 2, 2, 5)] + [second(6) | {"interval_s": 3.0}]
    assert covered_s(Dataset.from_rows(cpu=rows).frame("cpu")) == pytest.approx(5.0)
