"""Each folder of the casebook, judged as it lies there: no mapping, no thresholds, `doctord diagnose FOLDER`.

What compares two states, or two runs, waits for studies: here a folder is one state.
"""

import json
from functools import cache
from typing import Any

import pytest
from typer.testing import CliRunner

from doctord.cli import app, load
from shared import CASEBOOK, needs_casebook

pytestmark = [needs_casebook, pytest.mark.slow]

load()


@cache
def diagnosed(folder: str) -> tuple[int, dict[str, Any]]:
    """Exit status and document of `doctord diagnose FOLDER --json`."""
    result = CliRunner().invoke(app, ["diagnose", str(CASEBOOK / folder), "--json"])
    return result.exit_code, json.loads(result.stdout)


def findings(folder: str) -> dict[str, dict[str, Any]]:
    return {finding["cause"]: finding for finding in diagnosed(folder)[1]["findings"]}


def evidence(finding: dict[str, Any], side: str = "for") -> str:
    return "\n".join(f"{item['figure']}: {item['why']}" for item in finding[side])


def test_redo_the_log_device_the_log_writer_s_cpu_the_switches_and_the_buffer() -> None:
    found = findings("redo")
    assert "11.8 ms a write" in found["commits_slow"]["title"]
    assert "the archiver reads where the log writer writes" in evidence(found["commits_slow"])
    assert "Commits wait 26.5 ms, the log write takes 11.8" in found["log_writer_starved"]["title"]
    assert "30 % of its context switches are involuntary" in evidence(found["log_writer_starved"])
    assert "LGWR scheduling class: TS" in evidence(found["log_writer_starved"])
    assert "priocntl -s -c FX -m 59 -p 59" in " ".join(found["log_writer_starved"]["remedy"])
    assert "come every 60.00 s" in found["log_switches_frequent"]["title"]
    assert "log_buffer is 4.0 MiB" in evidence(found["log_buffer_small"])
    assert "3.8 allocations tried again per s" in evidence(found["log_buffer_small"])
    assert "log file sync: 26.5 ms" in evidence(found["kept_limit_passed"])


def test_capacity_eight_limits_are_passed_and_the_second_tablespace_runs_out_first() -> None:
    found = findings("capacity")
    passed = {item["figure"].partition(":")[0] for item in found["kept_limit_passed"]["for"]}
    assert passed == {
        "direct path read temp", "log file sync", "log file parallel write", "direct path write temp",
        "db file parallel write", "control file parallel write", "os thread startup", "db file sequential read",
    }  # fmt: skip
    assert found["tablespace_full_soon"]["title"] == "Tablespace2 is full in 3 days"
    assert "667 MiB more a day: 2.0 GiB is left" in evidence(found["tablespace_full_soon"])
    assert "db file scattered read contradict" in found["waits_contradict"]["title"]
    assert diagnosed("capacity")[1]["time"] == [], "neither of the two columns is used"


def test_consolidation_more_slow_requests_a_day_than_were_agreed() -> None:
    daily = evidence(findings("consolidation")["requests_over_limit"])
    assert "problem case: 29 over the limit in 23 h: 30.3 in 24 h" in daily
    assert "after tuning 1: 24 over the limit in 17.25 h: 33.4 in 24 h" in daily
    assert "after tuning 2" in evidence(findings("consolidation")["requests_over_limit"], "against")


def test_listener_its_loop_the_repeated_call_and_the_forks() -> None:
    found = findings("listener")
    assert {"single_threaded_limit", "repeated_call", "slow_fork"} <= found.keys()
    assert "at most 3.33 a second" in found["single_threaded_limit"]["title"]
    for wait in ("read 129.8 ms", "read 66.6 ms", "waitid 54.2 ms", "fork1 30.0 ms"):
        assert wait in evidence(found["single_threaded_limit"])
    assert "cladm" in found["repeated_call"]["title"]


def test_pagesize_memory_comes_in_small_pieces_and_no_page_size_is_asked_for() -> None:
    assert "64.0 KiB at a time" in findings("pagesize")["page_size_not_requested"]["title"]


def test_caching_single_block_reads_take_43_per_cent() -> None:
    document = diagnosed("caching")[1]
    first = document["findings"][0]
    assert first["title"].startswith("43 % of database time goes into single-block reads")


def test_latency_map_has_settings_alone_and_nothing_is_judged_by_them() -> None:
    status, document = diagnosed("latency_map")
    assert (status, document["findings"]) == (2, [])
    assert document["looked_at"] == ["0 other figures, 8 settings"]


@pytest.mark.parametrize(
    ("folder", "unread"),
    [("redo", 0), ("capacity", 1), ("consolidation", 0), ("caching", 0), ("pagesize", 0), ("latency_map", 0)],
)
def test_every_file_with_figures_is_read(folder: str, unread: int) -> None:
    """Of `capacity` one is a list of the names of statistics, without any figure."""
    result = CliRunner().invoke(app, ["read", str(CASEBOOK / folder), "--json"])
    files = json.loads(result.stdout)["files"]
    assert sum(file["format"] is None for file in files) == unread
