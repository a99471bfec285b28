"""What is read without SQL is what SQL would have read."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import TABLES
from doctord.lake.place import LakePaths
from doctord.lake.query import Lake
from doctord.lake.whole_tables import rows_between
from doctord.lake.writer import LakeWriter
from lake_rows import statistic

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def files(path: Path, table: str) -> list[Path]:
    return LakePaths(path).parquet(table)


def test_sealed_and_unsealed_rows_are_those_of_a_query_in_its_order(path: Path) -> None:
    with LakeWriter(path) as writer:
        for minute in range(4):
            writer.append(statistic(minute, ts=micros(NOON + timedelta(minutes=minute))))
    with LakeWriter(path) as writer:
        writer.append(statistic(9, ts=micros(NOON + timedelta(minutes=2))))
        writer.sync()
        lake, interval = Lake(path), (NOON, NOON + timedelta(minutes=2))
        read = lake.dataset(*interval).frame("statistic")
        queried = lake.dataset(*interval, {"statistic": "1 = 1"}).frame("statistic")
    assert read["value"].to_list() == [9, 1, 2]
    assert read.equals(queried)


def test_words_of_an_earlier_vocabulary_are_those_of_today(path: Path) -> None:
    with LakeWriter(path) as writer:
        writer.append(rows("session", [{"ts": micros(NOON), "sid": 1, "kind": "client backend"}]))
    read = rows_between("session", files(path, "session"), [], NOON - HOUR, NOON)
    assert read is not None
    assert read["kind"].to_list() == ["client"]


def test_a_file_with_other_columns_is_left_to_sql(path: Path) -> None:
    with LakeWriter(path) as writer:
        writer.append(statistic(1, ts=micros(NOON)))
    (whole,) = files(path, "statistic")
    older = pq.read_table(whole).drop_columns(["unit"]).replace_schema_metadata(None)
    pq.write_table(older, whole)
    assert rows_between("statistic", [whole], [], NOON - HOUR, NOON) is None
    assert Lake(path).dataset(NOON - HOUR, NOON).frame("statistic")["value"].to_list() == [1]


@pytest.mark.parametrize("content", [b"", b"PAR1 and nothing else PAR1"])
def test_what_cannot_be_read_is_left_to_sql_which_says_so(path: Path, content: bytes) -> None:
    broken = path / "broken.parquet"
    path.mkdir()
    broken.write_bytes(content)
    assert rows_between("cpu", [broken], [], NOON - HOUR, NOON) is None
    assert rows_between("cpu", [path / "gone.parquet"], [], NOON - HOUR, NOON) is None


def test_rows_of_two_vocabularies_that_are_not_sealed_are_left_to_sql() -> None:
    told = [pl.DataFrame({"ts": [NOON], name: [1.0]}).to_arrow().to_batches()[0] for name in "ab"]
    assert rows_between("cpu", [], told, NOON - HOUR, NOON) is None


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_table_is_read_like_this(path: Path, table: str) -> None:
    with LakeWriter(path) as writer:
        writer.append(rows(table, [{"ts": micros(NOON)}]))
    read = rows_between(table, files(path, table), [], NOON - HOUR, NOON)
    assert read is not None
    assert read.equals(Lake(path).dataset(NOON - HOUR, NOON, {table: "1 = 1"}).frame(table))


def test_what_lasts_is_what_sql_says_of_settings_and_of_what_was_not_measured(path: Path) -> None:
    def setting(minute: int, value: str, line: int | None = None, db: str | None = None) -> Batch:
        told = {"ts": micros(NOON + timedelta(minutes=minute)), "name": "work_mem", "value": value}
        return rows("setting", [told | {"component": "postgresql", "db": db, "line": line}])

    def event(minute: int, kind: str, subject: str) -> Batch:
        return rows("event", [{"ts": micros(NOON + timedelta(minutes=minute)), "kind": kind, "subject": subject}])

    with LakeWriter(path) as writer:
        for told in (setting(1, "a", 3), setting(1, "b", 9), setting(1, "c", 4), setting(2, "d", db="x")):
            writer.append(told)
        writer.append(event(1, "not measured", "of before"))
        writer.append(event(2, "recording", "lake"))
        writer.append(event(2, "not measured", "of it"))
    with LakeWriter(path) as writer:
        for told in (setting(5, "e", db="x"), setting(6, "f", db="x"), setting(9, "g"), event(5, "restart", "server")):
            writer.append(told)
    lake = Lake(path)
    for since, until, values in ((3, 4, "bd"), (3, 6, "bef"), (0, 1, "acb"), (6, 9, "fg")):
        interval = (NOON + timedelta(minutes=since), NOON + timedelta(minutes=until))
        read = lake.dataset(*interval)
        queried = lake.dataset(*interval, {"setting": "1 = 1", "event": "1 = 1"})
        assert read.frame("setting").equals(queried.frame("setting"))
        assert read.frame("event").equals(queried.frame("event"))
        assert "".join(read.frame("setting")["value"]) == values
