"""dstat on a terminal: with a time, colours and missed ticks, and bare."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.read.collectors.dstat_terminal import NAME
from doctord.read.formats import Reading, read_file
from reading import SAMPLES, frame, picked

WRITTEN = datetime(2025, 5, 1, tzinfo=UTC)
GIB = 2**30


def read(folder: Path, name: str, more: str = "", written: datetime = WRITTEN) -> Reading:
    file = folder / "file"
    file.write_text((SAMPLES / f"dstat_terminal.{name}.txt").read_text() + more)
    os.utime(file, (written.timestamp(), written.timestamp()))
    return read_file(file, zone="UTC")


def test_a_terminal_with_its_times(tmp_path: Path) -> None:
    reading = read(tmp_path, "time")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert picked(reading, "cpu", "ts", "interval_s", "usr_pct", "idle_pct") == [
        (datetime(2025, 3, 4, 10, 15, 21, tzinfo=UTC), 1.0, 71.0, 26.0),
        (datetime(2025, 3, 4, 10, 15, 22, tzinfo=UTC), 1.0, 30.0, 68.0),
        (datetime(2025, 3, 4, 10, 15, 26, tzinfo=UTC), 4.0, 24.0, 75.0),
    ], "the first is since boot"
    assert picked(reading, "disk", "device", "read_bytes_per_s", "write_bytes_per_s")[:2] == [
        ("total", 0.0, 4096.0), ("total", 0.0, 24 * 1024.0)
    ]  # fmt: skip
    cached, free = picked(reading, "memory", "page_cache_bytes", "free_bytes")[0]
    assert cached == pytest.approx(26.1 * GIB + 21.6 * 2**20)
    assert free == 3725 * 2**20
    assert any("3 of its ticks were missed" in note for note in reading.notes)


def test_a_time_after_the_last_change_is_of_the_year_before(tmp_path: Path) -> None:
    reading = read(tmp_path, "time", written=datetime(2025, 2, 1, tzinfo=UTC))
    assert frame(reading, "cpu")["ts"].dt.year().unique().to_list() == [2024]


def test_several_disks_and_no_time(tmp_path: Path) -> None:
    reading = read(tmp_path, "untimed")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert frame(reading, "cpu")["ts"].max() == WRITTEN
    assert picked(reading, "disk", "device", "read_bytes_per_s", "write_bytes_per_s") == [
        ("sda", 0.0, 12 * 2.0**20),
        ("sdb", 16 * 1024.0, None),
        ("sda", 0.0, 12 * 2.0**20),
        ("sdb", 0.0, 512 * 1024.0),
    ]
    assert picked(reading, "cpu", "csw_per_s", "interrupts_per_s", "run_queue")[0] == (12000.0, 4468.0, 2.0)
    assert picked(reading, "memory", "swap_in_per_s")[0] == (2.0,)
    assert picked(reading, "cpu", "blocked_tasks") == [(1.0,), (0.0,)]


def test_what_is_no_row_is_named(tmp_path: Path) -> None:
    reading = read(tmp_path, "untimed", "  1   2\n^C\n")
    assert [(one.line, one.reason) for one in reading.skipped] == [
        (7, "no row of figures below the heading"),
        (8, "no row of figures below the heading"),
    ]
