"""Clusters of Oracle: blocks that travel, and what holds them up."""

import pytest

from diagnose.oracle_hosts import found
from doctord.report.phrases import said

BUSY = {"gc buffer busy acquire": (50.0, 6.0), "gc current block busy": (50.0, 4.0)}
PING = "interconnect_ping.8K ping_ms"


def test_hot_blocks_of_a_cluster() -> None:
    findings = found(waits=BUSY, figures={("v$segment_statistics.gc buffer busy", "APP.I_LAST"): 20.0})
    assert set(findings) == {"cluster_hot_blocks"}
    assert any("APP.I_LAST" in said(item.figure) for item in findings["cluster_hot_blocks"].for_)


def test_a_slow_log_on_the_owner_explains_them() -> None:
    findings = found(waits=BUSY, background={"log file parallel write": (50.0, 9.0)})
    assert findings["cluster_hot_blocks"].explained_by == "cluster_waits_for_log"


@pytest.mark.parametrize(("ms", "slow"), [(1.9, False), (2.0, True)])
def test_a_slow_interconnect(ms: float, *, slow: bool) -> None:
    assert ("interconnect_slow" in found(waits={"gc cr block 2-way": (500 / ms, ms)})) is slow


def test_a_quick_network_leaves_the_processes() -> None:
    waits = {"gc cr block 2-way": (100.0, 5.0)}
    quick, slow = (found(waits=waits, figures={(PING, "1 to 2"): ms})["interconnect_slow"] for ms in (0.2, 4.0))
    assert any("LMS" in said(item.why) for item in quick.against)
    assert not slow.against


@pytest.mark.parametrize(("lost", "many"), [(0.0, False), (0.04, False), (0.2, True)])
def test_lost_blocks(lost: float, *, many: bool) -> None:
    assert ("cluster_blocks_lost" in found(figures={"v$sysstat.gc blocks lost": lost})) is many


def test_congestion() -> None:
    assert set(found(waits={"gc current block congested": (20.0, 10.0)})) == {"cluster_congested"}


@pytest.mark.parametrize(("per_s", "much"), [(500.0, False), (2000.0, True)])
def test_quick_transfers_that_are_many(per_s: float, *, much: bool) -> None:
    assert ("cluster_traffic" in found(waits={"gc current block 2-way": (per_s, 0.3)})) is much
