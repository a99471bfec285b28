import runpy
from pathlib import Path
from typing import Any

import pytest

BENCHMARK = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "lab_accuracy.py"))
PACE = {"before": {"tps": 100.0, "latency_ms": 1.0}, "during": {"tps": 0.0, "latency_ms": None}}


def run(fault: str, *causes: str, correct: bool = False, **others: Any) -> dict[str, Any]:
    return {
        "fault": fault,
        "first_cause": causes[0] if causes else None,
        "correct": correct,
        "throughput": PACE,
        "diagnosis": {"findings": [{"cause": cause} for cause in causes]},
        "error": None,
    } | others


def row(runs: list[dict[str, Any]]) -> str:
    table: str = BENCHMARK["table"](runs)
    return next(line for line in table.splitlines() if line.startswith(f"| `{runs[0]['fault']}`"))


def test_a_row_counts_what_was_named_first_and_what_else() -> None:
    runs = [run("cpu_hog", "cpu_other_processes", "row_locks", correct=True) for _ in range(2)]
    runs += [run("cpu_hog", "row_locks", "cpu_other_processes"), run("cpu_hog")]
    assert row(runs) == (
        "| `cpu_hog` | `cpu_other_processes` | 4 | 2 | 0 | `row_locks` 1, `nothing` 1 | `row_locks` 2 "
        "| 100/s at 1.0 ms → 0/s |"
    )


def test_a_run_that_failed_counts_as_wrong() -> None:
    failed = {"fault": "none", "error": "status 2: no PostgreSQL", "seed": 1, "took_s": 0.1}
    assert row([failed]).startswith("| `none` | none | 1 | 0 | 0 | `failed` 1 |")


@pytest.mark.parametrize(("skipped", "says"), [("needs root", "skipped"), (None, "1")])
def test_a_skipped_run_is_not_a_run(skipped: str | None, says: str) -> None:
    assert f"| {says} |" in row([run("disk_throttled", skipped=skipped)])


def test_confidence_stands_beside_how_often_it_was_right() -> None:
    runs = [run("cpu_hog", "cpu_other_processes", correct=True), run("cpu_hog", "row_locks"), run("none")]
    for each in runs[:2]:
        each["diagnosis"]["findings"][0]["confidence"] = 0.9
    assert BENCHMARK["calibration"](runs).endswith("a confidence of 90% (mean of 2); 50% were right.")
    assert BENCHMARK["calibration"]([run("none")]) == "No run had a finding."
