"""nmon: figures of Linux and AIX in the dataset's columns and units."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.read.collectors.nmon import _date
from doctord.read.formats import read_file
from latency_files import read_text
from reading import SAMPLES, figure, frame, picked, read_sample

AT = datetime(2012, 3, 12, 23, 55, 5, tzinfo=UTC)


def test_linux() -> None:
    reading = read_sample("nmon.linux.nmon", zone="UTC")
    assert (reading.format, reading.skipped_lines, reading.notes) == ("nmon", 0, [])
    assert set(frame(reading, "cpu")["host"]) == {"vm"}
    assert picked(reading, "cpu", "interval_s", "usr_pct", "sys_pct", "csw_per_s", cpu=None) == [
        (None, 17.4, 9.2, None),
        (1.0, 0.5, 4.5, 492.9),
        (1.0, 28.6, 12.2, 4069.9),
    ]
    assert picked(reading, "cpu", "usr_pct", cpu=1) == [(17.8,), (1.0,), (56.1,)]
    assert picked(reading, "disk", "requests_per_s", "read_bytes_per_s", "util_pct", device="vda")[-1] == (
        5525.1, 94309.5 * 1024, 29.9,
    )  # fmt: skip
    assert picked(reading, "memory", "page_in_kib_per_s", "major_faults_per_s") == [
        (None, None),
        (8724, 35),
        (95084, 75),
    ]
    assert picked(reading, "memory", "page_cache_bytes")[0] == (round((1245.1 + 22.8) * 1024**2),)
    assert picked(reading, "process", "usr_pct", "sys_pct", "rss_bytes", "command", pid=2171) == [
        (0.0, 1.0, 27516 * 1024, "collectl")
    ]


def test_what_linux_does_not_count_is_absent() -> None:
    reading = read_sample("nmon.linux.nmon")
    assert frame(reading, "cpu")["syscalls_per_s"].null_count() == len(frame(reading, "cpu"))
    assert figure(reading, "MEM.bigfree") == []


def test_aix() -> None:
    reading = read_sample("nmon.aix.nmon", zone="UTC")
    assert reading.skipped_lines == 0
    cpu = picked(reading, "cpu", "interval_s", "usr_pct", "run_queue", "syscalls_per_s", cpu=None, ts=AT)
    assert cpu == [(300.0, 50.5, 12.0, 60000.0)]
    assert figure(reading, "LPAR.PhysicalCPU") == [1.2, 2.8]
    assert figure(reading, "LPAR.entitled") == [2.0, 2.0]
    memory = picked(reading, "memory", "total_bytes", "free_bytes", "page_in_kib_per_s", "swap_out_per_s", ts=AT)
    assert memory == [(16 << 30, 1 << 30, 100.0, 3.0)]
    disk = ("device", "util_pct", "read_bytes_per_s", "requests_per_s", "device_ms", "host_queue_ms")
    assert picked(reading, "disk", *disk) == [
        ("hdisk0", 80.5, 4096 * 1024.0, 512.0, 7.5, 2.5),
        ("hdisk1", 10.0, 64 * 1024.0, None, None, None),
    ]
    assert picked(reading, "network", "rx_bytes_per_s", "tx_bytes_per_s", "errors_per_s", interface="en0") == [
        (1024000.0, 2048000.0, 1.0)
    ]
    assert figure(reading, "JFSFILE", entity="/oracle") == [91.2]
    assert picked(reading, "process", "cpu_pct", "usr_pct", "threads", pid=123456) == [(None, 70.1, 1)]
    assert picked(reading, "setting", "value", component="lpar", name="Entitled Capacity") == [("2.00",)]


def test_a_sorted_file_gives_the_same_rows(tmp_path: Path) -> None:
    lines = (SAMPLES / "nmon.aix.nmon").read_text().splitlines()
    reading = read_text(tmp_path, "\n".join(sorted(lines)))
    for table in ("cpu", "disk", "memory", "process"):
        assert frame(reading, table).equals(frame(read_sample("nmon.aix.nmon"), table))


def test_lines_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    text = (SAMPLES / "nmon.aix.nmon").read_text()
    reading = read_text(tmp_path, text.replace("CPU_ALL,CPU Total", "OTHER,CPU Total").replace("ZZZZ,T0003", "ZZZ"))
    assert reading.skipped_lines == 2
    assert reading.skipped[0].reason == "CPU_ALL without its heading"
    assert any(note.startswith("2 lines are of snapshots whose time") for note in reading.notes)


def test_arguments_are_not_read(tmp_path: Path) -> None:
    text = (SAMPLES / "nmon.aix.nmon").read_text() + "UARG,T0002,0123456,1,oracle,1,oracle,dba,sqlplus scott/tiger\n"
    reading = read_text(tmp_path, text)
    assert reading.skipped_lines == 0
    assert not any("tiger" in str(frame(reading, batch.table).rows()) for batch in reading.batches)


@given(st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2090, 1, 1)))  # noqa: DTZ001 - local times
def test_dates(moment: datetime) -> None:
    assert _date(moment.strftime("%d-%b-%Y").upper()) == f"{moment:%Y-%m-%d}"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nmon") is None, reason="nmon is not installed")
def test_a_recording_of_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "now.nmon"
    subprocess.run(["nmon", "-F", file, "-s", "1", "-c", "2", "-t"], check=True, capture_output=True, timeout=180)
    for _ in range(60):
        if file.exists() and "ZZZZ,T0002" in file.read_text() and "DISKXFER,T0002" in file.read_text():
            break
        subprocess.run(["sleep", "0.1"], check=True)
    reading = read_file(file, zone="UTC")
    assert reading.skipped_lines == 0
    shares = frame(reading, "cpu").select("usr_pct", "sys_pct", "wait_io_pct", "steal_pct", "idle_pct").sum_horizontal()
    assert shares.is_between(95, 105).all()
