"""The kernel's log, in syslog with and without a year, and as dmesg prints it."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.read.formats import read_file
from doctord.read.linux.kernel_log import NAME
from reading import SAMPLES, frame, picked, read_sample

WRITTEN = datetime(2025, 4, 1, tzinfo=UTC)


def at(folder: Path, text: str, moment: datetime = WRITTEN) -> Path:
    file = folder / "file"
    file.write_text(text)
    os.utime(file, (moment.timestamp(), moment.timestamp()))
    return file


def test_syslog_with_lines_of_others(tmp_path: Path) -> None:
    reading = read_file(at(tmp_path, (SAMPLES / "kernel_log.syslog.log").read_text()))
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert picked(reading, "event", "kind", "subject") == [
        ("oom kill", "postgres"),
        ("hung task", "jbd2/dm-3-8"),
        ("I/O error", "sde"),
        ("I/O error", "sde"),
        ("read-only", "dm-3"),
    ]
    assert picked(reading, "event", "ts", "host", "text", kind="oom kill") == [
        (datetime(2025, 3, 4, 3, 12, 40, tzinfo=UTC), "db7",
         "process 20388 (postgres), 5.82 GiB of its own memory")
    ]  # fmt: skip
    assert any("2025 is taken" in note for note in reading.notes)
    assert any("no time zone" in note for note in reading.notes)


def test_months_after_the_last_change_are_of_the_year_before(tmp_path: Path) -> None:
    text = (SAMPLES / "kernel_log.syslog.log").read_text()
    reading = read_file(at(tmp_path, text, datetime(2025, 2, 1, tzinfo=UTC)), zone="UTC")
    assert frame(reading, "event")["ts"].dt.year().unique().to_list() == [2024]


def test_dmesg_ends_when_it_was_written(tmp_path: Path) -> None:
    reading = read_file(at(tmp_path, (SAMPLES / "kernel_log.dmesg.txt").read_text()))
    assert reading.skipped_lines == 0
    assert picked(reading, "event", "kind", "subject") == [
        ("oom kill in control group", "mysqld"),
        ("oom kill", "java"),
        ("device reset", "ata1"),
        ("device reset", "nvme0"),
    ], "a kill of the host after one of a group"
    moments = frame(reading, "event")["ts"].to_list()
    assert moments[-1] == WRITTEN
    assert (WRITTEN - moments[2]).total_seconds() == pytest.approx(100)
    assert any("count from the boot" in note for note in reading.notes)


def test_stamps_with_a_zone_need_no_note() -> None:
    reading = read_sample("kernel_log.iso.log")
    assert reading.notes == []
    assert picked(reading, "event", "kind", "subject") == [
        ("I/O error", "dm-4"),
        ("read-only", "dm-4"),
        ("oom kill in control group", "/system.slice/mariadb.service"),
    ]
    assert frame(reading, "event")["ts"][0] == datetime(2025, 3, 4, 2, 12, 40, 100001, tzinfo=UTC)


def test_dates_in_words() -> None:
    reading = read_sample("kernel_log.words.txt", zone="UTC")
    assert picked(reading, "event", "kind", "subject") == [("I/O error", "sdb1"), ("device reset", "6:0:0:0")]
    assert frame(reading, "event")["ts"][0] == datetime(2025, 3, 4, 3, 12, 40, tzinfo=UTC)


def test_a_log_without_trouble_says_so(tmp_path: Path) -> None:
    text = "[    0.000000] Linux version 5.15.0\n[    1.000000] Freeing unused kernel memory\n"
    with pytest.raises(UserError, match="nothing in it tells of trouble"):
        read_file(at(tmp_path, text))


def test_a_line_of_something_else_is_named(tmp_path: Path) -> None:
    text = (
        SAMPLES / "kernel_log.words.txt"
    ).read_text() + "who knows\n[Tue Mar 44 03:12:40 2025] I/O error, dev sda, sector 1\n"
    reading = read_file(at(tmp_path, text))
    assert [(one.line, one.reason) for one in reading.skipped] == [
        (4, "no line of a log with its time"),
        (5, "no line of a log with its time"),
    ]


def test_an_event_stands_for_no_time() -> None:
    assert Dataset.from_batches(read_sample("kernel_log.iso.log").batches).since is None


def test_dmesg_with_steps_and_minutes_in_place_of_times(tmp_path: Path) -> None:
    text = (SAMPLES / "kernel_log.relative.txt").read_text()
    reading = read_file(at(tmp_path, text, datetime(2026, 11, 20, tzinfo=UTC)), zone="UTC")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert picked(reading, "event", "ts", "kind", "subject") == [
        (datetime(2026, 10, 28, 16, 58, tzinfo=UTC), "oom kill", "mysqld"),
        (datetime(2026, 10, 28, 16, 58, 2, 500000, tzinfo=UTC), "oom kill", "mysqld"),
        (datetime(2026, 10, 28, 17, 10, tzinfo=UTC), "hung task", "jbd2/vda1-8"),
    ]


def test_dmesg_with_the_time_since_the_line_before() -> None:
    assert picked(read_sample("kernel_log.delta.txt"), "event", "kind", "subject") == [("hung task", "jbd2/vda1-8")]
