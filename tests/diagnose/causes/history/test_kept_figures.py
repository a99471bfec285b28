"""Histories that were kept by hand: limits, space, requests over a limit, and tables that contradict themselves."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

START = datetime(2026, 11, 20, tzinfo=UTC)
DB = "oracle:DW"
READ = {"ts": START, "db": DB, "event": "db file scattered read", "wait_class": "User I/O", "kind": "foreground"}


def found(**tables: list[dict[str, Any]]) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(Dataset.from_rows(**tables)).findings}


def target(value: float, **about: Any) -> dict[str, Any]:
    return {"ts": START, "component": "target", "name": "wait.avg_wait_ms", "unit": "ms", "value": value} | about


def test_a_limit_is_passed_by_the_last_value_and_by_no_earlier_one() -> None:
    waits = [READ | {"avg_wait_ms": 30.0, "ts": START - timedelta(days=7)}, READ | {"avg_wait_ms": 9.0}]
    waits.append(READ | {"event": "log file sync", "avg_wait_ms": 6.0})
    limits = [target(10.0, entity="db file scattered read"), target(5.0, entity="log file sync")]
    finding = found(wait=waits, statistic=limits)["kept_limit_passed"]
    assert said(finding.title) == "1 of 2 figures are above the limits that were set for them"
    assert [said(item.figure) for item in finding.for_] == ["log file sync: 6 ms each".removesuffix(" each")]


def test_a_unit_with_brackets_is_shown_without_them() -> None:
    waits = [READ | {"avg_wait_ms": 9.0}]
    limits = [target(5.0, entity="db file scattered read", unit="{ms}")]
    finding = found(wait=waits, statistic=limits)["kept_limit_passed"]
    assert said(finding.for_[0].figure) == "db file scattered read: 9 ms"


def test_a_limit_of_what_was_not_measured_is_not_passed() -> None:
    assert found(statistic=[target(0.0, entity="log file sync")]) == {}


def space(day: int, used: float, left: float) -> dict[str, Any]:
    return {"ts": START + timedelta(days=day), "db": DB, "kind": "tablespace", "name": "USERS",
            "used_bytes": round(used * 2**30), "available_bytes": round(left * 2**30)}  # fmt: skip


@pytest.mark.parametrize(
    ("days", "full"),
    [
        ([(0, 10, 8), (4, 14, 4)], True),
        ([(0, 10, 80), (4, 14, 76)], False),
        ([(0, 14, 4), (4, 10, 8)], False),
        ([(0, 10, 8), (1, 14, 4)], False),
    ],
    ids=["in four days", "in eleven weeks", "it shrinks", "one day is no habit"],
)
def test_a_tablespace_that_is_full_within_days(days: list[tuple[int, float, float]], *, full: bool) -> None:
    findings = found(space=[space(*day) for day in days])
    assert [said(finding.title) for finding in findings.values()] == (["USERS is full in 4 days"] if full else [])


def test_requests_are_scaled_to_a_day() -> None:
    runs = [{"ts": START, "run": "Monday", "duration_s": 43200.0, "over_limit": 10},
            {"ts": START, "run": "Tuesday", "duration_s": 86400.0, "over_limit": 0}]  # fmt: skip
    finding = found(timing=runs)["requests_over_limit"]
    assert said(finding.title) == "10 requests of Monday took too long: 20.0 in 24 h"
    assert [said(item.figure) for item in finding.against] == ["Tuesday: none over the limit"]
    assert found(timing=runs[1:]) == {}


def test_waits_that_contradict_themselves_are_told_and_not_used() -> None:
    row = READ | {"interval_s": 86400.0, "waits_per_s": 20.0, "average_active_sessions": 0.7}
    findings = found(wait=[row | {"avg_wait_ms": 8.0}])
    assert list(findings) == ["waits_contradict"], "no share of a time that nobody knows"
    assert said(findings["waits_contradict"].for_[0].threshold) == "35 ms from time and waits"
    assert "waits_contradict" not in found(wait=[row | {"avg_wait_ms": 35.0}])
