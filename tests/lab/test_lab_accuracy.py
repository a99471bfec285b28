from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmark_modules import benchmark
from doctord.lab.fault import all_faults

lab_accuracy, lab_page, lab_runs = benchmark("lab_accuracy"), benchmark("lab_page"), benchmark("lab_runs")
Wanted = lab_accuracy.Wanted
PACE = {"before": {"tps": 100.0, "latency_ms": 1.0}, "during": {"tps": 0.0, "latency_ms": None}}
NO_EFFECT = {"what": "latency", "unit": "ms", "before": 1.0, "during": 1.1, "threshold": 1.5, "found": False}
EFFECT = NO_EFFECT | {"during": 2.0, "found": True}


def run(fault: str, *causes: str, correct: bool = False, **others: Any) -> dict[str, Any]:
    return {
        "fault": fault,
        "intensity": "moderate",
        "load": "tpcb",
        "server": "15.18",
        "first_cause": causes[0] if causes else None,
        "correct": correct,
        "throughput": PACE,
        "named": list(causes),
        "error": None,
    } | others


def rows(runs: list[dict[str, Any]]) -> list[str]:
    return [line for line in lab_page.table(runs).splitlines() if line.startswith(f"| `{runs[0]['fault']}`")]


def test_a_row_counts_what_was_named_first_and_what_else() -> None:
    runs = [run("cpu_hog", "cpu_other_processes", "row_locks", correct=True) for _ in range(2)]
    runs += [run("cpu_hog", "row_locks", "cpu_other_processes"), run("cpu_hog")]
    assert rows(runs) == [
        "| `cpu_hog` | moderate | tpcb | 15 | `cpu_other_processes` | 4 | 2 | 0 | 0 | `row_locks` 1, `nothing` 1 "
        "| `row_locks` 2 | 100/s at 1.0 ms → 0/s |"
    ]


def test_each_intensity_load_and_version_has_its_row() -> None:
    runs = [
        run("cpu_hog"),
        run("cpu_hog", intensity="severe"),
        run("cpu_hog", load="orders"),
        run("cpu_hog"),
        run("cpu_hog", server="18.1"),
    ]
    assert [line.split(" | ")[1:4] + line.split(" | ")[5:6] for line in rows(runs)] == [
        ["moderate", "tpcb", "15", "2"],
        ["severe", "tpcb", "15", "1"],
        ["moderate", "tpcb", "18", "1"],
        ["moderate", "orders", "15", "1"],
    ]


def test_a_run_without_effect_is_listed_and_not_counted() -> None:
    runs = [run("cpu_hog", "row_locks", effect=NO_EFFECT, intensity="mild")]
    runs += [run("cpu_hog", "cpu_other_processes", correct=True, effect=EFFECT, intensity="mild")]
    assert rows(runs) == [
        "| `cpu_hog` | mild | tpcb | 15 | `cpu_other_processes` | 1 | 1 | 0 | 1 |  |  | 100/s at 1.0 ms → 0/s |"
    ]
    assert lab_page.without_effect(runs).splitlines()[-1] == (
        "- `cpu_hog` mild (tpcb): latency 1 → 1.1 ms, where 1.5 counts"
    )
    assert lab_page.without_effect(runs[1:]) == "No run was without effect."


def test_a_run_in_which_the_disk_stood_still_is_listed_not_counted_and_made_again() -> None:
    code = lab_runs.judging_code()
    disk = {"before_ms": 812.4, "during_ms": 1.0, "stood_still": True}
    runs = [run("connection_churn", "commits_slow", disk=disk, seed=1, code=code)]
    runs.append(run("connection_churn", "connection_churn", correct=True, disk=disk | {"stood_still": False}))
    assert rows(runs)[0].startswith(
        "| `connection_churn` | moderate | tpcb | 15 | `connection_churn` | 1 | 1 | 0 | 1 |"
    )
    assert lab_page.disk_stood_still(runs).splitlines()[-1] == (
        "- `connection_churn` moderate (tpcb): the slowest synced write took 812 ms before and 1 ms during it; "
        "first: commits_slow"
    )
    assert lab_page.disk_stood_still(runs[1:]) == "The disk stood still in no run."
    wanted = [Wanted("connection_churn", "moderate", "tpcb", 1)]
    assert lab_accuracy.missing(wanted, runs[:1], "15.18") == wanted


def test_a_run_that_failed_counts_as_wrong() -> None:
    failed = run("none", error="status 2: no PostgreSQL")
    assert rows([failed])[0].startswith("| `none` | moderate | tpcb | 15 | none | 1 | 0 | 0 | 0 | `failed` 1 |")


def test_a_note_beside_no_finding_is_told() -> None:
    assert "| `buffer_pool_small` 1 |" in rows([run("none", correct=True, named=["buffer_pool_small"])])[0]


@pytest.mark.parametrize(("skipped", "says"), [("needs root", "skipped"), (None, "1")])
def test_a_skipped_run_is_not_a_run(skipped: str | None, says: str) -> None:
    assert f"| {says} |" in rows([run("disk_throttled", skipped=skipped)])[0]


def test_a_fault_that_nobody_ran_is_told() -> None:
    told = lab_page.not_run([run("cpu_hog")])
    assert "`row_lock_convoy`" in told
    assert "`cpu_hog`" not in told


def test_confidence_stands_beside_how_often_it_was_right() -> None:
    runs = [run("cpu_hog", "cpu_other_processes", correct=True), run("cpu_hog", "row_locks"), run("none")]
    runs.append(run("cpu_hog", "row_locks", effect=NO_EFFECT))
    for each in (*runs[:2], runs[3]):
        each["confidence"] = 0.9
    told = lab_page.calibration(runs)
    assert "| almost certain | 2 | 90% | 50% | 9% to 91% |" in told
    assert "expected error over these 0.40. Of 1 faults 0 were right in all of their runs: 0% to 79%" in told
    assert lab_page.calibration([run("none")]) == "No run had a finding."


def test_only_runs_judged_by_the_code_of_today_count() -> None:
    runs = [run("cpu_hog", "row_locks", code="older", at="2026-01-02"), run("cpu_hog", code=lab_runs.judging_code())]
    assert lab_runs.counted(runs) == runs[1:]
    page = lab_page.page(runs, "20s")
    assert "is that of today: 1 of 2 do" in page
    counting, _, older = page.partition("## Judged by older code (2026-01-02)")
    assert "`row_locks` 1" not in counting
    assert "`row_locks` 1" in older


def test_the_code_that_judges_is_told_by_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "src/doctord/diagnose/causes.py"
    file.parent.mkdir(parents=True)
    monkeypatch.setattr(lab_runs, "ROOT", tmp_path)
    hashes = []
    for text in ("one", "two", "one"):
        file.write_text(text)
        hashes.append(lab_runs.judging_code.__wrapped__())
    assert hashes[0] == hashes[2] != hashes[1]


def test_resuming_leaves_out_what_was_run_by_the_code_of_today() -> None:
    code = lab_runs.judging_code()
    there = [run("cpu_hog", seed=1, code=code), run("cpu_hog", seed=2, code="older")]
    there += [run("cpu_hog", seed=3, code=code, error="status 2"), run("none", seed=1, code=code, load="orders")]
    wanted = [Wanted("cpu_hog", "moderate", "tpcb", seed) for seed in (1, 2, 3)]
    wanted += [Wanted("none", "moderate", load, 1) for load in ("tpcb", "orders")]
    assert lab_accuracy.missing(wanted, there, "15.18") == wanted[1:-1]
    assert lab_accuracy.missing(wanted, there, "18.1") == wanted


def test_a_square_has_each_combination_once_and_in_each_round_all_faults() -> None:
    names = ["cpu_hog", "none", "row_lock_convoy", "synchronous_standby_missing"]
    wanted = list(lab_accuracy.square(names))
    assert len(set(wanted)) == len(wanted) == 6 + 2 + 6 + 2
    assert [one.fault for one in wanted[:8]] == names * 2
    assert Counter(one.fault for one in wanted) == {"cpu_hog": 6, "row_lock_convoy": 6, names[1]: 2, names[3]: 2}
    assert {(one.intensity, one.load) for one in wanted if one.fault == "cpu_hog"} == {
        (intensity, load) for intensity in ("mild", "moderate", "severe") for load in ("tpcb", "orders")
    }
    assert all(one.intensity in all_faults()[one.fault].intensities for one in wanted)


def test_runs_are_kept_and_judged_again_where_their_recording_is_there(tmp_path: Path) -> None:
    rows_file = tmp_path / "runs.jsonl"
    assert lab_runs.kept(rows_file) == []
    (tmp_path / "there").mkdir()
    for lake in ("there", "gone", None):
        lab_runs.keep(run("cpu_hog", lake=lake, code="older"), rows_file)
    again = lab_runs.keep_judged_again(rows_file, lambda one: {"named": [one["lake"]]}, tmp_path)
    assert [(one["named"], one["code"]) for one in again] == [
        (["there"], lab_runs.judging_code()),
        ([], "older"),
        ([], "older"),
    ]
    assert lab_runs.kept(rows_file) == again


@pytest.mark.parametrize("page", ["lab-accuracy", "lab-pairs", "lab-published"])
def test_the_committed_rows_make_their_page(page: str) -> None:
    runs = lab_runs.kept(lab_runs.REFERENCE / f"{page}-runs.jsonl")
    made = benchmark({"lab-accuracy": "lab_page"}.get(page, page.replace("-", "_"))).page(runs, "20s")
    assert made.startswith("# ")
    assert runs
