"""dstat's CSV: the columns of its plugins, and times that lack their year or are not there at all."""

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.read.collectors.dstat import _of_year
from doctord.read.formats import read_file
from doctord.read.tools.report import SINCE_BOOT_ALONE, SINCE_BOOT_LEFT_OUT
from latency_files import read_text
from reading import SAMPLES, figure, frame, picked, read_sample

CET = timezone(timedelta(hours=1))
MIDNIGHT = datetime(2019, 1, 1, tzinfo=CET)


def test_classic_across_a_new_year() -> None:
    reading = read_sample("dstat.classic.csv")
    assert (reading.format, reading.skipped_lines, reading.notes) == ("dstat", 0, [SINCE_BOOT_LEFT_OUT])
    assert picked(reading, "cpu", "ts", "interval_s", "usr_pct", "irq_pct", cpu=None) == [
        (MIDNIGHT - timedelta(seconds=10), 10.0, 40.0, 1.0),
        (MIDNIGHT, 10.0, 50.0, 1.0),
    ]
    assert picked(reading, "cpu", "usr_pct", cpu=0, ts=MIDNIGHT) == [(60.0,)]
    assert picked(reading, "disk", "read_bytes_per_s", "write_bytes_per_s", "util_pct", device="sda")[0] == (
        4096,
        8192,
        55.5,
    )
    assert picked(reading, "network", "rx_bytes_per_s", "tx_bytes_per_s", interface="eth0")[0] == (100.0, 200.0)
    assert picked(reading, "memory", "page_cache_bytes", "free_bytes", "swap_total_bytes", "swap_free_bytes")[0] == (
        520, 390, 200, 140,
    )  # fmt: skip
    assert figure(reading, "memory usage.used") == [1100.0, 1100.0]
    assert set(frame(reading, "cpu")["host"]) == {"db1"}


def test_dool() -> None:
    reading = read_sample("dstat.dool.csv")
    assert (reading.skipped_lines, reading.notes) == (0, [SINCE_BOOT_LEFT_OUT])
    at = datetime(2026, 11, 21, 9, 13, 17, tzinfo=UTC)
    assert picked(reading, "cpu", "usr_pct", "interrupts_per_s", "csw_per_s", "run_queue", ts=at) == [
        (95.98, 2020.0, 193.0, 1.0)
    ]
    assert picked(reading, "disk", "read_bytes_per_s", "reads_per_s", device="total", ts=at) == [(3145728.0, 30.0)]
    assert figure(reading, "load avg.1m") == [2.41, 2.41, 2.3]


def test_epoch() -> None:
    reading = read_sample("dstat.epoch.csv")
    assert [ts.timestamp() for ts in frame(reading, "memory")["ts"]] == [1795252400.186, 1795252401.187]
    assert set(frame(reading, "disk")["device"]) == {"vda"}


def test_without_times_the_command_line_tells_them() -> None:
    reading = read_sample("dstat.untimed.csv")
    begun = datetime(2026, 11, 21, 9, tzinfo=UTC)
    assert picked(reading, "cpu", "ts", "usr_pct", "interval_s") == [
        (begun + timedelta(seconds=5), 20.0, 5.0),
        (begun + timedelta(seconds=10), 30.0, 5.0),
    ]


def test_a_row_alone_is_since_boot(tmp_path: Path) -> None:
    lines = (SAMPLES / "dstat.classic.csv").read_text().splitlines()[:8]
    reading = read_text(tmp_path, "\n".join(lines))
    assert reading.notes == [SINCE_BOOT_ALONE]
    assert picked(reading, "cpu", "usr_pct", "interval_s", cpu=None) == [(1.0, None)]


@pytest.mark.parametrize("line", ["1,2,3", "31-13 00:00:00" + ",1" * 24, "nonsense"])
def test_rows_that_are_none_are_skipped(tmp_path: Path, line: str) -> None:
    reading = read_text(tmp_path, (SAMPLES / "dstat.classic.csv").read_text() + line + "\n")
    assert [skipped.line for skipped in reading.skipped] == [11]


@given(st.datetimes(min_value=datetime(2001, 1, 1), max_value=datetime(2090, 1, 1)), st.integers(0, 363))  # noqa: DTZ001
def test_years(begun: datetime, days: int) -> None:
    begun = begun.replace(microsecond=0)
    moment = begun + timedelta(days=days)
    if (moment.month, moment.day) != (2, 29):
        assert _of_year(f"{moment:%d-%m %H:%M:%S}", begun) == moment
        assert _of_year(f"{moment:%b-%d %H:%M:%S}", begun) == moment


def test_headings_may_be_numbers_and_row_locks_have_the_servers_name(tmp_path: Path) -> None:
    """--int names a column for each interrupt; a plugin asks MySQL for the row locks that are waited for."""
    heading = '"Dstat 0.7.3 CSV output"\n"Host:","db1",,,,"User:","root"\n\n'
    columns = '"epoch","interrupts",,,"mysql5 locks"\n"epoch","343","344","416","Locks"\n'
    text = f"{heading}{columns}1664061447,1,2,3,0\n1664061452,4,5,6,64\n"
    reading = read_text(tmp_path, text)
    assert reading.skipped_lines == 0
    assert figure(reading, "interrupts.344") == [5.0]
    assert figure(reading, "global_status.innodb_row_lock_current_waits") == [64.0]


def test_columns_without_their_groups() -> None:
    reading = read_sample("dstat.columns.csv", zone="UTC", day=date(2024, 5, 30))
    assert (reading.format, reading.skipped_lines) == ("dstat", 0)
    at = datetime(2024, 5, 30, 10, 0, 10, tzinfo=UTC)
    assert picked(reading, "cpu", "interval_s", "usr_pct", "idle_pct", "irq_pct", ts=at) == [(5.0, 54.7, 33.8, 3.0)]
    assert picked(reading, "memory", "free_bytes", "swap_total_bytes", "swap_free_bytes", ts=at) == [
        (22809317376, 25375535104, 25374486528)
    ]
    assert picked(reading, "disk", "device", "read_bytes_per_s", ts=at) == [("total", 4096.0)]
    assert picked(reading, "network", "rx_bytes_per_s", ts=at) == [(23830734.0,)]


def test_columns_without_groups_and_times_are_placed_by_the_file(tmp_path: Path) -> None:
    rows = "".join(f"{user},5,{95 - user},0,0,0\n" for user in (10, 20, 30))
    file = tmp_path / "dstat.csv"
    file.write_text("usr,sys,idl,wai,hiq,siq\n" + rows)
    reading = read_file(file, every_s=10.0)
    assert picked(reading, "cpu", "usr_pct", "interval_s") == [(20.0, 10.0), (30.0, 10.0)]


def test_what_stands_twice_could_be_of_two_disks(tmp_path: Path) -> None:
    text = '"epoch","usr","sys","idl","wai","read","writ","read","writ"\n'
    rows = "".join(f"{1717063200 + at},1,1,98,0,5,6,7,8\n" for at in range(3))
    reading = read_text(tmp_path, text + rows)
    assert frame(reading, "disk").is_empty()
    assert any("read, writ stand twice" in note for note in reading.notes)


def test_groups_without_a_title(tmp_path: Path) -> None:
    lines = (SAMPLES / "dstat.epoch.csv").read_text().splitlines(keepends=True)
    begins = next(at for at, line in enumerate(lines) if "total cpu usage" in line)
    reading = read_text(tmp_path, "".join(lines[begins:]))
    whole = read_sample("dstat.epoch.csv")
    assert picked(reading, "cpu", "ts", "usr_pct") == picked(whole, "cpu", "ts", "usr_pct")


def test_a_spreadsheet_kept_no_seconds() -> None:
    reading = read_sample("dstat.minutes.csv", zone="UTC")
    assert [note for note in reading.notes if "no seconds" in note]
    begun = datetime(2026, 8, 7, 9, 8, tzinfo=UTC)
    assert picked(reading, "cpu", "ts", "usr_pct") == [
        (begun + timedelta(seconds=1), 28.0),
        (begun + timedelta(seconds=2), 10.0),
        (begun + timedelta(seconds=60), 20.0),
    ]
