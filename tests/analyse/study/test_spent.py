from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from doctord.analyse.study.grid import Grid
from doctord.analyse.study.spent import spent, waits
from doctord.dataset.dataset import Dataset
from study_series import of_a_server

START = datetime(2026, 11, 20, 10, tzinfo=UTC)


def sampled(seconds: int, every_s: int = 5) -> Dataset:
    """Half a session waits all the time; commits are counted each few seconds."""
    told: list[dict[str, Any]] = []
    sessions: list[dict[str, Any]] = []
    counted: list[dict[str, Any]] = []
    for second in range(1, seconds + 1):
        at = {"ts": START + timedelta(seconds=second), "interval_s": 1.0, "db": "postgresql:5432"}
        told.append(at | {"event": "CPU", "wait_class": "CPU", "average_active_sessions": 0.0})
        session = {"kind": "client", "state": "active", "wait_class": "IO", "event": "DataFileRead", "sid": 1}
        sessions.append(at | session | {"interval_s": 0.5})
        if second % every_s == 0:
            name = {"name": "pg_stat_database.xact_commit", "kind": "rate", "value": 50.0}
            counted.append(at | name | {"interval_s": float(every_s)})
    return Dataset.from_rows(wait=told, session=sessions, statistic=counted)


def test_samples_and_commits_stand_on_one_grid_as_coarse_as_the_coarser() -> None:
    found = spent(sampled(60))
    assert found is not None
    assert (found.grid.step_s, found.grid.count) == (5.0, 12)
    assert found.seconds.tolist() == [5.0] * 12
    assert found.whole.tolist() == [2.5] * 12
    assert found.loads["commit"].tolist() == [250.0] * 12
    assert found.samples(found.whole, "commit").value == pytest.approx(0.01)


def test_an_event_that_was_not_sampled_took_no_time_and_one_that_is_not_listed_is_unknown() -> None:
    of_samples, of_lists = spent(sampled(20)), spent(of_a_server(np.full(20, 0.02), np.full(20, 100.0)))
    assert of_samples is not None
    assert of_lists is not None
    none = of_samples.of_event("WALSync")
    assert none is not None
    assert none.tolist() == [0.0] * of_samples.grid.count
    assert of_lists.of_event("DataFileRead") is None


def test_what_somebody_wants_is_no_measurement() -> None:
    dataset = of_a_server(np.full(20, 0.02), np.full(20, 100.0))
    wanted = dataset.frame("statistic").to_dicts()[0] | {"component": "target", "value": 9000.0}
    told = Dataset.joined([dataset, Dataset.from_rows(statistic=[wanted])])
    found = spent(told)
    assert found is not None
    assert found.loads["commit"].sum() == pytest.approx(2000.0)


def test_lengths_of_waits_are_weighed_by_how_many_there_were() -> None:
    rows = [
        {"ts": START + timedelta(seconds=second), "interval_s": 1.0, "db": "oracle", "event": "log file sync",
         "waits_per_s": count, "avg_wait_ms": length}
        for second, (count, length) in enumerate([(1.0, 10.0), (9.0, 20.0)])
    ]  # fmt: skip
    (wait,) = waits(Dataset.from_rows(wait=rows))
    assert wait.samples.value == pytest.approx(19.0)
    assert wait.seconds_per_second == pytest.approx(0.095)


def test_no_sessions_and_no_waits_are_no_database_time() -> None:
    assert spent(Dataset()) is None
    assert Grid.over(Dataset().frame("wait")) is None


def test_a_load_that_was_noted_once_is_of_all_the_period_whenever_its_file_was_written() -> None:
    waited = {"ts": START, "interval_s": 1.0, "db": "oracle", "event": "log file sync", "average_active_sessions": 1.9}
    noted = {"ts": START + timedelta(days=3), "component": "oracle", "name": "v$sysstat.user commits", "value": 72.0}
    found = spent(Dataset.from_rows(wait=[waited], statistic=[noted]))
    assert found is not None
    assert found.samples(found.whole, "commit").value == pytest.approx(1.9 / 72)
