"""Commits that are quick, and too many, by samples of sessions."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

IN_LINE = {("Commit", "WALWrite"): 8.0, ("Commit", "WALSync"): 1.0, ("CPU", "CPU"): 1.0}
FEW_ROWS: dict[tuple[str | None, str], float] = {
    ("bench", "pg_stat_database.xact_commit"): 6000.0,
    ("bench", "pg_stat_database.tup_inserted"): 6000.0,
}


def found(
    time: dict[tuple[str, str], float], figures: dict[tuple[str | None, str], float], **more: Any
) -> Finding | None:
    return told(time, figures, **more).get("commits_too_frequent")


def told(
    time: dict[tuple[str, str], float], figures: dict[tuple[str | None, str], float], **more: Any
) -> dict[str, Finding]:
    return {one.cause: one for one in diagnose(host(time=time, postgres=figures, **more)).findings}


def test_sessions_that_stand_in_line_for_the_log() -> None:
    finding = found(IN_LINE, FEW_ROWS)
    assert finding
    assert said(finding.title) == "90 % of database time goes to 6,000 commits a second, 1.5 ms each"
    assert (finding.confidence, finding.severity) == (0.75, "warning")  # each of them is quick
    assert any("1.0 rows changed a commit" in said(one.figure) for one in finding.for_)


def test_transactions_of_some_length_speak_against_it() -> None:
    finding = found(IN_LINE, FEW_ROWS | {("bench", "pg_stat_database.tup_inserted"): 120_000.0})
    assert finding
    assert (finding.confidence, len(finding.against)) == (0.6, 1)


OTHER = "postgresql:5433"


def commits_of_another(per_s: float) -> dict[str, Any]:
    rows = {"pg_stat_database.xact_commit": per_s, "pg_stat_database.tup_inserted": per_s}
    about = {"component": "postgresql", "db": OTHER, "entity": "bench", "kind": "rate"}
    return {"extra": {"statistic": [about | {"name": name, "value": value} for name, value in rows.items()]}}


def test_slow_commits_are_not_made_quick_by_those_of_another_server() -> None:
    """Each commit here takes 45 ms; beside it a server commits a thousand times as often, and waits for nothing."""
    slow = FEW_ROWS | {("bench", "pg_stat_database.xact_commit"): 200.0}
    findings = told(IN_LINE, slow, **commits_of_another(200_000.0))
    assert "commits_too_frequent" not in findings
    assert "45.0 ms" in said(findings["commits_slow"].title)
    assert findings["commits_slow"].database == DB


def test_transactions_that_only_read_are_no_commits_that_wait() -> None:
    slow = FEW_ROWS | {("bench", "pg_stat_database.xact_commit"): 20_200.0, (None, "pg_current_snapshot.xmax"): 200.0}
    findings = told(IN_LINE, slow)
    assert "commits_too_frequent" not in findings
    assert "45.0 ms" in said(findings["commits_slow"].title)


def test_each_server_is_judged_by_its_own_commits() -> None:
    finding = found(IN_LINE, FEW_ROWS, **commits_of_another(10.0))
    assert finding
    assert (finding.database, said(finding.title)) == (
        DB, "90 % of database time goes to 6,000 commits a second, 1.5 ms each"
    )  # fmt: skip


def test_rows_that_were_not_counted_are_not_few() -> None:
    finding = found(IN_LINE, {("bench", "pg_stat_database.xact_commit"): 6000.0})
    assert finding
    assert finding.confidence == 0.6


@pytest.mark.parametrize(
    ("time", "commits"),
    [({("Commit", "WALSync"): 2.0}, 1500.0), ({("Commit", "WALWrite"): 40.0}, 6000.0), (IN_LINE, 0.0)],
    ids=["a few sessions", "slow ones are another cause", "no commits"],
)
def test_it_is_nothing(time: dict[tuple[str, str], float], commits: float) -> None:
    assert found(time, FEW_ROWS | {("bench", "pg_stat_database.xact_commit"): commits}) is None
