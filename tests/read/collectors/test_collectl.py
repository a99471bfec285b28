"""collectl: the plot format and the terminal."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.read.formats import read_file
from doctord.read.moments import ZONE_ASSUMED
from latency_files import read_text
from reading import SAMPLES, figure, frame, picked, read_sample


def test_plot_format() -> None:
    reading = read_sample("collectl.plot.tab")
    assert (reading.format, reading.skipped_lines, reading.notes) == ("collectl", 0, [])
    assert set(frame(reading, "cpu")["host"]) == {"vm"}
    assert frame(reading, "cpu")["interval_s"].to_list() == [1.0] * 4
    at = datetime(2026, 11, 21, 9, 10, 33, tzinfo=UTC)
    assert picked(reading, "cpu", "usr_pct", "sys_pct", "irq_pct", "csw_per_s", ts=at) == [(28.0, 12.0, 1.0, 4067.0)]
    memory = ("total_bytes", "page_cache_bytes", "page_in_kib_per_s", "major_faults_per_s")
    assert picked(reading, "memory", *memory, ts=at) == [(24684084 * 1024, (20164 + 1136524) * 1024, 113666.0, 86.0)]
    assert picked(reading, "disk", "reads_per_s", "read_bytes_per_s", device="total", ts=at) == [
        (6252.0, 110014 * 1024.0)
    ]
    assert figure(reading, "MEM.Dirty")[0] == 524.0


def test_single_cpus_and_devices() -> None:
    reading = read_sample("collectl.detail.txt")
    assert (reading.skipped_lines, reading.notes) == (0, [ZONE_ASSUMED])
    assert len(picked(reading, "cpu", "usr_pct", cpu=1)) == 3
    whole, parts = (
        picked(reading, "disk", "reads_per_s", device="total"),
        picked(reading, "disk", "reads_per_s", device="vda"),
    )
    assert whole == parts
    assert set(frame(reading, "network")["interface"]) == {"total", "lo", "ifb0", "ifb1", "eth0"}
    idle = frame(reading, "disk").filter(device="vda", reads_per_s=0.0)
    assert idle["read_ms"].null_count() == len(idle)


def test_terminal() -> None:
    reading = read_sample("collectl.brief.txt", zone="UTC")
    assert reading.skipped_lines == 0
    at = datetime(2026, 11, 21, 9, 10, 44, tzinfo=UTC)
    assert picked(reading, "disk", "interval_s", "reads_per_s", "read_bytes_per_s", "write_bytes_per_s", ts=at) == [
        (1.0, 4.0, 108 * 1024.0, 4 * 1024.0)
    ]
    assert picked(reading, "memory", "free_bytes", "page_cache_bytes", ts=at) == [(21 << 30, (19 << 20) + (1 << 30))]
    assert picked(reading, "cpu", "csw_per_s", ts=at) == [(128.0,)]
    assert figure(reading, "Memory.Slab") == [645.0 * 1024**2] * 4


def test_terminal_without_times() -> None:
    reading = read_sample("collectl.untimed.txt", every_s=10.0)
    assert frame(reading, "cpu")["interval_s"].to_list() == [10.0] * 3
    assert frame(reading, "cpu")["ts"].diff().drop_nulls().dt.total_seconds().to_list() == [10, 10]


def test_milliseconds_and_seconds_since_1970(tmp_path: Path) -> None:
    text = "#Date Time [CPU]User%\n20261121 09:10:38.250 46\n#UTC [CPU]User%\n1795252239.500 50\n"
    reading = read_text(tmp_path, text)
    assert [ts.timestamp() for ts in frame(reading, "cpu")["ts"]] == [1795252238.25, 1795252239.5]


@pytest.mark.parametrize("line", ["20261121 09:10:36 1 2", "20261199 09:10:36 " + "1 " * 68, "what"])
def test_lines_that_are_none_are_skipped(tmp_path: Path, line: str) -> None:
    reading = read_text(tmp_path, (SAMPLES / "collectl.plot.tab").read_text() + line + "\n")
    assert reading.skipped_lines == 1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("collectl") is None, reason="collectl is not installed")
def test_a_recording_of_this_machine(tmp_path: Path) -> None:
    command = ["collectl", "-scdnmCDN", "-P", "-i1", "-c2"]
    file = tmp_path / "file"
    file.write_bytes(subprocess.run(command, check=True, capture_output=True, timeout=180).stdout)
    reading = read_file(file, zone="UTC")
    assert reading.skipped_lines == 0
    shares = frame(reading, "cpu").select("usr_pct", "sys_pct", "wait_io_pct", "irq_pct", "steal_pct", "idle_pct")
    assert shares.sum_horizontal().is_between(90, 110).all()
