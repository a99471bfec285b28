"""A parse storm is one finding."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.oracle_hosts import START, oracle_host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

WAITING = {"library cache: mutex X": (200.0, 5.0), "cursor: pin S": (100.0, 5.0), "latch: shared pool": (100.0, 4.0)}
PARSING = {
    "v$sys_time_model.parse time elapsed": 1.5, "v$sys_time_model.hard parse elapsed time": 1.0,
    "v$sysstat.parse count (hard)": 60.0, "v$sysstat.parse count (failures)": 30.0,
}  # fmt: skip


def _found(before: int = 4, now: int = 2, **changes: Any) -> tuple[Finding, ...]:
    first = oracle_host(reports=before, figures={"v$sysstat.parse count (failures)": 0.1})
    then = oracle_host(reports=now, start=START + timedelta(hours=before), **changes)
    return diagnose(Dataset.joined([first, then])).findings


def test_parse_time_failed_parses_mutexes_and_pins_are_one_finding() -> None:
    findings = _found(waits=WAITING, figures=PARSING)
    roots = [finding.cause for finding in findings if finding.explained_by is None]
    assert roots == ["parse_storm"]
    assert "time_grew" not in [finding.cause for finding in findings]
    told = {said(item.figure) for item in findings[0].for_}
    assert {"hard parses: 120.0 times as much", "failed parses: 300.0 times as much"} <= told
    assert any(figure.startswith("library cache: mutex X") for figure in told)


@pytest.mark.parametrize(
    "changes",
    [
        {"figures": {"v$sys_time_model.parse time elapsed": 1.5}},  # no other sign
        {"figures": {"v$sysstat.parse count (hard)": 60.0, "v$sysstat.parse count (failures)": 30.0}},  # no time in it
        {},
    ],
)
def test_one_sign_is_no_storm(changes: dict[str, Any]) -> None:
    assert "parse_storm" not in [finding.cause for finding in _found(**changes)]


def test_other_time_that_grew_meanwhile_is_told_beside_the_storm() -> None:
    slower = WAITING | {"db file sequential read": (300.0, 9.0)}
    causes = [finding.cause for finding in _found(waits=slower, figures=PARSING)]
    assert {"parse_storm", "time_grew"} <= set(causes)
