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


# Linux, by the processor's counters: figures as the sampler stores them. They were never seen on real hardware.
BACKEND, OTHER = "postgres: client backend (pid 1000)", "postgres: client backend (pid 1001)"
WORKING = {("CPU", "CPU"): 1.8, ("User I/O", "DataFileRead"): 0.2}


def walking(pct: float | None, other_pct: float | None = None, **changes: Any) -> dict[str, Finding]:
    """Of a server whose busiest processes have such a share of their cycles in walks; the other has a third as many."""
    kernel: dict[tuple[str | None, str], float] = {
        (BACKEND, "process.cycles_per_s"): 3e9, (OTHER, "process.cycles_per_s"): 1e9,
        (BACKEND, "process.dtlb_misses_per_s"): 4e6,
    }  # fmt: skip
    for entity, share in ((BACKEND, pct), (OTHER, pct if other_pct is None else other_pct)):
        if share is not None:
            kernel[entity, "process.dtlb_walk_pct"] = share
    return found(host(time=WORKING, kernel=kernel | changes.pop("kernel", {}), **changes))


def test_cycles_in_walks_of_a_databases_processes() -> None:
    finding = walking(30.0)["translation_misses"]
    assert said(finding.title) == "The database spends up to 30 % of its cycles on translating addresses"
    assert (finding.impact.known, finding.impact.share) == ("at_most", pytest.approx(0.27, abs=0.03))
    assert said(finding.for_[1].figure) == f"{BACKEND}: 30 % of its cycles"
    assert said(finding.for_[1].why) == "4,000,000 misses per s"
    assert not finding.against


@pytest.mark.parametrize(
    ("pct", "other_pct", "is_much"), [(19.9, None, False), (20.0, None, True), (24.0, 4.0, False), (None, None, False)]
)
def test_a_fifth_of_the_cycles_of_all_that_were_counted(pct: float | None, other_pct: float, *, is_much: bool) -> None:
    assert ("translation_misses" in walking(pct, other_pct)) is is_much


def test_huge_pages_that_are_there_already_speak_against_it() -> None:
    huge = {
        ("1000 shared memory", f"smaps.{name}_bytes"): size
        for name, size in (("size", 8e9), ("resident", 8e9), ("huge", 8e9))
    }
    finding = walking(30.0, kernel=huge)["translation_misses"]
    assert "shared memory in huge pages" in said(finding.against[0].figure)
    assert finding.confidence == 0.6


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
