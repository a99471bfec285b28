"""What Oracle's own logs report."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.oracle_hosts import DB, START, found
from doctord.report.phrases import said


def _events(kind: str, subject: str, count: int, text: str = "") -> dict[str, Any]:
    event = {"kind": kind, "db": DB, "subject": subject, "text": text}
    return {"event": [event | {"ts": START + timedelta(minutes=minute)} for minute in range(count)]}


@pytest.mark.parametrize(
    ("code", "count", "told"),
    [("ORA-00600", 1, True), ("ORA-00942", 9, False), ("ORA-00942", 10, True), ("TNS-12535", 50, False)],
)
def test_errors_by_what_they_say_of_the_server(code: str, count: int, *, told: bool) -> None:
    assert ("alert_log_errors" in found(extra=_events("error", code, count))) is told


def test_an_error_says_what_to_do() -> None:
    finding = found(extra=_events("error", "ORA-04031", 3, "unable to allocate ? bytes"))["alert_log_errors"]
    assert "3 times" in said(finding.title)
    assert "hard_parsing" in said(finding.remedy[0])


@pytest.mark.parametrize(("count", "told"), [(0, False), (1, True), (2, True)])
def test_an_instance_that_ended(count: int, *, told: bool) -> None:
    assert ("instance_ended" in found(extra=_events("instance terminated", "instance", count))) is told


def test_an_archiver_that_is_stuck_explains_one_that_is_late() -> None:
    waits = {"log file switch (archiving needed)": (0.2, 5000.0)}
    findings = found(extra=_events("archiver stuck", "archiver", 2, "ORA-19809"), waits=waits)
    assert findings["archiver_behind"].explained_by == "archiver_stuck"


@pytest.mark.parametrize(("refused", "told"), [(0.01, False), (0.5, True)])
def test_refused_connections_against_those_made(refused: float, *, told: bool) -> None:
    figures = {("listener.refused", "app 12519"): refused, ("listener.establish", "app"): 2.0}
    findings = found(figures=figures)
    assert ("listener_refuses" in findings) is told
    if told:
        assert "used up" in said(findings["listener_refuses"].for_[0].why)
