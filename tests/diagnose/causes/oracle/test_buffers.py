"""Buffers of Oracle: hot blocks, hot latches, a late database writer."""

import pytest

from diagnose.oracle_hosts import found
from doctord.report.phrases import said

FULL = {"idle_pct": 2.0, "wait_io_pct": 0.0}


def test_hot_blocks_by_class_and_segment() -> None:
    figures = {("v$waitstat.time", "data block"): 0.2, ("v$segment_statistics.buffer busy waits", "APP.I_LAST"): 90.0}
    finding = found(waits={"buffer busy waits": (100.0, 3.0)}, figures=figures)["hot_blocks"]
    told = " ".join(said(item.figure) for item in finding.for_)
    assert "data block" in told
    assert "APP.I_LAST" in told
    assert "hot_blocks" not in found(waits={"buffer busy waits": (10.0, 3.0)})


@pytest.mark.parametrize("full", [False, True])
def test_hot_buffers_are_less_sure_without_a_free_cpu(*, full: bool) -> None:
    waits = {"latch: cache buffers chains": (500.0, 0.5)}
    finding = found(waits=waits, host=FULL if full else {}, figures={("v$sqlstats.gets", "abc"): 1e6})["hot_buffers"]
    assert bool(finding.against) is full
    assert any("abc" in said(item.figure) for item in finding.for_)


@pytest.mark.parametrize(("write_ms", "against"), [(45.0, False), (1.0, True)])
def test_a_late_database_writer_and_its_device(write_ms: float, *, against: bool) -> None:
    findings = found(waits={"free buffer waits": (20.0, 15.0)}, background={"db file parallel write": (50.0, write_ms)})
    assert bool(findings["database_writer_late"].against) is against
    assert "database_writer_late" not in found(waits={"free buffer waits": (2.0, 15.0)})
