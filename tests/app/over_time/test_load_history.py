"""The load of a lake: sums and samples tell the same, whatever is sealed, kept, damaged or not to be written."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from doctord.analyse.over_time.buckets import Buckets
from doctord.analyse.over_time.load import load_over_time
from doctord.analyse.over_time.load_steps import EMPTY
from doctord.app.over_time import sum_load
from doctord.app.over_time.load import Wanted, load_found
from doctord.app.over_time.load_history import LoadHistory, sums
from doctord.dataset.dataset import Dataset
from doctord.dataset.rows import rows
from doctord.errors import UserError
from doctord.lake import load_sums
from doctord.lake.place import LakePaths
from doctord.lake.writer import LakeWriter
from sampled_sessions import AT, START, sampled

HOUR = timedelta(hours=1)


def written(lake: Path, *parts: Dataset) -> Path:
    """A lake of some datasets, a sealed segment each."""
    for part in parts:
        with LakeWriter(lake) as writer:
            for name in part.tables:
                writer.append(rows(name, [plain(row) for row in part.frame(name).to_dicts()]))
    return lake


def plain(row: dict[str, object]) -> dict[str, object]:
    """A row as a collector gives it: times in microseconds."""
    ts = row["ts"]
    assert isinstance(ts, datetime)
    return row | {"ts": round(ts.timestamp() * 1_000_000)}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("load") / "lake"
    first = sampled(every_s=0.5, seconds=1800, sessions=2, user="a", db="postgresql:1", statement_id="7")
    second = sampled(every_s=0.5, seconds=1800, sessions=3, user="b", db="postgresql:1", phase_s=1800.0)
    return written(lake, first, second)


def total(lake: Path, length: timedelta, user: str) -> float:
    found = load_found(LoadHistory(lake), START, START + length, Wanted("user", {"user": [user]}, 100, 9))
    return found.load.sessions


def test_sums_and_samples_tell_the_same(lake: Path) -> None:
    of_samples = total(lake, timedelta(minutes=30), "a")
    of_sums = total(lake, HOUR, "a")
    assert of_samples == pytest.approx(2.0, rel=0.001)
    assert of_sums == pytest.approx(1.0, rel=0.001)
    assert total(lake, HOUR, "b") == pytest.approx(1.5, rel=0.001)


def test_sums_are_kept_once_and_read_again(lake: Path) -> None:
    sum_load.main(lake)
    assert load_sums.missing(lake) == []
    kept = sorted((lake / "rollups" / load_sums.ACTIVE).iterdir())
    before = [path.stat().st_mtime_ns for path in kept]
    assert total(lake, HOUR, "b") == pytest.approx(1.5, rel=0.001)
    assert [path.stat().st_mtime_ns for path in kept] == before


def test_damaged_sums_are_made_again(lake: Path) -> None:
    sum_load.main(lake)
    [name, *_] = load_sums.sealed(lake)
    path = lake / "rollups" / load_sums.ACTIVE / f"{name}.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 255
    path.write_bytes(content)
    assert load_sums.kept(lake, [name]) is None
    assert sum(float(part.active["active_s"].sum()) for part in sums(lake, [name])) > 0
    assert load_sums.kept(lake, [name]) is not None


def test_of_damaged_sums_whose_samples_are_gone_nothing_is_overwritten(tmp_path: Path) -> None:
    lake = written(tmp_path / "lake", sampled(every_s=0.5, seconds=60, user="a"))
    sum_load.main(lake)
    [*files] = (lake / "rollups" / load_sums.ACTIVE).iterdir()
    for path in (*files, *LakePaths(lake).parquet()):
        path.write_bytes(b"damaged") if path in files else path.unlink()
    assert list(sums(lake, [path.stem for path in files])) == [EMPTY] * len(files)
    assert {path.read_bytes() for path in files} == {b"damaged"}


def test_sums_stay_when_the_samples_go(tmp_path: Path) -> None:
    lake = written(tmp_path / "lake", sampled(every_s=0.5, seconds=60, user="a"))
    sum_load.main(lake)
    for path in LakePaths(lake).parquet():
        path.unlink()
    assert len(load_sums.sealed(lake)) >= 1
    assert total(lake, HOUR, "a") == pytest.approx(1.0, rel=0.02)
    load_sums.expire(lake, timedelta(days=100_000))
    assert load_sums.sealed(lake)
    load_sums.expire(lake, timedelta(days=-1))
    assert not load_sums.sealed(lake)


def test_what_is_still_being_written_is_in_it(tmp_path: Path) -> None:
    part = sampled(every_s=0.5, seconds=600, sessions=2, user="a")
    with LakeWriter(tmp_path / "lake") as writer:
        for name in part.tables:
            writer.append(rows(name, [plain(row) for row in part.frame(name).to_dicts()]))
        writer.sync()
        for length in (timedelta(minutes=10), HOUR, timedelta(days=2)):
            steps = LoadHistory(tmp_path / "lake").steps(START, START + length)
            load = load_over_time(steps, "user", {}, Buckets(AT, 600, 1), 9)
            assert load.sessions == pytest.approx(2.0, rel=0.01)


def test_a_lake_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no lake"):
        LoadHistory(tmp_path).steps(START, START + HOUR)


def test_texts_of_statements_are_found(tmp_path: Path) -> None:
    told = [{"ts": START, "interval_s": 1.0, "statement_id": "it's", "text": "select 1"}]
    lake = written(tmp_path / "lake", Dataset.from_rows(statement=told))
    assert LoadHistory(lake).texts(["it's", "8"], START + HOUR) == {"it's": "select 1"}
    assert LoadHistory(lake).cpus(START + HOUR) is None
