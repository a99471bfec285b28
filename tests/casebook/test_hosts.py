"""The casebook's folders of host tools: `doctord diagnose FOLDER` reaches what its investigators concluded."""

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
def diagnosed(*paths: str) -> tuple[int, dict[str, Any]]:
    """Exit status and document of `doctord diagnose PATHS --json`."""
    result = CliRunner().invoke(app, ["diagnose", *(str(CASEBOOK / path) for path in paths), "--json"])
    return result.exit_code, json.loads(result.stdout)


def findings(*paths: str) -> dict[str, dict[str, Any]]:
    return {finding["cause"]: finding for finding in diagnosed(*paths)[1]["findings"]}


def figures(finding: dict[str, Any], side: str) -> list[str]:
    return [evidence["figure"] for evidence in finding[side]]


def test_tlb_pages_are_translated_quickly_and_some_more_faults_than_usual_need_a_disk() -> None:
    found = findings("tlb")
    assert list(found) == ["major_faults_many"]
    assert found["major_faults_many"]["title"].startswith("0.69 %")
    assert "0.0 % of the time in TLB and TSB misses" in figures(found["major_faults_many"], "against")


def test_iosize_blocks_arrive_whole_whatever_the_file_systems_block() -> None:
    for paths in (("iosize/vxfs-1k.vxtrace",), ("iosize/vxfs-8k.vxtrace",), ("iosize",)):
        status, document = diagnosed(*paths)
        assert (status, document["findings"]) == (0, [])
        assert "all are multiples of 16.0 KiB: blocks of that size arrive whole" in document["looked_at"][0]


def test_queue_depth_nobody_waits_in_the_host() -> None:
    assert diagnosed("queue_depth/iostat-xnM.txt")[0] == 2, "one report is since boot: no finding, and no clean bill"
    assert "queue_depth_low" not in findings("queue_depth")


def test_cpu_one_process_is_bound_by_it_and_another_reads_in_small_pieces() -> None:
    found = findings("cpu")
    assert "oracle (pid 5221)" in found["process_on_one_cpu"]["title"]
    assert "asleep 69 %" in figures(found["process_on_one_cpu"], "against")[0]
    assert "50.55 s: 639326 reads" in figures(found["tiny_reads"], "for")[0]
    assert "cpu_saturated" not in found, "nobody was in the run queue"


@pytest.mark.parametrize(
    ("file", "what"), [("cpu/uptime.txt", "a load average of 7.7"), ("cpu/mpstat.txt", "32 % wait I/O")]
)
def test_cpu_what_misleads_is_named_where_there_is_nothing_better(file: str, what: str) -> None:
    assert what in findings(file)["time_not_measured"]["title"]
