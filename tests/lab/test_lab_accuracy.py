import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmark_modules import benchmark

lab_accuracy, lab_page = benchmark("lab_accuracy"), benchmark("lab_page")
ROOT = Path(__file__).parents[2]
PACE = {"before": {"tps": 100.0, "latency_ms": 1.0}, "during": {"tps": 0.0, "latency_ms": None}}
NO_EFFECT = {"what": "latency", "unit": "ms", "before": 1.0, "during": 1.1, "threshold": 1.5, "found": False}
EFFECT = NO_EFFECT | {"during": 2.0, "found": True}


def run(fault: str, *causes: str, correct: bool = False, **others: Any) -> dict[str, Any]:
    return {
        "fault": fault,
        "first_cause": causes[0] if causes else None,
        "correct": correct,
        "throughput": PACE,
        "diagnosis": {"findings": [{"cause": cause} for cause in causes]},
        "error": None,
    } | others


def rows(runs: list[dict[str, Any]]) -> list[str]:
    return [line for line in lab_page.table(runs).splitlines() if line.startswith(f"| `{runs[0]['fault']}`")]


def test_a_row_counts_what_was_named_first_and_what_else() -> None:
    runs = [run("cpu_hog", "cpu_other_processes", "row_locks", correct=True) for _ in range(2)]
    runs += [run("cpu_hog", "row_locks", "cpu_other_processes"), run("cpu_hog")]
    assert rows(runs) == [
        "| `cpu_hog` | moderate | tpcb | `cpu_other_processes` | 4 | 2 | 0 | 0 | `row_locks` 1, `nothing` 1 "
        "| `row_locks` 2 | 100/s at 1.0 ms → 0/s |"
    ]


def test_each_intensity_and_load_has_its_row() -> None:
    runs = [
        run("cpu_hog"),
        run("cpu_hog", intensity="severe"),
        run("cpu_hog", load="orders"),
        run("cpu_hog", load=None),
    ]
    assert [line.split(" | ")[1:5:3] + line.split(" | ")[2:3] for line in rows(runs)] == [
        ["moderate", "2", "tpcb"],
        ["severe", "1", "tpcb"],
        ["moderate", "1", "orders"],
    ]


def test_a_run_without_effect_is_listed_and_not_counted() -> None:
    runs = [run("cpu_hog", "row_locks", effect=NO_EFFECT, intensity="mild")]
    runs += [run("cpu_hog", "cpu_other_processes", correct=True, effect=EFFECT, intensity="mild")]
    assert rows(runs) == [
        "| `cpu_hog` | mild | tpcb | `cpu_other_processes` | 1 | 1 | 0 | 1 |  |  | 100/s at 1.0 ms → 0/s |"
    ]
    assert lab_page.without_effect(runs).splitlines()[-1] == (
        "- `cpu_hog` mild (tpcb): latency 1 → 1.1 ms, where 1.5 counts"
    )
    assert lab_page.without_effect(runs[1:]) == "No run was without effect."


def test_a_run_that_failed_counts_as_wrong() -> None:
    failed = {"fault": "none", "error": "status 2: no PostgreSQL", "seed": 1, "took_s": 0.1}
    assert rows([failed])[0].startswith("| `none` | moderate | tpcb | none | 1 | 0 | 0 | 0 | `failed` 1 |")


@pytest.mark.parametrize(("skipped", "says"), [("needs root", "skipped"), (None, "1")])
def test_a_skipped_run_is_not_a_run(skipped: str | None, says: str) -> None:
    assert f"| {says} |" in rows([run("disk_throttled", skipped=skipped)])[0]


def test_a_fault_that_nobody_ran_says_so() -> None:
    assert "| `cpu_hog` |  |  | `cpu_other_processes` | not run |" in lab_page.table([])


def test_confidence_stands_beside_how_often_it_was_right() -> None:
    runs = [run("cpu_hog", "cpu_other_processes", correct=True), run("cpu_hog", "row_locks"), run("none")]
    runs.append(run("cpu_hog", "row_locks", effect=NO_EFFECT))
    for each in (*runs[:2], runs[3]):
        each["diagnosis"]["findings"][0]["confidence"] = 0.9
    assert lab_page.calibration(runs).endswith("a confidence of 90% (mean of 2); 50% were right.")
    assert lab_page.calibration([run("none")]) == "No run had a finding."


def test_resuming_leaves_out_what_was_run_by_the_code_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_accuracy, "_is_of_today", lambda commit: commit == "today")
    there = [run("cpu_hog", seed=1, commit="today"), run("cpu_hog", seed=2, commit="before")]
    there += [
        run("cpu_hog", seed=3, commit="today", error="status 2"),
        run("none", seed=1, commit="today", load="orders"),
    ]
    wanted = [("cpu_hog", "moderate", seed) for seed in (1, 2, 3)] + [("cpu_hog", "mild", 1), ("none", "moderate", 1)]
    assert lab_accuracy.missing(wanted, there, "tpcb") == wanted[1:]
    assert lab_accuracy.missing(wanted, there, "orders") == wanted[:-1]


def test_a_commit_that_is_not_known_is_not_of_today() -> None:
    assert not lab_accuracy._is_of_today("no-such-commit")
    clean = subprocess.run(["git", "-C", ROOT, "diff", "--quiet", "HEAD", "--", "src", "native"], check=False)
    assert lab_accuracy._is_of_today("HEAD") is (clean.returncode == 0)
