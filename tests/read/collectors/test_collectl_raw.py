"""collectl's own recordings: rates between the samples of /proc."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.read.collectors.collectl_raw import NAME
from doctord.read.formats import read_file
from reading import SAMPLES, figure, frame, picked, read_sample

FIRST = datetime(2025, 3, 4, 10, 15, 20, 1000, tzinfo=UTC)


def test_cpus_of_each_sample_after_the_first() -> None:
    reading = read_sample("collectl_raw.raw")
    assert (reading.format, reading.skipped_lines, reading.notes) == (NAME, 0, [])
    found = frame(reading, "cpu").filter(ts=FIRST).sort("cpu")
    assert found["host"].unique().to_list() == ["db9"]
    assert found["interval_s"].to_list() == [10.0] * 3
    assert found["usr_pct"].to_list() == pytest.approx([20.0, 30.0, 10.0])
    assert found["idle_pct"].to_list() == pytest.approx([60.0, 50.0, 70.0])
    whole = found.row(0, named=True)
    assert (whole["wait_io_pct"], whole["irq_pct"], whole["run_queue"]) == (8.0, 2.0, 3.0)
    assert (whole["csw_per_s"], whole["interrupts_per_s"], whole["forks_per_s"]) == (900.0, 500.0, 2.0)


def test_a_disk_and_its_times() -> None:
    columns = ("reads_per_s", "writes_per_s", "read_bytes_per_s", "read_ms", "write_ms", "util_pct", "queue")
    assert picked(read_sample("collectl_raw.raw"), "disk", *columns, ts=FIRST, device="sda") == [
        (50.0, 100.0, pytest.approx(4000 * 512), 5.0, 1.5, 60.0, 4.0)
    ]


def test_memory_and_network() -> None:
    reading = read_sample("collectl_raw.raw")
    columns = ("total_bytes", "page_cache_bytes", "page_in_kib_per_s", "swap_in_per_s", "huge_pages_total")
    assert picked(reading, "memory", *columns, ts=FIRST) == [(8_000_000 * 1024, 2_900_000 * 1024, 20.0, 10.0, 10)]
    assert picked(
        reading, "network", "rx_bytes_per_s", "tx_bytes_per_s", "errors_per_s", ts=FIRST, interface="eth0"
    ) == [(1024.0, 2048.0, pytest.approx(0.1))]
    columns = ("segments_out_per_s", "retransmits_per_s", "listen_overflows_per_s", "established")
    assert picked(reading, "network", *columns, ts=FIRST, interface=None) == [(100.0, 1.0, 0.5, 12)]
    assert figure(reading, "CPU.L-Avg5") == [1.8] * 3


def test_a_counter_that_began_again_is_no_rate(tmp_path: Path) -> None:
    text = (SAMPLES / "collectl_raw.raw").read_text().replace("ctxt 218000", "ctxt 5")
    (tmp_path / "file").write_text(text)
    assert picked(read_file(tmp_path / "file"), "cpu", "csw_per_s", cpu=None)[-1] == (None,)


def test_what_stands_before_the_samples_is_named(tmp_path: Path) -> None:
    text = (SAMPLES / "collectl_raw.raw").read_text().replace(">>> 1741083310.001", "what is this\n>>> 1741083310.001")
    (tmp_path / "file").write_text(text)
    reading = read_file(tmp_path / "file")
    assert [(one.line, one.reason) for one in reading.skipped] == [(9, "not between the samples of a recording")]
