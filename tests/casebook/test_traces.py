"""The casebook's traces, end to end: what its investigators concluded, `doctord trace` must find by itself."""

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
def trace(*files: str) -> tuple[int, dict[str, Any]]:
    """Exit status and document of `doctord trace FILES --json`."""
    result = CliRunner().invoke(app, ["trace", *(str(CASEBOOK / file) for file in files), "--json"])
    return result.exit_code, json.loads(result.stdout)


def test_the_loop_of_the_listener() -> None:
    status, document = trace("listener/before.truss")
    loop = document["loop"]
    assert status == 1
    assert loop["passes"] == 1
    assert loop["seconds_per_pass"] == pytest.approx(0.30, abs=0.01)
    assert loop["max_passes_per_second"] == pytest.approx(3.3, abs=0.2)
    first = loop["waits"][:4]
    assert {(wait["call"], round(wait["seconds"], 4)) for wait in first} == {
        ("fork1", 0.0300), ("waitid", 0.0542), ("read", 0.0666), ("read", 0.1298),
    }  # fmt: skip
    assert {wait["on"] for wait in first} == {"child"}
    assert sum(wait["seconds"] for wait in first) == pytest.approx(0.2806, abs=0.0005)


def test_the_call_that_its_grandchild_repeats() -> None:
    repeated = trace("listener/before.truss")[1]["repetitions"][0]
    assert (repeated["call"], repeated["calls"], repeated["pid"]) == ("cladm", 75, 8197)
    assert repeated["seconds"] == pytest.approx(0.117, abs=0.001)
    assert "grandchild" in repeated["role"]
    assert repeated["on_critical_path"]


def test_what_is_wrong_with_the_listener() -> None:
    found = {finding["cause"]: finding for finding in trace("listener/before.truss")[1]["findings"]}
    assert list(found) == ["single_threaded_limit", "repeated_call", "slow_fork"]
    assert "3.33 a second" in found["single_threaded_limit"]["title"]
    assert "cladm" in found["repeated_call"]["title"]
    assert "fork1() by process 15697" in found["slow_fork"]["for"][0]["figure"]
    after = trace("listener/after.truss")[1]["findings"]
    assert [finding["cause"] for finding in after] == ["single_threaded_limit", "slow_fork"]


def test_what_the_listener_gained() -> None:
    comparison = trace("listener/before.truss", "listener/after.truss")[1]["comparison"]
    first = comparison["changes"][0]
    assert (first["call"], first["nth"], first["kind"]) == ("read", 2, "faster")
    assert (first["before"]["seconds"], first["after"]["seconds"]) == pytest.approx((0.1298, 0.0050), abs=0.00005)
    assert comparison["loop"]["gained_share"] == pytest.approx(1 / 3, abs=0.02)


@pytest.mark.parametrize(
    ("file", "extent", "chunk", "requested"),
    [
        ("solaris-64k.truss", 2 << 20, 64 << 10, False),
        ("solaris-512k.truss", 4608 << 10, 512 << 10, True),
        ("solaris-4m.truss", 20 << 20, 4 << 20, True),
        ("linux-64k.strace", 1 << 20, 64 << 10, False),
        ("linux-4m.strace", 16 << 20, 4 << 20, False),
        ("linux-8m.strace", 16 << 20, 8 << 20, False),
    ],
)
def test_memory_grows_by_the_piece(file: str, extent: int, chunk: int, *, requested: bool) -> None:
    (growth,) = trace(f"pagesize/{file}")[1]["memory"]
    assert [one["bytes"] for one in growth["extents"]] == [extent]
    assert growth["chunks"][0]["bytes"] == chunk
    assert growth["page_size_requested"] is requested
    assert growth["calls_per_mb"] > 0
