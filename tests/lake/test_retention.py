from datetime import UTC, datetime, timedelta
from pathlib import Path

from doctord.lake.place import LakePaths, new_name
from doctord.lake.retention import Retention
from doctord.lake.writer import LakeWriter
from lake_rows import statistic, values


def sealed(path: Path, age: timedelta, size: int = 1000, table: str = "cpu") -> Path:
    begun = datetime.now(UTC) - age
    file = path / "sealed" / table / f"{begun:%Y-%m-%d}" / f"{new_name(begun)}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(bytes(size))
    return file


def test_what_is_too_old_goes_with_its_empty_day(path: Path) -> None:
    old, young = sealed(path, timedelta(days=8)), sealed(path, timedelta(days=6))
    Retention(keep=timedelta(days=7))(LakePaths(path))
    assert not old.parent.exists()
    assert young.exists()


def test_a_file_whose_last_rows_are_young_enough_stays(path: Path) -> None:
    begun_before = sealed(path, timedelta(days=7, minutes=50))
    Retention(keep=timedelta(days=7))(LakePaths(path))
    assert begun_before.exists()


def test_the_oldest_of_all_tables_go_when_the_lake_is_too_large(path: Path) -> None:
    files = [sealed(path, timedelta(hours=9 - hour), table=("cpu", "disk")[hour % 2]) for hour in range(5)]
    segment = path / "open" / "20200101T000000Z-00000000.segment"
    segment.parent.mkdir()
    segment.write_bytes(bytes(1000))
    Retention(max_bytes=4000)(LakePaths(path))
    assert [file.exists() for file in files] == [False, False, True, True, True]
    assert segment.exists(), "open segments never go"


def test_what_was_told_once_stays(path: Path) -> None:
    told = [sealed(path, timedelta(days=400), table=table) for table in ("setting", "event")]
    Retention(keep=timedelta(days=7), max_bytes=0)(LakePaths(path))
    assert all(file.exists() for file in told)


def test_without_limits_nothing_goes(path: Path) -> None:
    file = sealed(path, timedelta(days=4000))
    Retention()(LakePaths(path))
    assert file.exists()


def test_foreign_files_are_left_alone(path: Path) -> None:
    file = sealed(path, timedelta(days=1)).with_name("notes.parquet")
    file.write_bytes(bytes(5000))
    Retention(keep=timedelta(0), max_bytes=0)(LakePaths(path))
    assert file.exists()


def test_a_writer_keeps_within_its_size(path: Path) -> None:
    with LakeWriter(path, rotate_bytes=1, maintenance=Retention(max_bytes=30_000)) as writer:
        for value in range(20):
            writer.append(statistic(value))
            writer.sync()
    kept = values(path)
    assert 0 < len(kept) < 20
    assert kept == list(range(20))[-len(kept) :]
    assert sum(file.stat().st_size for file in path.glob("sealed/*/*/*")) <= 30_000
