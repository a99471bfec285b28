"""A time before each line of what a tool printed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from doctord.read.formats import Reading, read_file
from read.texts import dataset_of_sample
from reading import frame, picked, read_sample

NAME = "what a tool printed, with a time before each line"
AT = datetime(2024, 5, 30, 10, 0, tzinfo=UTC)
FREE = (
    "               total        used        free      shared  buff/cache   available\n"
    "Mem:         7900000     2000000     {free}       10000     2900000     5500000\n"
    "Swap:        2000000           0     2000000\n"
)


def stamped(folder: Path, first: str, second: str, **told: object) -> Reading:
    """Two reports of free, each line behind a stamp."""
    texts = ((first, FREE.format(free=3000000)), (second, FREE.format(free=2000000)))
    file = folder / "free.txt"
    file.write_text("".join(f"{stamp}{line}\n" for stamp, text in texts for line in text.splitlines()))
    return read_file(file, **told)  # type: ignore[arg-type]


def test_iostat_has_the_time_of_its_lines() -> None:
    reading = read_sample("stamped_lines.iostat.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert picked(reading, "disk", "ts", "interval_s", "host", "device", "writes_per_s", "request_ms") == [
        (AT + timedelta(seconds=15), 15.0, "db1", "sda", 200.0, 6.08),
        (AT + timedelta(seconds=31), 16.0, "db1", "sda", 160.0, 2.40),
    ]


def test_logger_tells_the_host_and_no_year() -> None:
    reading = read_sample("stamped_lines.logger.log", zone="UTC")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    rows = picked(reading, "cpu", "ts", "interval_s", "host", "run_queue", "idle_pct")
    assert [row[1:] for row in rows] == [(5.0, "db2", 3.0, 40.0), (5.0, "db2", 2.0, 60.0)]
    assert {(row[0].month, row[0].day, row[0].hour) for row in rows} == {(5, 30, 10)}


def test_sar_keeps_its_own_times_in_the_zone_of_the_stamps() -> None:
    reading = read_sample("stamped_lines.sar.txt")
    assert picked(reading, "cpu", "ts", "host", "usr_pct") == [
        (AT + timedelta(hours=-2, seconds=5), "db3", 5.0),
        (AT + timedelta(hours=-2, seconds=10), "db3", 55.0),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[2024-05-30 10:00:00.250] ", "[2024-05-30 10:00:05.250] "),
        ("2024-05-30T12:00:00,25+02:00 ", "2024-05-30T12:00:05,25+02:00 "),
        ("1717063200.25 ", "1717063205.25 "),
        ("05/30/2024 10:00:00.25: ", "05/30/2024 10:00:05.25: "),
    ],
)
def test_stamps_with_a_date(tmp_path: Path, first: str, second: str) -> None:
    rows = picked(stamped(tmp_path, first, second, zone="UTC"), "memory", "ts", "free_bytes")
    at = AT + timedelta(milliseconds=250)
    assert rows == [(at, 3000000 * 1024), (at + timedelta(seconds=5), 2000000 * 1024)]


def test_a_date_in_words(tmp_path: Path) -> None:
    reading = stamped(tmp_path, "Thu May 30 10:00:00 UTC 2024 ", "Thu May 30 10:00:05 UTC 2024 ")
    assert picked(reading, "memory", "ts") == [(AT,), (AT + timedelta(seconds=5),)]


def test_a_time_of_day_has_the_day_that_the_user_tells(tmp_path: Path) -> None:
    reading = stamped(tmp_path, "10:00:00 ", "10:00:05 ", day=AT.date(), zone="UTC")
    assert picked(reading, "memory", "ts") == [(AT,), (AT + timedelta(seconds=5),)]


def test_a_stamp_that_is_none_is_told(tmp_path: Path) -> None:
    reading = stamped(tmp_path, "2024-05-30 10:00:00 ", "2024-05-30 10:00:65 ")
    assert {skipped.reason for skipped in reading.skipped} == {"the time before the line is none"}
    assert frame(reading, "memory")["ts"].null_count() == 0


def test_mysqls_error_log_tells_its_own_times() -> None:
    found = dataset_of_sample("stamped_lines.mysql_error.log", zone="UTC")
    assert found.frame("event")["ts"].to_list() == [datetime(2026, 11, 20, 22, 44, s, tzinfo=UTC) for s in (50, 52)]
    assert found.frame("statistic")["db"].unique().to_list() == ["mysql:3306"]
