"""ADDM's own findings: alone they are told as they are, beside waits they are evidence; none at all is health."""

from pathlib import Path

import pytest

from diagnose.oracle_hosts import found
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Diagnosis
from doctord.read.formats import read_file
from doctord.report.phrases import said
from reading import SAMPLES

READS = {"db file sequential read": (2000.0, 1.0)}


def verdict(file: Path) -> Diagnosis:
    return diagnose(Dataset.from_batches(read_file(file).batches))


def test_a_report_alone_is_told_as_it_is() -> None:
    top, commits = verdict(SAMPLES / "addm.txt").findings
    assert [said(finding.title) for finding in (top, commits)] == [
        "ADDM: Top SQL Statements: 50 % of database time",
        "ADDM: Commits and Rollbacks: 20 % of database time",
    ]
    assert said(top.remedy[0]).startswith("SQL Tuning: Run SQL Tuning Advisor")
    assert said(commits.remedy[0]).startswith("What ADDM recommends")


def test_a_quiet_report_was_judged(tmp_path: Path) -> None:
    text = (SAMPLES / "addm.txt").read_text().replace("9000 seconds", "36 seconds").replace("was 2.5", "was .01")
    file = tmp_path / "addm.txt"
    file.write_text(text.partition("Summary of")[0] + "There are no findings to report.\n")
    diagnosis = verdict(file)
    assert diagnosis.findings == ()
    assert [round(share.seconds_per_second, 3) for share in diagnosis.time] == [0.01]


@pytest.mark.parametrize(
    ("title", "speaks_for"), [('"User I/O" wait Class ADDM:1_1_2', True), ("Row Lock Waits ADDM:1_1_2", False)]
)
def test_beside_waits_it_is_evidence(title: str, *, speaks_for: bool) -> None:
    figures = {("addm.active_sessions_pct", title): 60.0}
    finding = found(waits=READS, figures=figures)["too_many_single_block_reads"]
    told = [said(item.figure) for item in (finding.for_ if speaks_for else finding.against)]
    assert any(text.startswith("ADDM") and title.partition(" ADDM")[0] in text for text in told)
    assert not any("ADDM" in said(item.figure) for item in (finding.against if speaks_for else finding.for_))


def test_without_addm_nothing_is_said_of_it() -> None:
    finding = found(waits=READS)["too_many_single_block_reads"]
    assert not any("ADDM" in said(item.figure) for item in (*finding.for_, *finding.against))
