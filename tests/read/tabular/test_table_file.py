"""Tables in Parquet and Arrow files."""

import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from doctord.errors import UserError
from doctord.read.formats import Reading, read_file
from doctord.read.moments import ZONE_ASSUMED
from oracle_files import frame
from shared import CORPUS, sample

pytestmark = pytest.mark.slow

START = datetime(2024, 5, 30, 10, tzinfo=UTC)
METRICS = {
    "time": [START, START + timedelta(seconds=5), START + timedelta(seconds=10)],
    "case": ["a", "a", "b"],
    "total_cpu_usage.usr": [10.0, 20.0, 30.0],
    "memory_usage.buff": [1.0, 2.0, None],
    "memory_usage.cach": [10.0, 20.0, 30.0],
    "mysql5_conn.Act": [1, 2, 3],
    "orders": [1.5, float("nan"), 2.5],
    "abnormal": [False, True, None],
}


def read_table(tmp_path: Path, columns: dict[str, object], form: str = "parquet", zone: str | None = "UTC") -> Reading:
    table, file = pa.table(columns), tmp_path / f"table.{form}"
    if form == "parquet":
        pq.write_table(table, file)
    else:
        opened = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
        with opened(file, table.schema) as written:
            written.write_table(table)
    os.utime(file, (1000, 1000))
    return read_file(file, zone=zone)


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream"])
def test_a_wide_table_becomes_statistics_and_the_hosts_tables(tmp_path: Path, form: str) -> None:
    reading = read_table(tmp_path, METRICS, form)
    found = frame(reading, "statistic").sort("name", "ts")
    assert found.select("component", "name", "entity", "value", "interval_s").rows() == [
        ("table", "abnormal", "a", 0.0, 5.0),
        ("table", "abnormal", "a", 1.0, 5.0),
        ("mysql", "mysql5_conn.Act", "a", 1.0, 5.0),
        ("mysql", "mysql5_conn.Act", "a", 2.0, 5.0),
        ("mysql", "mysql5_conn.Act", "b", 3.0, 5.0),
        ("table", "orders", "a", 1.5, 5.0),
        ("table", "orders", "b", 2.5, 5.0),
    ]
    assert frame(reading, "cpu").select("host", "cpu", "usr_pct").rows() == [
        ("a", None, 10.0),
        ("a", None, 20.0),
        ("b", None, 30.0),
    ]
    assert frame(reading, "memory")["page_cache_bytes"].to_list() == [11, 22, None]
    assert frame(reading, "cpu")["ts"].to_list() == METRICS["time"]


def test_a_column_says_the_host(tmp_path: Path) -> None:
    columns = {"ts": [START], "Hostname": ["db1"], "case": ["a"], "total_cpu_usage.usr": [1.0], "orders": [2.0]}
    reading = read_table(tmp_path, columns)
    assert frame(reading, "cpu")["host"].to_list() == ["db1"]
    assert frame(reading, "statistic").select("host", "entity").rows() == [("db1", "a")]


def test_a_table_of_the_dataset_is_taken_as_such(tmp_path: Path) -> None:
    columns = {"ts": [START], "host": ["db1"], "device": ["sda"], "reads_per_s": [5], "util_pct": [1.5]}
    reading = read_table(tmp_path, columns)
    assert frame(reading, "disk").select("ts", "host", "device", "reads_per_s", "util_pct", "writes_per_s").rows() == [
        (START, "db1", "sda", 5.0, 1.5, None)
    ]


def test_a_column_of_another_type_is_left_out(tmp_path: Path) -> None:
    reading = read_table(tmp_path, {"ts": [START], "device": ["sda"], "reads_per_s": ["many"]})
    assert frame(reading, "disk")["reads_per_s"].to_list() == [None]
    assert reading.notes == ["column reads_per_s is not of the type that the table disk has: it is left out"]


@pytest.mark.parametrize(
    "times",
    [
        [1717063200, 1717063201],
        [1717063200.0, 1717063201.0],
        [1717063200000, 1717063201000],
        [1717063200000000, 1717063201000000],
        [1717063200000000000, 1717063201000000000],
        ["2024-05-30 10:00:00", "2024-05-30 10:00:01"],
        [datetime(2024, 5, 30, 10), datetime(2024, 5, 30, 10, 0, 1)],  # noqa: DTZ001 - without a zone
    ],
)
def test_every_way_to_tell_the_time(tmp_path: Path, times: list[object]) -> None:
    found = frame(read_table(tmp_path, {"time": times, "orders": [1.0, 2.0]}), "statistic")
    assert found["ts"].to_list() == [START, START + timedelta(seconds=1)]
    assert set(found["interval_s"]) == {1.0}


def test_times_without_a_zone_are_said_to_be_utc(tmp_path: Path) -> None:
    assert read_table(tmp_path, {"day": [date(2024, 5, 30)], "orders": [1]}, zone=None).notes == [ZONE_ASSUMED]


def test_seconds_from_the_start_are_put_one_run_after_the_other(tmp_path: Path) -> None:
    columns = {"second": [0, 1, 2, 0, 1, 5], "case": ["a", "a", "a", "a", "a", "b"], "orders": [1, 2, 3, 4, 5, 6]}
    reading = read_table(tmp_path, columns)
    found = frame(reading, "statistic")["ts"].dt.epoch("s").to_list()
    assert found == [995, 996, 997, 998, 999, 1000]  # the file was written at 1000
    assert len(reading.notes) == 2


def test_a_table_without_times_or_figures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has not a column of times"):
        read_table(tmp_path, {"orders": [1.0]})
    with pytest.raises(UserError, match="has not a column of figures"):
        read_table(tmp_path, {"ts": [START], "case": ["a"]})


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "table.parquet"
    pq.write_table(pa.table(METRICS), file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(UserError, match="cannot be read"):
        read_file(file)


def test_dbsherlock_s_columns_are_those_of_the_dataset() -> None:
    file = sample(CORPUS / "dbsherlock/tpcc16_train.parquet")
    reading, table = read_file(file), pq.read_table(file)
    cpu = frame(reading, "cpu")
    whole = cpu.filter(pl.col("cpu").is_null())
    assert whole["usr_pct"].mean() == pytest.approx(pc.mean(table["AvgCpuUser"]).as_py())
    assert cpu.filter(cpu=2)["sys_pct"].mean() == pytest.approx(pc.mean(table["cpu_sys (core #3)"]).as_py())
    writes = frame(reading, "disk")["writes_per_s"]
    assert (writes - writes.round()).abs().max() < 1e-6  # whole numbers, as requests of a second are
    rows = frame(reading, "statistic").filter(name="dbmsThreadsRunning")
    assert rows.height == table.num_rows
    assert set(rows["component"]) == {"mysql"}
    assert rows["entity"].n_unique() == len(set(table["case"].to_pylist()))
    assert set(rows["interval_s"]) == {1.0}
    assert not whole.select("ts", "host").is_duplicated().any()


@pytest.mark.parametrize("name", ["mysql_32_128", "mysql_64_256"])
def test_dbpa_s_columns_are_those_of_dstat(name: str) -> None:
    file = sample(CORPUS / f"dbpa/{name}.parquet")
    reading, table = read_file(file, zone="UTC"), pq.read_table(file)
    for of, column, theirs in (
        ("cpu", "usr_pct", "total_cpu_usage.usr"),
        ("disk", "write_bytes_per_s", "dsk/total.writ"),
        ("network", "rx_bytes_per_s", "net/total.recv"),
        ("memory", "free_bytes", "memory_usage.free"),
    ):
        assert frame(reading, of)[column].mean() == pytest.approx(pc.mean(table[theirs]).as_py()), column
    assert set(frame(reading, "cpu")["interval_s"]) == {5.0}
    assert reading.skipped_lines == 0
    assert reading.notes == []
