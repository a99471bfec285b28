"""Spells of devices: figures weighted by time and by requests."""

import polars as pl
import pytest

from diagnose.hosts import host
from doctord.analyse.storage import disks
from doctord.dataset.dataset import Dataset

BUSY = pl.col("util_pct") >= 90


def two_disks() -> pl.DataFrame:
    busy = {
        "device": "vdb",
        "reads_per_s": 100.0,
        "writes_per_s": 300.0,
        "read_ms": 8.0,
        "write_ms": 4.0,
        "util_pct": 95.0,
    }
    rest = {"device": "vdb", "reads_per_s": 0.0, "writes_per_s": 0.0, "util_pct": 0.0}
    return disks.intervals(host(seconds=10, extra={"disk": [busy, rest]}))


def test_a_report_without_times_counts_where_others_of_its_device_follow() -> None:
    moments = [(0, "sda"), (0, "sdb"), (10_000_000, "sda")]  # one of sdb: since boot
    reports = [{"ts": ts, "interval_s": None, "device": device, "requests_per_s": 5.0} for ts, device in moments]
    assert disks.intervals(Dataset.from_rows(disk=reports))["device"].to_list() == ["sda", "sda"]


def test_a_spell_is_the_part_of_the_time_and_its_means() -> None:
    (spell,) = disks.spells(two_disks(), BUSY)
    assert (spell.device, spell.part, spell.requests_per_s) == ("vdb", 0.5, 400.0)
    assert spell.ms == pytest.approx((100 * 8 + 300 * 4) / 400)
    assert spell.queue == pytest.approx(400 * 0.005)
    assert spell.host_queue is None


def test_an_interval_without_requests_has_no_latency_and_no_weight() -> None:
    spell = next(spell for spell in disks.spells(two_disks(), pl.lit(value=True)) if spell.device == "vdb")
    assert spell.part == 1.0
    assert spell.ms == pytest.approx(5.0)
    assert spell.util_pct == pytest.approx(47.5)


@pytest.mark.parametrize(
    ("times", "ms", "queue"),
    [
        ({"request_ms": 4.0, "queue": 0.7}, 4.0, 0.7),
        ({"request_ms": 4.0}, 4.0, 0.4),
        ({"host_queue_ms": 3.0, "device_ms": 9.0, "host_queue": 0.3, "device_queue": 0.9}, 12.0, 1.2),
    ],
)
def test_what_a_source_does_not_tell_apart_is_taken_whole(times: dict[str, float], ms: float, queue: float) -> None:
    disk = {"device": "sdb", "requests_per_s": 100.0, "read_bytes_per_s": 8192.0, "write_bytes_per_s": 0.0} | times
    found = disks.intervals(host(seconds=10, extra={"disk": [disk]})).filter(device="sdb")
    assert found.select("requests_per_s", "ms", "bytes_per_s").row(0) == (100.0, ms, 8192.0)
    assert found["queue"][0] == pytest.approx(queue)


@pytest.mark.parametrize(("ms", "rises"), [(9.0, 3.0), (3.0, 1.0)])
def test_rise_compares_the_longer_queue_with_the_shorter(ms: float, rises: float) -> None:
    quiet = {"device": "vdb", "reads_per_s": 100.0, "read_ms": 3.0, "device_queue": 0.3, "host_queue": 0.0}
    loaded = quiet | {"read_ms": ms, "device_queue": 8.0}
    rows = disks.intervals(host(extra={"disk": [quiet, loaded]}))
    assert disks.rise(rows, "vdb") == pytest.approx(rises)


def test_rise_is_unknown_where_the_queue_did_not_vary() -> None:
    rows = disks.intervals(host())
    assert disks.rise(rows, "vda") is None
    assert disks.rise(rows, "no such device") is None
