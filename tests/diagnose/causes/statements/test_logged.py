"""Slow statements and commits of a server's log."""

from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Diagnosis, Finding
from doctord.read.formats import read_file
from doctord.report.phrases import said

LINE = "2026-11-20 12:{:02d}:00.000 UTC [{}] app@shop LOG:  duration: {:.3f} ms  statement: {}\n"
VIEW = "select count(*) from order_totals where day = {}"


def judged(folder: Path, each_ms: float, statement: str, count: int = 12) -> Diagnosis:
    lines = [LINE.format(number, 4000 + number, each_ms, statement.format(number)) for number in range(count)]
    file = folder / "postgresql.log"
    file.write_text("".join(lines))
    return diagnose(Dataset.from_batches(read_file(file, zone="UTC").batches))


def found(diagnosis: Diagnosis) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnosis.findings}


def test_statements_that_take_long_again_and_again(tmp_path: Path) -> None:
    finding = found(judged(tmp_path, 11_200, VIEW))["statements_slow"]
    assert said(finding.title).startswith("Statements take 11.2 s each, 12 times: select count(*)")
    assert (finding.severity, finding.impact.share) == ("warning", None)


@pytest.mark.parametrize(
    ("each_ms", "statement", "count", "severity"),
    [
        (2_000, VIEW, 12, "note"),
        (900, VIEW, 12, None),
        (60_000, VIEW, 3, None),  # a report
        (5_000, "COMMIT", 12, None),
    ],
)
def test_what_is_short_or_rare_is_no_alarm(
    tmp_path: Path, each_ms: float, statement: str, count: int, severity: str | None
) -> None:
    finding = found(judged(tmp_path, each_ms, statement, count)).get("statements_slow")
    assert (finding and finding.severity) == severity


@pytest.mark.parametrize(
    ("each_ms", "statement", "count", "told"),
    [(7_400, "COMMIT", 12, True), (300, "END;", 12, True), (30, "COMMIT", 12, False), (7_400, "COMMIT", 4, False)],
)
def test_commits_of_the_log(tmp_path: Path, each_ms: float, statement: str, count: int, *, told: bool) -> None:
    finding = found(judged(tmp_path, each_ms, statement, count)).get("commits_slow")
    assert (finding is not None) is told
    if finding:
        assert said(finding.title) == f"Commits take {each_ms:,.0f} ms each: 12 in the log"


@pytest.mark.parametrize(("each_ms", "health"), [(0.3, "healthy"), (400, "not_judged")])
def test_a_log_of_the_slow_ones_alone_is_no_clean_bill(tmp_path: Path, each_ms: float, health: str) -> None:
    assert judged(tmp_path, each_ms, VIEW).health == health
