"""AWR reports in text: the figures of the HTML report, names made whole; and one hour of a database in four kinds."""

import os
from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.read.formats import read_file
from reading import SAMPLES

SAMPLE = SAMPLES / "awr_text.11g.txt"
FOLDER = os.environ.get("DOCTORD_APRESS")
needs_folder = pytest.mark.skipif(not FOLDER, reason="DOCTORD_APRESS names no folder with the reports of one hour")
# Figures that one decimal more or less changes, and those of latches whose names are cut off.
ROUNDED = r"^v\$latch|_pct|_factor|factr|sleeps_per_miss|^instance_efficiency|^memory|^shared_pool|^snapshot|advice"


@pytest.fixture(scope="module")
def report() -> Dataset:
    reading = read_file(SAMPLE)
    assert (reading.format, reading.skipped_lines) == ("AWR report (text)", 0)
    return Dataset.from_batches(reading.batches)


def value(dataset: Dataset, name: str, entity: str | None = None) -> float:
    rows = dataset.frame("statistic").filter((pl.col("name") == name) & pl.col("entity").eq_missing(pl.lit(entity)))
    (found,) = rows["value"].to_list()
    return float(found)


def test_waits_with_whole_names_and_their_classes(report: Dataset) -> None:
    waits = report.frame("wait").select("kind", "wait_class", "event", "waits_per_s", "average_active_sessions").rows()
    assert waits == [
        ("foreground", "Configuration", "log file switch (private strand flush incomplete)", 10.0, 1.0),
        ("foreground", "User I/O", "db file sequential read", 50.0, 0.4),
        ("foreground", "Idle", "SQL*Net message from client", 100.0, 20.0),
        ("background", "System I/O", "log file parallel write", 10.0, 0.1),
        ("foreground", "CPU", "CPU", None, 0.5),
        ("background", "CPU", "CPU", None, 0.01),
    ]
    assert value(report, "reconcile.unaccounted") == pytest.approx(2.0 - 0.5 - 1.4)


def test_thousands_that_a_histogram_cuts_off(report: Dataset) -> None:
    counts = report.frame("latency").select("subject", "le_us", "count").rows()
    assert counts == [
        ("db file sequential read", 1000.0, 18_000),
        ("db file sequential read", 8000.0, 90_000),
        ("db file sequential read", 16000.0, 72_000),
        ("log file parallel write", 16000.0, 36_000),
    ]


def test_statements_over_two_pages(report: Dataset) -> None:
    rows = report.frame("statement").select("statement_id", "calls_per_s", "elapsed_s_per_s", "cpu_s_per_s").rows()
    assert rows == [("0abcdefghijk1", 10.0, 1.0, 0.1), ("0abcdefghijk2", 1.0, 0.1, 0.05)]
    assert report.frame("statement")["text"][0] == "select name from customers where card = ?"


def test_pairs_and_rows_of_two_lines(report: Dataset) -> None:
    assert value(report, "v$sysstat.cell physical IO interconnect bytes") == 1_000_000.0
    assert value(report, "v$sysstat.logons current") == 60
    assert value(report, "v$sga.Log Buffer") == 9508 * 1024
    assert value(report, "memory.SGA use") == 2048 * 1024 * 1024
    assert value(report, "instance_cpu.%Busy CPU") == 98.4
    assert value(report, "instance_efficiency.Buffer Hit %") == 99.86
    assert value(report, "file_io.reads", "/u02/oradata/SHOP/shop_data_01.dbf") == 50.0
    assert value(report, "v$iostat_function_detail.writes", "LGWR (Log File)") == 10.0


def read(name: str) -> Dataset:
    return Dataset.from_batches(read_file(Path(FOLDER or "") / name).batches)


def same(table: str, key: list[str], column: str, one: Dataset, other: Dataset, *, step: float = 1e-9) -> None:
    """All rows of both, to two thousandths: the interval's length is worked out of figures that text rounds more."""
    both = one.frame(table).join(other.frame(table), on=key, how="full", nulls_equal=True, suffix="_other")
    off = (pl.col(column) - pl.col(f"{column}_other")).abs() > 0.002 * pl.col(column).abs() + step
    lost = pl.col(column).is_null() != pl.col(f"{column}_other").is_null()
    assert both.filter(off | lost).select(*key, column, f"{column}_other").rows() == []


@needs_folder
@pytest.mark.parametrize("hour", ["1830_1845", "1930_1945"])
def test_text_gives_what_html_gives(hour: str) -> None:
    html, text = read(f"awr_{hour}.html"), read(f"awr_{hour}.txt")
    same("wait", ["event", "kind", "wait_class"], "average_active_sessions", html, text)
    same("wait", ["event", "kind", "wait_class"], "waits_per_s", html, text)
    same("latency", ["subject", "gt_us", "le_us"], "count", html, text)
    same("statement", ["statement_id"], "elapsed_s_per_s", html, text, step=0.051 / 900)
    key = ["name", "entity", "ts"]
    plain = ~pl.col("name").str.contains(ROUNDED)
    both = html.frame("statistic").filter(plain).join(text.frame("statistic"), on=key, nulls_equal=True, suffix="_text")
    assert len(both) > 0.95 * len(html.frame("statistic").filter(plain))
    step = 0.051 / html.frame("wait")["interval_s"][0]  # a tenth of what the whole interval holds
    off = (pl.col("value") - pl.col("value_text")).abs()
    per_second = pl.col("unit").str.ends_with("per_s")
    wrong = both.filter(
        off
        > pl.when(per_second)
        .then(pl.max_horizontal(0.051, step, 1e-5 * pl.col("value")))
        .otherwise(0.006 * pl.col("value"))
        + 0.051
    )
    assert (
        wrong.filter(~pl.col("unit_text").is_in(["bytes", "bytes_per_s"])).select(*key, "value", "value_text").rows()
        == []
    )
    bytes_off = wrong.filter(off > 0.12 * pl.col("value"))  # 37 MB and 37.4 MB
    assert bytes_off.select(*key, "value", "value_text").rows() == []


@needs_folder
@pytest.mark.parametrize("hour", ["1830_1845", "1930_1945"])
def test_statspack_of_the_same_hour_agrees(hour: str) -> None:
    """Its snapshots were taken half a minute apart from AWR's: large figures agree within four per cent."""
    awr, statspack = read(f"awr_{hour}.html").frame("wait"), read(f"sp_{hour}.txt").frame("wait")
    large = pl.col("average_active_sessions") > 0.03
    both = awr.filter(large).join(statspack, on=["event", "kind"], how="left", suffix="_sp")
    assert both.filter(pl.col("waited_s_per_s_sp").is_null())["event"].to_list() == []
    for column in ("average_active_sessions", "waits_per_s"):
        off = (both[column] - both[f"{column}_sp"]).abs() / both[column]
        assert (off.max() or 0.0) < 0.04, both.select("event", "kind", column, f"{column}_sp")
    assert both["wait_class"].to_list() == both["wait_class_sp"].to_list()


@needs_folder
def test_ash_of_a_quarter_of_an_hour_agrees() -> None:
    """What was sampled is what was counted: shares of database time within two points."""
    counted, sampled = read("awr_1930_1945.html").frame("wait"), read("ash_1930_1945.txt").frame("wait")
    foreground = counted.filter((pl.col("kind") == "foreground") & (pl.col("wait_class") != "Idle"))
    both = sampled.join(foreground, on=["event", "kind"], suffix="_awr")
    assert len(both) == len(sampled.filter(pl.col("kind") == "foreground"))
    waits = both.filter(pl.col("event") != "CPU")  # CPU in ASH holds the wait for one too
    assert ((waits["average_active_sessions"] - waits["waited_s_per_s_awr"]).abs() / 14).max() < 0.03


@needs_folder
def test_two_periods_compared_give_what_html_gives() -> None:
    html, text = read("awrd_1830_1845-1930_1945.html"), read("awrd_1830_1845-1930_1945.txt")
    rows = [
        {(row["event"], row["ts"]): row["average_active_sessions"] for row in dataset.frame("wait").to_dicts()}
        for dataset in (html, text)
    ]
    assert rows[0].keys() == rows[1].keys()
    assert {key for key, value in rows[0].items() if value != pytest.approx(rows[1][key], rel=0.06, abs=0.001)} == set()
