"""atop as it stands on a screen."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.tools.report import SINCE_BOOT_LEFT_OUT
from latency_files import read_text
from reading import SAMPLES, figure, picked, read_sample

LAST = datetime(2026, 11, 20, 9, 20, tzinfo=UTC)


def test_a_sample() -> None:
    reading = read_sample("atop_text.txt", zone="UTC")
    found = Dataset.from_batches(reading.batches)
    assert (reading.format, reading.skipped_lines) == ("atop (as on a screen)", 0)
    assert reading.notes == [SINCE_BOOT_LEFT_OUT]
    assert found.frame("disk").select("ts", "interval_s", "host").unique().rows() == [(LAST, 600.0, "db7")]
    whole, one = found.frame("cpu").sort("cpu").to_dicts()
    assert [whole[f"{part}_pct"] for part in ("sys", "usr", "irq", "idle", "wait_io")] == [5.0, 15.0, 1.0, 29.0, 50.0]
    assert (one["cpu"], one["idle_pct"], one["wait_io_pct"]) == (1, 29.0, 50.0)
    assert (whole["run_queue"], whole["blocked_tasks"], whole["csw_per_s"]) == (2.0, 5.0, pytest.approx(1489400 / 600))
    (memory,) = found.frame("memory").to_dicts()
    assert memory["page_cache_bytes"] == pytest.approx((244.2 + 6.9 - 97.8) * 2**20, abs=1)
    assert (memory["swap_in_per_s"], memory["scan_per_s"], memory["pressure_full_pct"]) == (5.0, 100.0, 8.0)
    assert picked(reading, "network", "segments_out_per_s", "retransmits_per_s", interface=None) == [(200.0, 1.0)]
    assert picked(reading, "network", "rx_bytes_per_s", "tx_bytes_per_s", interface="eth0") == [(1e4, 1e6)]
    assert picked(reading, "process", "usr_pct", "run_wait_pct", "read_bytes_per_s", command="postgres") == [
        (10.0, 0.1, pytest.approx(1.2 * 2**30 / 600))
    ]
    assert figure(reading, "io.pressure_some_pct") == [81.0]


def test_the_busy_time_of_a_request_is_no_latency() -> None:
    """avio is busy time over requests; times the queue while it was busy it is the time of a request."""
    reading = read_sample("atop_text.txt")
    ((queue, request_ms),) = picked(reading, "disk", "queue", "request_ms", device="sda")
    assert (queue, request_ms) == (pytest.approx(16.5 * 0.99), pytest.approx(16.5 * 8.26))
    causes = [finding.cause for finding in diagnose(Dataset.from_batches(reading.batches)).findings]
    assert causes[0] == "device_saturated"


def test_an_old_one_without_the_queue(tmp_path: Path) -> None:
    text = (SAMPLES / "atop_text.txt").read_text().replace("| avq    16.50 ", "").replace("10m0s", "600 seconds")
    reading = read_text(tmp_path, text, zone="UTC")
    assert picked(reading, "disk", "util_pct", "queue", "request_ms", device="sda") == [(99.0, None, None)]
    assert figure(reading, "atop.busy_ms", entity="sda") == [8.26]
