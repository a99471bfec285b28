"""Histograms of storage and nothing beside them."""

from typing import Any

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Diagnosis
from doctord.report.phrases import said


def judged(subject: str, gt_us: float, count: int = 5000, **other: Any) -> Diagnosis:
    at = {"ts": 10_000_000, "interval_s": 10.0}
    row = at | {"subject": subject, "gt_us": gt_us, "le_us": gt_us * 2, "count": count}
    return diagnose(Dataset.from_rows(latency=[row], **{name: [at | rows] for name, rows in other.items()}))


@pytest.mark.parametrize(
    ("subject", "gt_us", "count", "health"),
    [
        ("block device I/O", 64.0, 5000, "healthy"),
        ("pread", 524_288.0, 5000, "not_healthy"),
        ("db file sequential read", 262.0, 500, "healthy"),
        ("pread", 64.0, 5, "not_judged"),
        ("run queue", 64.0, 5000, "not_judged"),
    ],
)
def test_health_of_a_histogram(subject: str, gt_us: float, count: int, health: str) -> None:
    assert judged(subject, gt_us, count).health == health


def test_a_slow_one_is_a_finding() -> None:
    (finding,) = judged("pread", 100_000.0).findings
    assert (finding.cause, finding.severity) == ("device_slow", "warning")
    assert said(finding.title).startswith("pread is slow: ")


def test_a_test_of_the_storage_waits_for_its_own_queue() -> None:
    test = {"component": "fio", "name": "fio.iops", "entity": "randread read", "value": 9e4}
    assert not judged("randread read", 100_000.0, statistic=test).findings


def test_devices_tell_more_than_a_histogram() -> None:
    disk = {"device": "sda", "reads_per_s": 50.0, "read_ms": 1.0, "util_pct": 5.0}
    assert not judged("pread", 100_000.0, disk=disk).findings


@pytest.mark.parametrize(
    ("subject", "gt_us", "cause"),
    [
        ("etcd_disk_wal_fsync_duration", 24_000.0, "log_device_slow"),
        ("etcd_disk_wal_fsync_duration", 4_000.0, None),
        ("backend_commit_write", 24_000.0, None),  # no device at work needs 50 ms
        ("backend_commit_write", 60_000.0, "device_slow"),
    ],
)
def test_a_log_has_to_answer_sooner(subject: str, gt_us: float, cause: str | None) -> None:
    found = [finding.cause for finding in judged(subject, gt_us).findings]
    assert found == ([cause] if cause else [])
