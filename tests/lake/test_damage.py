"""Damaged and foreign files: named, left out, and everything else goes on."""

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from doctord.dataset.rows import micros, rows
from doctord.lake.query import Lake
from doctord.lake.writer import LakeWriter
from lake_rows import segments, statistic, values

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MANY = 150_000  # rows: three row groups
ARABIC = "".join(chr(0x660 + int(digit)) for digit in "20261120")


def sealed(path: Path) -> Path:
    (file,) = path.glob("sealed/statistic/*/*.parquet")
    return file


def without_checks(file: Path) -> None:
    """As a doctord of before wrote it."""
    table = pq.read_table(file)
    pq.write_table(table.replace_schema_metadata(None), file)


def test_a_damaged_row_group_costs_itself_and_is_named(path: Path) -> None:
    with LakeWriter(path) as writer:
        for begin in range(0, MANY, 10_000):
            writer.append(
                rows("statistic", [{"ts": micros(NOON) + n, "value": n / 7} for n in range(begin, begin + 10_000)])
            )
            writer.sync()
    file = sealed(path)
    groups = pq.ParquetFile(file).metadata
    assert groups.num_row_groups == 3
    middle = groups.row_group(1).column(5).dictionary_page_offset or groups.row_group(1).column(5).data_page_offset
    content = bytearray(file.read_bytes())
    content[middle + 100] ^= 1
    file.write_bytes(content)
    lake = Lake(path)
    found = lake.dataset(NOON - timedelta(seconds=1), NOON + timedelta(hours=1)).frame("statistic").height
    assert found == MANY - groups.row_group(1).num_rows
    [problem] = lake.problems
    assert str(file) in problem
    assert f"{groups.row_group(1).num_rows} of {MANY} rows are damaged" in problem


def test_files_of_a_lake_of_before_are_read_and_the_damaged_one_named(path: Path) -> None:
    with LakeWriter(path, rotate_bytes=1) as writer:
        for hour in range(3):
            writer.append(statistic(*range(hour * 10_000, hour * 10_000 + 5000), ts=micros(NOON) + hour))
            writer.sync()
    files = sorted(path.glob("sealed/statistic/*/*.parquet"))
    for file in files:
        without_checks(file)
    content = bytearray(files[1].read_bytes())
    content[200 : len(content) // 2] = bytes(len(content) // 2 - 200)
    files[1].write_bytes(content)
    lake = Lake(path)
    dataset = lake.dataset(NOON - timedelta(hours=1), NOON + timedelta(hours=1))
    assert dataset.frame("statistic").height == 10_000
    [problem] = lake.problems
    assert str(files[1]) in problem


def test_rows_are_found_by_their_own_time_whatever_the_clock_said(path: Path) -> None:
    long_ago, to_come = NOON - timedelta(days=9000), NOON + timedelta(days=9000)
    with LakeWriter(path) as writer:
        for moment in (NOON, long_ago, to_come, NOON + timedelta(seconds=1)):
            writer.append(statistic(1.0, ts=micros(moment)))
    for moment in (NOON, long_ago, to_come):
        dataset = Lake(path).dataset(moment - timedelta(seconds=1), moment + timedelta(seconds=1))
        assert dataset.frame("statistic").height == (2 if moment == NOON else 1)


def test_a_batch_that_crosses_midnight_lies_under_both_days(path: Path) -> None:
    midnight = datetime(2026, 11, 21, tzinfo=UTC)
    seconds = (-2, -1, 0, 1)
    with LakeWriter(path) as writer:
        writer.append(
            rows("statistic", [{"ts": micros(midnight + timedelta(seconds=s)), "value": float(s)} for s in seconds])
        )
    assert sorted(day.name for day in path.glob("sealed/statistic/*")) == ["2026-11-20", "2026-11-21"]
    assert values(path) == [-2, -1, 0, 1]


def _not_a_number(file: Path) -> None:
    pq.write_table(pa.table({"ts": pa.array([NOON.replace(tzinfo=None)]), "value": ["much"]}), file)


def _without_times(file: Path) -> None:
    pq.write_table(pa.table({"value": [1.0]}), file)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, _not_a_number, _without_times, Path.touch])
@pytest.mark.parametrize(
    "name", ["20261120T110000Z-0000abcd", "20260230T990000Z-0000abcd", f"{ARABIC}T110000Z-0000abcd"]
)
def test_what_is_no_file_of_ours_stops_nothing(path: Path, make: object, name: str) -> None:
    assert callable(make)
    with LakeWriter(path) as writer:
        writer.append(statistic(1, ts=micros(NOON)))
    foreign = [path / "open" / f"{name}.segment", sealed(path).with_name(f"{name}.parquet")]
    for file in foreign:
        make(file)
    lake = Lake(path)
    dataset = lake.dataset(NOON - timedelta(hours=1), NOON + timedelta(hours=1))
    assert dataset.frame("statistic")["value"].to_list() == [1]
    is_born_empty = make is Path.touch and name.startswith("20261120")  # a crash may leave such a segment
    for file in foreign[is_born_empty:]:
        assert any(str(file) in problem for problem in lake.problems), lake.problems
    with LakeWriter(path, rotate_bytes=1) as writer:  # the sealing thread lives
        writer.append(statistic(2, ts=micros(NOON)))
        writer.sync()
        writer.append(statistic(3, ts=micros(NOON)))
    assert values(path) == [1, 2, 3]


def test_a_damaged_segment_is_kept_aside_when_its_rest_is_sealed(path: Path) -> None:
    writer = LakeWriter(path)
    writer.append(statistic(1))
    writer.sync()
    writer.append(statistic(2))
    writer.sync()
    [segment] = segments(path)
    crashed = segment.read_bytes()
    writer.close()
    shutil.rmtree(path / "sealed")
    content = bytearray(crashed)
    content[60] ^= 1
    segment.write_bytes(content)
    LakeWriter(path).close()
    assert values(path) == [2]
    assert (path / "set_aside" / "open" / segment.name).read_bytes() == content


def test_of_a_damaged_file_whose_segment_is_still_there_the_segment_counts(path: Path) -> None:
    writer = LakeWriter(path)
    writer.append(statistic(1, 2))
    writer.sync()
    [segment] = segments(path)
    kept = segment.read_bytes()
    writer.close()
    segment.write_bytes(kept)
    content = bytearray(sealed(path).read_bytes())
    content[20] ^= 1
    sealed(path).write_bytes(content)
    assert values(path) == [1, 2]
