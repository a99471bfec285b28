"""Statistics that mislead, where there is nothing better."""

from datetime import UTC, datetime
from typing import Any

import pytest

from diagnose.oracle_hosts import oracle_host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

AT = {"ts": datetime(2026, 11, 20, 12, 0, tzinfo=UTC), "interval_s": 600.0, "host": "h"}
CPU = AT | {"usr_pct": 20.0, "sys_pct": 5.0, "idle_pct": 75.0, "wait_io_pct": 0.0}


def _statistic(name: str, value: float) -> dict[str, list[dict[str, Any]]]:
    return {"statistic": [AT | {"component": "kernel", "name": name, "value": value}]}


def _told(**tables: list[dict[str, Any]]) -> Finding | None:
    found = diagnose(Dataset.from_rows(**tables)).findings
    return next((finding for finding in found if finding.cause == "time_not_measured"), None)


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"cpu": [CPU | {"wait_io_pct": 35.0, "idle_pct": 40.0}]}, "35 % wait I/O"),
        ({"cpu": [CPU | {"xcalls_per_s": 2.6e6}]}, "2,600,000 cross calls"),
        (_statistic("uptime.load_1m", 8.87), "a load average of 8.9"),
        (_statistic("instance_efficiency.Buffer Hit %", 99.88), "Buffer Hit % 99.88"),
    ],
)
def test_each_is_named_and_what_to_collect(tables: dict[str, list[dict[str, Any]]], words: str) -> None:
    finding = _told(**tables)
    assert finding is not None
    assert words in said(finding.title)
    assert said(finding.for_[0].why)
    assert "AWR" in said(finding.not_measured[0].grant)
    assert finding.impact.share is None


@pytest.mark.parametrize(
    "tables",
    [
        {"cpu": [CPU | {"wait_io_pct": 3.0, "xcalls_per_s": 926.0}]},
        {"cpu": [CPU | {"wait_io_pct": 35.0}], "disk": [AT | {"device": "sda", "read_ms": 1.0, "reads_per_s": 5.0}]},
        {"cpu": [CPU], **_statistic("uptime.load_1m", 8.87)},
        _statistic("uptime.load_1m", 0.4),
    ],
)
def test_nothing_is_said_where_they_are_low_or_there_is_better_evidence(
    tables: dict[str, list[dict[str, Any]]],
) -> None:
    assert _told(**tables) is None


def test_where_times_are_known_they_are_passed_over() -> None:
    assert diagnose(oracle_host(host={"wait_io_pct": 40.0, "idle_pct": 39.0})).healthy
