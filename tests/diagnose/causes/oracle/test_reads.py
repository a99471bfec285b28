"""Reads of Oracle: too many, too slow, for whom. And the casebook's caching case."""

import re
from typing import Any

import pytest

from diagnose.oracle_hosts import DB, found
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.read.formats import read_file
from doctord.report.phrases import said
from reading import SAMPLES
from shared import CASEBOOK, sample

MANY = {"db file sequential read": (2000.0, 1.0)}


def _histogram(*buckets: tuple[float, float, int]) -> dict[str, Any]:
    rows = [
        {"db": DB, "subject": "db file sequential read", "gt_us": low, "le_us": high, "count": count}
        for low, high, count in buckets
    ]
    return {"latency": rows}


@pytest.mark.parametrize(("ms", "slow"), [(19.0, False), (20.0, True), (45.0, True)])
def test_slow_single_block_reads(ms: float, *, slow: bool) -> None:
    findings = found(waits={"db file sequential read": (200.0, ms)})
    assert ("reads_slow" in findings) is slow
    assert ("too_many_single_block_reads" in findings) is not slow


def test_a_few_slow_reads_speak_against_a_slow_device() -> None:
    buckets = [(256.0, 512.0, 900_000), (65536.0, 131072.0, 300_000)]
    spread = found(waits={"db file sequential read": (330.0, 25.0)}, extra=_histogram(*buckets))
    whole = found(waits={"db file sequential read": (330.0, 25.0)}, extra=_histogram((16384.0, 32768.0, 1_200_000)))
    few, all_ = spread["reads_slow"], whole["reads_slow"]
    assert few.against
    assert not all_.against
    assert few.confidence < all_.confidence


@pytest.mark.parametrize(("per_s", "many"), [(350.0, False), (2000.0, True)])
def test_quick_reads_are_a_finding_only_when_they_are_much_of_the_time(per_s: float, *, many: bool) -> None:
    assert ("too_many_single_block_reads" in found(waits={"db file sequential read": (per_s, 0.7)})) is many


def test_who_reads_is_named() -> None:
    finding = found(
        waits=MANY,
        figures={("v$segment_statistics.physical reads", "APP.T"): 900.0, "v$sysstat.physical reads": 2000.0},
        statements=[{"statement_id": "7ws837zynp1zv", "text": "select * from t", "read_blocks_per_s": 1500.0}],
    )["too_many_single_block_reads"]
    told = " ".join(said(item.figure) + said(item.why) for item in finding.for_)
    assert "75 % of all" in told
    assert "select * from t" in told
    assert "APP.T" in told


@pytest.mark.parametrize(("event", "often"), [("db file scattered read", 400.0), ("direct path read", 500.0)])
def test_full_scans(event: str, often: float) -> None:
    finding = found(waits={event: (often, 3.0)}, figures={("v$segment_statistics.table scans", "APP.BIG"): 1.0})
    assert any("APP.BIG" in said(item.figure) for item in finding["full_scans"].for_)
    assert "full_scans" not in found(waits={event: (40.0, 3.0)})


def test_the_same_blocks_by_several() -> None:
    assert "same_blocks_read" in found(waits={"read by other session": (100.0, 3.0)})
    assert "same_blocks_read" not in found(waits={"read by other session": (10.0, 3.0)})


# The casebook: 43 % of the time in single-block reads beside a hit ratio of 99.88 %, 700 reads a second.


def _casebook() -> dict[str, Finding]:
    lines = sample(CASEBOOK / "caching" / "statspack_top_events.txt").read_text().splitlines()
    timed = {}
    for line in lines:
        if match := re.fullmatch(r"(\S.*?)\s+([\d,]+)\s+([\d,]+)\s+([\d.]+)", line.rstrip()):
            timed[match[1]] = (float(match[2].replace(",", "")), float(match[3].replace(",", "")))
    seconds = timed["db file sequential read"][0] / 700
    waits = {event: (count / seconds, 1000 * spent / count) for event, (count, spent) in timed.items()}
    written = {"db file parallel write": waits.pop("db file parallel write")}
    return found(
        cpu_s_per_s=6260 / seconds,
        waits={"db file scattered read": None, "enq: TX - row lock contention": None, **waits},
        background=written,
        figures={"instance_efficiency.Buffer Hit %": 99.88},
        extra={"memory": [{"total_bytes": 96 * 2**30, "available_bytes": 50 * 2**30}]},
    )


def test_the_casebooks_list_of_top_events_as_it_stands() -> None:
    dataset = Dataset.from_batches(read_file(sample(CASEBOOK / "caching" / "statspack_top_events.txt")).batches)
    (finding,) = diagnose(dataset).findings
    assert finding.cause == "too_many_single_block_reads"
    assert said(finding.title) == "43 % of database time goes into single-block reads: 11 ms each"


def test_the_casebooks_caching_case() -> None:
    finding = _casebook()["too_many_single_block_reads"]
    assert finding.impact.share == pytest.approx(0.45, abs=0.03)
    assert any("700 a second" in said(item.why) for item in finding.for_)
    assert any("of memory free, 50.0 GiB" in said(item.figure) for item in finding.for_)
    (ratio,) = [item for item in finding.against if "hit ratio" in said(item.figure)]
    assert "99.88 %" in said(ratio.figure)
    assert "no evidence" in said(ratio.why)


def test_reads_that_were_sampled_are_a_finding_though_nobody_timed_them() -> None:
    diagnosis = diagnose(Dataset.from_batches(read_file(SAMPLES / "ash.txt").batches))
    first = diagnosis.findings[0]
    assert first.cause == "too_many_single_block_reads"
    assert said(first.title) == "53 % of database time goes into single-block reads"
    assert [said(part.what) for part in first.not_measured] == ["how long each read takes"]
    assert "other_waits" not in {finding.cause for finding in diagnosis.findings}
