"""Commits that are quick, and too many, by samples of sessions."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

IN_LINE = {("Commit", "WALWrite"): 8.0, ("Commit", "WALSync"): 1.0, ("CPU", "CPU"): 1.0}
FEW_ROWS: dict[tuple[str | None, str], float] = {
    ("bench", "pg_stat_database.xact_commit"): 6000.0,
    ("bench", "pg_stat_database.tup_inserted"): 6000.0,
}


def found(time: dict[tuple[str, str], float], figures: dict[tuple[str | None, str], float]) -> Finding | None:
    seen: Any = host(time=time, postgres=figures)
    return next((one for one in diagnose(seen).findings if one.cause == "commits_too_frequent"), None)


def test_sessions_that_stand_in_line_for_the_log() -> None:
    finding = found(IN_LINE, FEW_ROWS)
    assert finding
    assert said(finding.title) == "90 % of database time goes to 6,000 commits a second, 1.5 ms each"
    assert (finding.confidence, finding.severity) == (0.75, "critical")
    assert any("1.0 rows changed a commit" in said(one.figure) for one in finding.for_)


def test_transactions_of_some_length_speak_against_it() -> None:
    finding = found(IN_LINE, FEW_ROWS | {("bench", "pg_stat_database.tup_inserted"): 120_000.0})
    assert finding
    assert (finding.confidence, len(finding.against)) == (0.6, 1)


@pytest.mark.parametrize(
    ("time", "commits"),
    [({("Commit", "WALSync"): 2.0}, 1500.0), ({("Commit", "WALWrite"): 40.0}, 6000.0), (IN_LINE, 0.0)],
    ids=["a few sessions", "slow ones are another cause", "no commits"],
)
def test_it_is_nothing(time: dict[tuple[str, str], float], commits: float) -> None:
    assert found(time, FEW_ROWS | {("bench", "pg_stat_database.xact_commit"): commits}) is None
