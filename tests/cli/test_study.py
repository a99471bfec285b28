"""`doctord study` on the casebook: what the investigators concluded comes out of the measurements."""

import json
from pathlib import Path
from typing import Any

import pytest

from in_process import doctord
from shared import CASEBOOK, sample

pytestmark = pytest.mark.slow


def study(*arguments: str | Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(doctord("study", *arguments, "--json").stdout)
    return told


def part(document: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in document["parts"] if one["name"] == name)
    return found


def figure(comparison: dict[str, Any], name: str, kind: str | None = None) -> dict[str, Any]:
    rows = [*comparison["time"], *comparison["figures"]]
    found: dict[str, Any] = next(row for row in rows if row["name"] == name and kind in {None, row["kind"]})
    return found


def between(told: dict[str, Any], before: str, after: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in told["comparisons"] if (one["before"], one["after"]) == (before, after))
    return found


def test_redo_seven_times_the_commits_and_two_waits_that_got_worse() -> None:
    document = study(sample(CASEBOOK / "redo"))
    (told,) = document["parts"][0]["comparisons"]
    assert (document["verdict"], told["unit"]) == ("better", "commit")
    assert told["loads"]["after"] / told["loads"]["before"] == pytest.approx(7.2, abs=0.05)
    sync = figure(told, "log file sync", "wait")
    assert (sync["before"], sync["after"], sync["outcome"]) == (pytest.approx(26.45), pytest.approx(2.13), "better")
    shares = {one["name"]: one["share"] for one in told["shares_of_change"]}
    assert shares["log file sync"] == pytest.approx(0.94, abs=0.01)
    assert sum(shares.values()) == pytest.approx(1, abs=0.001)
    waits = [row for row in told["regressions"] if row["kind"] == "wait"]
    assert [row["name"] for row in waits] == ["log file sequential read", "log file switch completion"]
    read, switch = waits
    assert (read["before"], read["after"]) == (pytest.approx(7.02), pytest.approx(16.62))
    assert read["seconds_per_second_after"] > read["seconds_per_second_before"]
    assert switch["seconds_per_second_after"] < switch["seconds_per_second_before"]
    assert {one["name"] for one in told["changes"]} >= {"log_buffer", "redo log groups", "LGWR scheduling class"}
    assert any(one["name"] == "v$sysstat.redo log space requests" for one in told["not_measured"])


def test_redo_targets_of_its_keeper_and_what_was_accepted() -> None:
    folder = sample(CASEBOOK / "redo")
    told = {one["target"]: one["is_met"] for one in study(folder)["parts"][0]["comparisons"][0]["targets"]}
    assert (told["log file sync <= 5 ms"], told["log file parallel write <= 2 ms"]) == (True, True)
    accepted = ["log file sequential read", "log file switch completion", "redo lun response time (read)"]
    document = study(folder, *(word for name in accepted for word in ("--accept", name)))
    assert document["regressions"] == []


def test_workflow_of_the_consolidation_is_faster_and_its_step_r_slower() -> None:
    told = part(study(sample(CASEBOOK / "consolidation")), "workflow.csv")
    for run, times in (("test1", 1.80), ("test2", 1.87)):
        assert 1 / figure(between(told, "baseline", run), "total")["ratio"] == pytest.approx(times, abs=0.005)
    last = between(told, "test1", "test2")
    assert last["verdict"] == "better"
    assert [(row["name"], row["outcome"]) for row in last["regressions"]] == [("R", "worse")]


def test_responses_over_the_limit_are_scaled_to_a_day() -> None:
    told = part(study(sample(CASEBOOK / "consolidation"), "--target", "over_limit_per_day <= 30"), "timeouts.csv")
    days = {one["after"]: figure(one, "over limit per day")["after"] for one in told["comparisons"]}
    assert days["problem case"] == pytest.approx(30.26, abs=0.01)
    assert days["after tuning 1"] == pytest.approx(33.39, abs=0.01)
    met = {one["after"]: one["targets"][0]["is_met"] for one in told["comparisons"]}
    assert met == {"problem case": False, "after tuning 1": False, "after tuning 2": True}


def test_classes_and_bandwidth_of_the_consolidation() -> None:
    document = study(sample(CASEBOOK / "consolidation"))
    classes = part(document, "response_classes.csv")
    assert between(classes, "good case", "problem case")["verdict"] == "worse"
    assert between(classes, "good case", "tuning 2")["verdict"] == "better"
    steps = part(document, "bandwidth_steps.csv")["comparisons"]
    assert [figure(one, "bandwidth")["ratio"] for one in steps] == [2.0, 5.0, 2.5]


def test_larger_heap_pages_make_the_sort_18_percent_shorter_for_one_percent_of_memory() -> None:
    told = part(study(sample(CASEBOOK / "pagesize")), "timings.csv")
    largest = between(told, "64K", "4M")
    assert figure(largest, "elapsed")["ratio"] == pytest.approx(0.82, abs=0.005)
    assert figure(largest, "session pga")["ratio"] == pytest.approx(1.01, abs=0.005)


def test_the_database_cache_is_faster_and_two_factors_at_once_are_not_compared() -> None:
    told = part(study(sample(CASEBOOK / "caching")), "fs_vs_db_cache.csv")
    cached = between(told, "filesystem, Solaris 9", "database, Solaris 9")
    assert 1 / figure(cached, "elapsed")["ratio"] == pytest.approx(2.25)
    pairs = {(one["before"], one["after"]) for one in told["comparisons"]}
    assert ("database, Solaris 9", "filesystem, Solaris 10") not in pairs


def test_the_block_size_of_the_file_system_splits_no_request() -> None:
    told = study(*(sample(CASEBOOK / "iosize" / f"vxfs-{size}k.vxtrace") for size in (8, 1)))
    (one,) = told["parts"][0]["comparisons"]
    sizes = {row["name"]: (row["before"], row["after"], row["outcome"]) for row in one["figures"]}
    assert sizes == {"smallest I/O": (16384, 16384, "same"), "largest I/O": (65536, 65536, "same")}


def test_the_listener_reads_its_second_reply_sooner() -> None:
    document = study(sample(CASEBOOK / "listener"))
    (told,) = document["parts"][0]["comparisons"]
    assert document["verdict"] == "better"
    assert figure(told, "pass")["ratio"] == pytest.approx(0.68, abs=0.01)
    second = next(row for row in told["figures"] if row["name"] == "read" and (row["of"] or "").endswith("64 (2)"))
    assert (second["before"], second["after"]) == (pytest.approx(0.1298), pytest.approx(0.0050))


def test_terminal_and_exit_status() -> None:
    outcome = doctord("study", sample(CASEBOOK / "redo"))
    assert outcome.returncode == 1
    assert outcome.stdout.startswith("Better: database time a commit 28 ms to 2.13 ms")
    assert "Confounded by" in outcome.stdout
    assert max(map(len, outcome.stdout.splitlines())) <= 80
    assert doctord("study", sample(CASEBOOK / "caching" / "fs_vs_db_cache.csv")).returncode == 0


def test_a_refusal_says_what_to_do(tmp_path: Path) -> None:
    for arguments in ([], ["--before", "2026-11-20T10:00Z..2026-11-20T11:00Z"], [tmp_path / "none"]):
        outcome = doctord("study", *arguments)
        assert (outcome.returncode, "hint:" in outcome.stderr) == (2, True)
