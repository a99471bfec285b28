"""Rows of files into a lake."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.lake.imports import keep
from doctord.lake.place import LakeError
from doctord.lake.query import Lake

LONG_AGO = datetime(2013, 8, 26, 22, tzinfo=UTC)


def rows(hours: int) -> Dataset:
    return Dataset.from_rows(
        cpu=[
            {"ts": LONG_AGO + timedelta(hours=hour), "interval_s": 3600.0, "host": "a", "usr_pct": hour + 0.12345}
            for hour in range(hours)
        ],
        setting=[{"ts": LONG_AGO, "host": "a", "component": "oracle", "name": "log_buffer", "value": "1"}],
    )


def test_each_row_lies_with_its_day(tmp_path: Path) -> None:
    assert keep(tmp_path, rows(4).tables) == {"cpu": 4, "setting": 1}
    assert sorted(path.parent.name for path in (tmp_path / "sealed/cpu").glob("*/*.parquet")) == [
        "2013-08-26",
        "2013-08-27",
    ]
    held = Lake(tmp_path).dataset(LONG_AGO + timedelta(minutes=1), LONG_AGO + timedelta(days=1))
    assert held.frame("cpu")["usr_pct"].sort().to_list() == [1.12345, 2.12345, 3.12345]
    assert held.frame("setting")["value"].to_list() == ["1"]


def test_a_file_that_grew_adds_what_is_new(tmp_path: Path) -> None:
    keep(tmp_path, rows(3).tables)
    assert keep(tmp_path, rows(5).tables) == {"cpu": 2, "setting": 0}
    assert keep(tmp_path, rows(5).tables) == {"cpu": 0, "setting": 0}


def test_two_at_once_do_not_double(tmp_path: Path) -> None:
    imports = [threading.Thread(target=keep, args=(tmp_path, rows(24).tables)) for _ in range(4)]
    for each in imports:
        each.start()
    for each in imports:
        each.join(60)
    with Lake(tmp_path).connect() as connection:
        assert connection.sql("SELECT count(*) FROM cpu").fetchall() == [(24,)]


def test_a_lake_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LakeError, match="no lake to write to"):
        keep(tmp_path / "file", rows(1).tables)
