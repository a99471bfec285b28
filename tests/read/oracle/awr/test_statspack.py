"""Statspack reports of 8i to 11g: time in hundredths and seconds, background waits taken off, statements by hash."""

import polars as pl
import pytest

from doctord.analyse.time import time_model
from doctord.dataset.dataset import Dataset
from doctord.read.formats import read_file
from reading import SAMPLES

NINE, EIGHT = SAMPLES / "statspack.9i.lst", SAMPLES / "statspack.8i.lst"


@pytest.fixture(scope="module")
def nine() -> Dataset:
    reading = read_file(NINE)
    assert (reading.format, reading.skipped_lines) == ("Statspack report", 0)
    return Dataset.from_batches(reading.batches)


def value(dataset: Dataset, name: str, entity: str | None = None) -> float:
    rows = dataset.frame("statistic").filter((pl.col("name") == name) & pl.col("entity").eq_missing(pl.lit(entity)))
    (found,) = rows["value"].to_list()
    return float(found)


def wait(dataset: Dataset, event: str, kind: str = "foreground") -> dict[str, object]:
    (row,) = dataset.frame("wait").filter((pl.col("event") == event) & (pl.col("kind") == kind)).to_dicts()
    return row


def test_whom_it_is_about_and_when(nine: Dataset) -> None:
    row = wait(nine, "log file sync")
    assert (row["db"], row["instance"], row["host"], row["interval_s"]) == ("oracle:SHOP", "shop", "db1", 1800.0)
    assert str(row["ts"]) == "2003-05-14 09:30:00+00:00"


def test_background_waits_are_taken_off_all_waits(nine: Dataset) -> None:
    reads = wait(nine, "db file sequential read")
    assert reads["waits_per_s"] == pytest.approx(400_000 / 1800)
    assert reads["average_active_sessions"] == pytest.approx(3200 / 1800)
    assert reads["avg_wait_ms"] == pytest.approx(8.0)
    assert wait(nine, "db file sequential read", "background")["waits_per_s"] == pytest.approx(50_000 / 1800)
    events = nine.frame("wait").filter(pl.col("kind") == "foreground")["event"].to_list()
    assert "log file parallel write" not in events


def test_classes_are_looked_up_and_timeouts_counted(nine: Dataset) -> None:
    sync = wait(nine, "log file sync")
    assert (sync["wait_class"], sync["timeouts_per_s"]) == ("Commit", pytest.approx(90 / 1800))
    assert wait(nine, "SQL*Net message from client")["wait_class"] == "Idle"


def test_cpu_before_there_was_a_time_model(nine: Dataset) -> None:
    cpu = wait(nine, "CPU")
    assert (cpu["wait_class"], cpu["average_active_sessions"]) == ("CPU", 1.0)
    model = time_model(nine)
    assert model.share("CPU") == pytest.approx(1800 / (1800 + 3200 + 900 + 1), rel=1e-3)


def test_statements_by_hash_value_from_all_orders(nine: Dataset) -> None:
    rows = {row["statement_id"]: row for row in nine.frame("statement").to_dicts()}
    first = rows["1234567891"]
    assert (first["calls_per_s"], first["elapsed_s_per_s"], first["read_blocks_per_s"]) == (1.0, 1.0, 100.0)
    assert first["text"] == "SELECT name, street, number, town, country FROM customers WHERE card = ? AND expires > ?"
    assert value(nine, "v$sqlstats.gets", "987654321") == 2000.0


def test_sections_beyond_the_waits(nine: Dataset) -> None:
    assert value(nine, "v$sysstat.redo size") == 100_000.0
    assert value(nine, "v$sysstat.physical reads") == 300.0  # only the load profile has it
    assert value(nine, "v$sga.Shared Pool Size") == 256 * 1024 * 1024
    assert value(nine, "v$sga.Log Buffer") == 1024 * 1024
    assert value(nine, "instance_efficiency.Buffer Hit %") == 98.5
    assert value(nine, "load_profile.Rows per Sort") == 33.33
    assert value(nine, "tablespace_io.reads", "SHOP_DATA") == 250.0
    assert value(nine, "v$enqueue_stat.waits", "TX") == 0.01
    assert value(nine, "v$enqueue_stat.avg_wait_ms", "TX") == 500.0
    assert value(nine, "v$latch.wait_time", "library cache") == pytest.approx(12 / 1800)
    assert value(nine, "v$buffer_pool_statistics.hit_pct", "D") == 98.5
    settings = dict(nine.frame("setting").select("name", "value").iter_rows())
    assert settings["open_cursors"] == "500"
    assert settings["background_dump_dest"] == "/u01/app/oracle/admin/shop/bdump/and/further"


def test_hundredths_of_a_second_of_8i() -> None:
    dataset = Dataset.from_batches(read_file(EIGHT).batches)
    reads = wait(dataset, "db file sequential read")
    assert (reads["average_active_sessions"], reads["avg_wait_ms"], reads["waits_per_s"]) == (1.0, 10.0, 100.0)
    assert wait(dataset, "log file sync")["timeouts_per_s"] == 0.01
    assert wait(dataset, "CPU")["average_active_sessions"] == 0.5
    assert value(dataset, "v$sga.shared_pool_size") == 100_000_000
