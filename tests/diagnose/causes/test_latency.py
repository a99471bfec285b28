"""Causes of how waits are spread."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import START, host
from diagnose.oracle_hosts import DB, oracle_host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

READING = {("User I/O", "DataFileRead"): 2.0, ("CPU", "CPU"): 2.0}
SECONDS = 60


def latencies(counts: Any, db: str | None = "postgresql:5432") -> Dataset:
    """A host that waits for reads, and histograms of them: counts by upper edge, in microseconds, of each second."""
    rows = [
        {
            "ts": START + timedelta(seconds=second + 1),
            "interval_s": 1.0,
            "host": "vm",
            "db": db,
            "subject": "smgr read",
            "gt_us": le_us / 2,
            "le_us": le_us,
            "count": count,
        }
        for second in range(SECONDS)
        for le_us, count in counts(second).items()
    ]
    return Dataset.joined([host(time=READING, seconds=SECONDS), Dataset.from_rows(latency=rows)])


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_a_slow_minority_that_takes_the_time() -> None:
    finding = found(latencies(lambda _: {128.0: 800, 256.0: 400, 8192.0: 150, 16384.0: 60}))["slow_mode"]
    assert said(finding.title) == "15 % of smgr read take 92 % of its time: 7.0 ms against 112.0 us"
    waited_s = (150 * 6144 + 60 * 12288) / 1e6
    assert finding.impact.share == pytest.approx(waited_s / 4, rel=0.02)
    assert "as disks answer at low load" in said(finding.for_[0].why)


def test_bursts_every_ten_seconds() -> None:
    dataset = latencies(lambda second: {256.0: 1000} | ({262144.0: 20} if second % 10 == 0 else {}))
    finding = found(dataset)["slow_bursts"]
    assert said(finding.title) == "smgr read over 131.1 ms comes in bursts every 10 s"


@pytest.mark.parametrize(
    "counts",
    [
        lambda _: {128.0: 800, 256.0: 400},  # one mode
        lambda _: {128.0: 10, 8192.0: 900},  # most are slow: a slow device, not a minority
        lambda _: {64.0: 8000, 1024.0: 2000},  # nobody feels a millisecond
        lambda second: {128.0: 10, 8192.0: int(second == 7)},  # hardly anything
    ],
)
def test_healthy_spreads_say_nothing(counts: Any) -> None:
    assert not {"slow_mode", "slow_bursts"} & found(latencies(counts)).keys()


def test_the_host_alone_is_not_judged() -> None:
    dataset = latencies(lambda _: {128.0: 800, 8192.0: 150, 16384.0: 60}, db=None)
    assert not {"slow_mode", "slow_bursts"} & found(dataset).keys()


@pytest.mark.parametrize(
    ("event", "ms", "slow"),
    [
        ("db file sequential read", 17.0, True),
        ("db file sequential read", 4.0, False),  # the histogram adds up to four times what was counted
        ("SQL*Net message from client", 17.0, False),  # idle
    ],
)
def test_a_report_that_counts_the_time_is_held_against_its_histogram(event: str, ms: float, *, slow: bool) -> None:
    buckets = [(256.0, 512.0, 900_000), (65536.0, 131072.0, 200_000)]
    rows = [{"db": DB, "subject": event, "gt_us": low, "le_us": high, "count": n} for low, high, n in buckets]
    dataset = oracle_host(waits={event: (300.0, ms)}, extra={"latency": rows})
    assert ("slow_mode" in found(dataset)) is slow
