"""Sums of calls beside other figures, and the small reads in them."""

import pytest

from doctord.analyse.traces.call_sums import class_sums
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said
from read.texts import dataset_of
from shared import CASEBOOK, sample


def test_the_casebooks_reads_and_seeks() -> None:
    sums = class_sums(dataset_of(sample(CASEBOOK / "cpu/truss-c.txt")))
    assert (sums["read"].count, sums["seek"].count) == (pytest.approx(639326), pytest.approx(608657))
    assert sums["read"].seconds + sums["seek"].seconds == pytest.approx(50.547)
    assert sums["read"].share == pytest.approx(40.740 / 126.210)


def test_among_other_files_small_reads_are_found_too() -> None:
    files = [sample(CASEBOOK / "cpu" / name) for name in ("truss-c.txt", "vmstat.txt", "prstat-a.txt")]
    findings = diagnose(Dataset.joined(map(dataset_of, files))).findings
    assert [finding.cause for finding in findings] == ["tiny_reads", "tasks_blocked"]
    assert said(findings[0].for_[0].figure) == "40 % of busy time, 50.55 s: 639326 reads and 608657 seeks"
    assert said(findings[0].for_[0].why) == "0.95 seeks for each read"


def test_without_a_trace_there_are_none() -> None:
    assert class_sums(Dataset()) == {}
