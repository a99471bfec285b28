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


LOCKED = ["enq: TX - row lock contention", "enq: TX - index contention", "library cache: mutex X"]


def two_modes(event: str) -> Dataset:
    """A report in which a fifth of the waits for an event takes nearly all of their time."""
    buckets = [(256.0, 512.0, 900_000), (65536.0, 131072.0, 200_000)]
    rows = [{"db": DB, "subject": event, "gt_us": low, "le_us": high, "count": n} for low, high, n in buckets]
    return oracle_host(waits={event: (300.0, 17.0)}, extra={"latency": rows})


@pytest.mark.parametrize("event", LOCKED)
def test_modes_of_locks_are_up_to_who_holds_them(event: str) -> None:
    findings = diagnose(two_modes(event)).findings
    assert not {"slow_mode", "slow_bursts"} & {finding.cause for finding in findings}


@pytest.mark.parametrize("event", LOCKED[:2])
def test_of_locks_it_is_said_how_long_they_were_held(event: str) -> None:
    (worst, *_) = diagnose(two_modes(event)).findings
    assert any("18 % took around 98 ms" in said(item.figure) for item in worst.for_)


def test_a_handful_of_waits_is_no_evidence() -> None:
    rows = [{"db": DB, "subject": LOCKED[1], "gt_us": 256.0, "le_us": 512.0, "count": 4}]
    dataset = oracle_host(waits={LOCKED[1]: (300.0, 0.5)}, extra={"latency": rows})
    told = [said(item.figure) for finding in diagnose(dataset).findings for item in finding.for_]
    assert told
    assert not any("too few" in figure for figure in told)


def test_who_held_row_locks_is_named_as_unseen() -> None:
    finding = found(two_modes(LOCKED[0]))["row_locks"]
    assert [said(item.what) for item in finding.not_measured] == ["who held the locks"]


@pytest.mark.parametrize(
    ("event", "words"), [("log file sync", "miss the cache"), ("SQL*Net message from dblink", "one peer, one path")]
)
def test_modes_of_commits_and_networks_have_advice_of_their_own(event: str, words: str) -> None:
    assert any(words in said(step) for step in found(two_modes(event))["slow_mode"].remedy)


def test_how_long_statements_take_is_no_mode_of_a_device() -> None:
    counts = {128.0: 800, 256.0: 400, 8192.0: 150, 16384.0: 60}
    dataset = latencies(lambda _: counts)
    renamed = Dataset.from_rows(
        latency=[row | {"subject": "statement duration"} for row in dataset.frame("latency").to_dicts()]
    )
    assert "slow_mode" not in found(Dataset.joined([host(time=READING, seconds=SECONDS), renamed]))
