"""Commits of Oracle: what log file sync is made of."""

import pytest

from diagnose.oracle_hosts import found
from doctord.report.phrases import said

SLOW_SYNC = {"log file sync": (72.0, 26.45)}


def test_an_ordinary_hour_is_healthy() -> None:
    assert found() == {}


@pytest.mark.parametrize(("write_ms", "slow"), [(4.9, False), (5.0, True), (12.0, True)])
def test_a_slow_log_device(write_ms: float, *, slow: bool) -> None:
    findings = found(waits={"log file sync": (70.0, 13.0)}, background={"log file parallel write": (74.0, write_ms)})
    assert ("commits_slow" in findings) is slow


def test_the_device_is_blamed_for_its_part_alone() -> None:
    findings = found(waits=SLOW_SYNC, background={"log file parallel write": (74.0, 11.8)})
    device, starved = findings["commits_slow"], findings["log_writer_starved"]
    assert device.impact.share is not None
    assert starved.impact.share is not None
    assert device.impact.share / (device.impact.share + starved.impact.share) == pytest.approx(11.8 / 26.45)
    assert any("not the device" in said(item.why) for item in device.against)


def test_a_log_writer_without_a_cpu_is_surer_on_a_full_host() -> None:
    full = found(waits=SLOW_SYNC, host={"idle_pct": 1.0, "wait_io_pct": 0.0})["log_writer_starved"]
    idle = found(waits=SLOW_SYNC)["log_writer_starved"]
    assert full.confidence > idle.confidence
    assert any("CPU is free" in said(item.why) for item in idle.against)


def test_without_the_background_it_cannot_be_told_which() -> None:
    (finding,) = found(waits=SLOW_SYNC, background={"log file parallel write": None}).values()
    assert finding.cause == "commits_slow"
    assert finding.confidence == 0.7
    assert said(finding.title) == "Commits wait 26.4 ms for the log"


def test_a_synchronous_standby_is_not_a_lost_cpu() -> None:
    remote = {"log file parallel write": (74.0, 0.8), "SYNC Remote Write": (74.0, 24.0)}
    assert set(found(waits={"log file sync": (72.0, 26.0)}, background=remote)) == {"standby_slows_commits"}


@pytest.mark.parametrize(("calls", "confidence"), [(400.0, 0.85), (40000.0, 0.6)])
def test_quick_commits_that_are_too_many(calls: float, confidence: float) -> None:
    findings = found(
        waits={"log file sync": (400.0, 1.2)}, figures={"v$sysstat.user commits": 400.0, "v$sysstat.user calls": calls}
    )
    assert set(findings) == {"commits_too_frequent"}
    assert findings["commits_too_frequent"].confidence == confidence
    assert bool(findings["commits_too_frequent"].against) is (confidence < 0.8)


def test_solaris_is_told_in_its_own_words() -> None:
    etc_system = {"setting": [{"component": "solaris", "name": "maxphys", "value": "1048576"}]}
    there = found(waits=SLOW_SYNC, host={"idle_pct": 1.0}, extra=etc_system)["log_writer_starved"]
    assert any("priocntl -s -c FX -m 59 -p 59" in said(part) for part in there.remedy)
    elsewhere = found(waits=SLOW_SYNC, host={"idle_pct": 1.0})["log_writer_starved"]
    assert not any("priocntl" in said(part) for part in elsewhere.remedy)
