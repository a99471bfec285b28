"""Address translation: time in misses, and faults that needed I/O."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.analyse.host import translation
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from read.texts import dataset_of, dataset_of_sample
from shared import CASEBOOK, sample


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def missing(pct: float | None) -> Dataset:
    rows: list[dict[str, Any]] = [
        {"cpu": cpu, "mode": mode, "page_bytes": 8192, "dtlb_pct": part, "dtsb_pct": 0.0}
        for cpu in (0, 1)
        for mode, part in (("user", pct), ("kernel", 0.0 if pct is not None else None))
    ]
    return host(extra={"translation": rows}, without=("session", "process"))


@pytest.mark.parametrize(("pct", "is_much"), [(19.9, False), (20.0, True), (45.0, True), (None, False)])
def test_a_fifth_of_the_time_in_misses(pct: float | None, *, is_much: bool) -> None:
    assert ("translation_misses" in found(missing(pct))) is is_much


def test_the_pages_in_which_it_is_spent_and_those_that_would_do() -> None:
    finding = found(missing(30.0))["translation_misses"]
    figures = [said(evidence.figure) for evidence in finding.for_]
    assert figures[0] == "30 % of the time in TLB and TSB misses"
    assert figures[1] == "user mode, pages of 8.0 KiB: 30.0 % of the time for data, 0.0 % for code"
    assert "24.0 GiB in pages of 4.0 MiB: 6,144 translations" in figures


def test_all_cpus_together_count_once() -> None:
    assert translation.share(dataset_of_sample("trapstat.t.txt")) == pytest.approx(0.233)


def test_the_casebook_translates_quickly_and_has_some_more_major_faults() -> None:
    """0.69 % by both counters, just above 0.5 %; no time in misses."""
    files = [sample(CASEBOOK / "tlb" / f"{name}.txt") for name in ("trapstat-T", "vmstat-1", "vmstat-s", "kstat")]
    findings = found(Dataset.joined(map(dataset_of, files)))
    assert list(findings) == ["major_faults_many"]
    finding = findings["major_faults_many"]
    assert [said(evidence.figure) for evidence in finding.for_] == [
        "0.69 %, 16,504,390 major of 2,377,024,933 minor faults",
        "0.69 %, 984,358 major of 142,199,182 minor faults",
    ]
    assert [said(evidence.figure) for evidence in finding.against] == [
        "0 pages scanned per s",
        "0.0 % of the time in TLB and TSB misses",
    ]


@pytest.mark.parametrize(("major", "is_many"), [(4999.0, False), (5001.0, True)])
def test_half_a_per_cent_of_major_faults(major: float, *, is_many: bool) -> None:
    counters = [
        {"component": "solaris", "name": "kstat.as_fault", "value": 1e6, "kind": "gauge"},
        {"component": "solaris", "name": "kstat.maj_fault", "value": major, "kind": "gauge"},
    ]
    assert ("major_faults_many" in found(host(extra={"statistic": counters}))) is is_many


def test_one_counter_alone_tells_nothing() -> None:
    counter = {"component": "solaris", "name": "kstat.maj_fault", "value": 1e6, "kind": "gauge"}
    assert not found(host(extra={"statistic": [counter]}))
