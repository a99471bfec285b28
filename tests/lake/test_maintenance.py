"""Rows are in the sums before they go."""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from doctord.app.capacity.history import history
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import own_figures
from doctord.lake import maintenance
from doctord.lake.imports import keep
from doctord.lake.maintenance import Maintenance
from doctord.lake.place import LakePaths
from doctord.lake.query import Lake
from doctord.lake.retention import Retention

pytestmark = pytest.mark.slow

OLD = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=40)
SHORT = Retention(keep=timedelta(days=7))


def roll_up(path: Path) -> list[str]:
    return [sys.executable, "-m", "doctord.app.roll_up", str(path), "7948800"]


def recorded(path: Path, begin: datetime = OLD, used_pct: float = 20.0) -> Path:
    """A lake of an hour of CPU, a row a minute."""
    cpu = [
        {
            "ts": begin + timedelta(minutes=minute),
            "interval_s": 60.0,
            "host": "a",
            "usr_pct": used_pct,
            "sys_pct": 0.0,
        }
        for minute in range(1, 61)
    ]
    keep(path, Dataset.from_rows(cpu=cpu).tables)
    return path


def hours(path: Path) -> list[float]:
    (series,) = history(Lake(path), own_figures(), OLD, OLD + timedelta(hours=2))
    return series.values.tolist()


def rows_of(path: Path) -> list[Path]:
    return list(path.glob("sealed/*/*/*.parquet"))


def test_what_goes_is_summed_up_before(path: Path) -> None:
    keeper = Maintenance(SHORT, roll_up(recorded(path)))
    keeper(LakePaths(path))
    assert rows_of(path) == []
    assert hours(path) == [20.0]


def test_an_import_of_old_rows_is_summed_up_before_it_goes(path: Path) -> None:
    keeper = Maintenance(SHORT, roll_up(recorded(path)))
    keeper(LakePaths(path))
    recorded(path, OLD + timedelta(hours=1), 30.0)
    keeper(LakePaths(path))
    assert rows_of(path) == []
    assert hours(path) == [20.0, 30.0]


def test_what_cannot_be_summed_up_stays(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recorded(path)
    (path / "rollups").write_text("a file where the folder would be\n")
    with caplog.at_level(logging.WARNING):
        Maintenance(SHORT, roll_up(path))(LakePaths(path))
    assert len(rows_of(path)) == 1
    assert "nothing is deleted" in caplog.text


def test_the_size_of_a_lake_is_kept_even_so(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recorded(path)
    (path / "rollups").write_text("a file where the folder would be\n")
    with caplog.at_level(logging.WARNING):
        Maintenance(Retention(max_bytes=1), roll_up(path))(LakePaths(path))
    assert rows_of(path) == []
    assert "that are in no sum: the lake is over its size" in caplog.text


def test_what_never_ends_is_ended(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(maintenance, "LONGEST_S", 0.2)
    with caplog.at_level(logging.WARNING):
        Maintenance(SHORT, ["/bin/sleep", "60"])(LakePaths(recorded(path)))
    assert "not done after 0 s" in caplog.text
    assert len(rows_of(path)) == 1


def test_once_a_day_is_enough(path: Path, tmp_path: Path) -> None:
    recorded(path, datetime.now(UTC) - timedelta(hours=3))
    count = tmp_path / "count"
    keeper = Maintenance(SHORT, ["/bin/sh", "-c", f"echo once >> {count}"])
    keeper(LakePaths(path))
    recorded(path, datetime.now(UTC) - timedelta(hours=2))
    keeper(LakePaths(path))
    assert count.read_text() == "once\n"
    recorded(path)
    keeper(LakePaths(path))
    assert count.read_text() == "once\nonce\n"


def test_an_empty_lake_starts_no_process(path: Path) -> None:
    Maintenance(SHORT, ["/nonexistent"])(LakePaths(path))


@pytest.fixture
def watchdog() -> Iterator[None]:
    """End a test that hangs."""
    timer = threading.Timer(20, os.kill, (os.getpid(), signal.SIGALRM))
    timer.start()
    yield
    timer.cancel()


@pytest.mark.usefixtures("watchdog")
def test_the_end_of_a_recording_does_not_wait_for_it(path: Path) -> None:
    keeper = Maintenance(SHORT, ["/bin/sleep", "60"])
    working = threading.Thread(target=keeper, args=(LakePaths(recorded(path)),))
    working.start()
    time.sleep(0.2)
    keeper.stop()
    working.join()
    assert len(rows_of(path)) == 1


def test_killed_at_any_moment_it_loses_and_doubles_nothing(path: Path) -> None:
    recorded(path)
    for delay_s in (0.5, 0.9):
        keeper = Maintenance(SHORT, roll_up(path))
        timer = threading.Timer(delay_s, keeper.stop)
        timer.start()
        keeper(LakePaths(path))
        timer.cancel()
        assert hours(path) == [20.0]
    Maintenance(SHORT, roll_up(path))(LakePaths(path))
    assert (rows_of(path), hours(path)) == ([], [20.0])
