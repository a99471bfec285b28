"""atop: what -P prints, and raw recordings through atop."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.collectors import atop
from doctord.read.formats import read_file
from doctord.read.tools.report import SINCE_BOOT_ALONE, SINCE_BOOT_LEFT_OUT
from latency_files import read_text
from reading import SAMPLES, figure, frame, picked, read_sample

FIRST = datetime(2026, 11, 21, 9, 8, 43, tzinfo=UTC)
needs_atop = pytest.mark.skipif(shutil.which("atop") is None, reason="atop is not installed")


def line(label: str, about: str = "") -> list[float]:
    """The numbers after the interval of the first such line at that moment, taken by other means."""
    for text in (SAMPLES / "atop.text.txt").read_text().splitlines():
        words = text.split()
        if words[0] == label and words[2] == str(int(FIRST.timestamp())) and (not about or about in words):
            return [float(word) for word in words[6:] if word.replace(".", "", 1).isdecimal()]
    raise AssertionError(label)


def test_text() -> None:
    reading = read_sample("atop.text.txt")
    assert (reading.format, reading.skipped_lines, reading.notes) == ("atop", 0, [SINCE_BOOT_LEFT_OUT])
    assert set(frame(reading, "disk")["host"]) == {"vm"}
    assert set(frame(reading, "disk")["interval_s"]) == {2.0}
    ticks = line("CPU")
    ((usr, sys),) = picked(reading, "cpu", "usr_pct", "sys_pct", cpu=None, ts=FIRST)
    assert usr == pytest.approx(100 * (ticks[3] + ticks[4]) / sum(ticks[2:10]))
    assert sys == pytest.approx(100 * ticks[2] / sum(ticks[2:10]))
    switches = line("CPL")[4]
    assert picked(reading, "cpu", "csw_per_s", cpu=None, ts=FIRST) == [(switches / 2,)]


def test_memory_and_devices() -> None:
    reading = read_sample("atop.text.txt")
    pages = line("MEM")
    memory = ("total_bytes", "free_bytes", "page_tables_bytes", "huge_page_bytes")
    assert picked(reading, "memory", *memory, ts=FIRST) == [
        (pages[1] * 4096, pages[2] * 4096, pages[20] * 4096, pages[12])
    ]
    disk = line("DSK", "vda")
    assert picked(reading, "disk", "reads_per_s", "read_bytes_per_s", "util_pct", device="vda", ts=FIRST) == [
        (disk[1] / 2, disk[2] * 512 / 2, disk[0] / 20)
    ]
    net = line("NET", "lo")
    assert picked(reading, "network", "rx_bytes_per_s", interface="lo", ts=FIRST) == [(net[1] / 2,)]
    pressure = line("PSI")
    assert picked(reading, "cpu", "pressure_some_pct", cpu=None, ts=FIRST) == [(pytest.approx(pressure[3] / 2e4),)]
    assert figure(reading, "io.pressure_some_pct")[0] == pytest.approx(pressure[15] / 2e4)


def test_processes_without_threads_and_arguments() -> None:
    reading = read_sample("atop.text.txt")
    columns = ("command", "ppid", "threads", "usr_pct", "sys_pct", "rss_bytes", "io_wait_pct")
    assert picked(reading, "process", *columns, pid=1, ts=FIRST) == [
        ("ora dbw0 (x)", 0, 13, 0.0, 0.5, 20568 * 1024, None)
    ]
    assert not any("tiger" in str(frame(reading, batch.table).rows()) for batch in reading.batches)


def test_a_sample_alone_is_since_boot(tmp_path: Path) -> None:
    text = (SAMPLES / "atop.text.txt").read_text()
    reading = read_text(tmp_path, text[: text.index("SEP")])
    assert reading.notes == [SINCE_BOOT_ALONE]
    assert frame(reading, "disk")["interval_s"].to_list() == [None]


@pytest.mark.parametrize("bad", ["DSK vm 1795252123 2026/11/21 09:08:43 2 vda 1", "CPU vm x", "more"])
def test_lines_that_are_none_are_skipped(tmp_path: Path, bad: str) -> None:
    reading = read_text(tmp_path, (SAMPLES / "atop.text.txt").read_text() + bad + "\n")
    assert reading.skipped_lines == 1


def test_a_process_that_a_tracer_stopped_is_a_process(tmp_path: Path) -> None:
    """The kernel's letter for it is the only small one that lasts."""
    text = (SAMPLES / "atop.text.txt").read_text()
    stopped = read_text(tmp_path, text.replace("(ora dbw0 (x)) S", "(ora dbw0 (x)) t"))
    assert stopped.skipped_lines == 0
    assert frame(stopped, "process").height == frame(read_text(tmp_path, text), "process").height > 0


@pytest.mark.slow
@needs_atop
def test_a_recording_of_this_machine(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    subprocess.run(["atop", "-w", raw, "1", "2"], check=True, capture_output=True, timeout=180)
    printed = subprocess.run(["atop", "-P", "ALL", "-r", raw], check=True, capture_output=True, timeout=180).stdout
    from_raw, from_text = read_file(raw), read_text(tmp_path, printed)
    assert (from_raw.format, from_raw.skipped_lines) == ("atop", 0)
    for table in ("cpu", "memory", "disk", "network", "process"):
        assert frame(from_raw, table).equals(frame(from_text, table))
    shares = frame(from_raw, "cpu").select("usr_pct", "sys_pct", "wait_io_pct", "irq_pct", "steal_pct", "idle_pct")
    assert shares.sum_horizontal().is_between(99, 101).all()


@needs_atop
def test_what_atop_cannot_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="atop cannot read it"):
        read_text(tmp_path, b"\xef\xbe\xed\xfe" + bytes(2000))


def test_without_atop_a_recording_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="atop is not on this machine") as refused:
        read_text(tmp_path, b"\xef\xbe\xed\xfe" + bytes(2000))
    assert refused.value.hint == atop.HINT
