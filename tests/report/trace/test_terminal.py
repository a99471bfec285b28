"""What `doctord trace` prints."""

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from doctord.analyse.traces.calls_compared import compare
from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.trace.terminal import render
from report.examples import HOSTILE
from traces import (
    births,
    call,
    growth,
    healthy,
    listener_after,
    listener_before,
    loop,
    repetition,
    target,
    without_loop,
)

GROWN = growth(
    extents=[{"bytes": 2 * 2**20, "count": 1}], chunks=[{"bytes": 65536, "count": 5}], mapped_bytes=5 * 65536, calls=6,
    calls_per_mb=16.0, reserved_bytes=2 * 2**20,
)  # fmt: skip
SKIPPED = {"why": "no line of a trace", "lines": 7, "first_line": 12, "example": "Jan 1 00:00:00 kernel: oops"}
EXAMPLES = {
    "listener": listener_before(),
    "healthy": healthy(),
    "no loop": without_loop(memory=[GROWN], calls=[call("mmap", "memory", count=6, seconds=None)]),
    "damaged": healthy(about={"skipped": [SKIPPED], "gaps": 2, "gap_seconds": 3.5, "calls_without_detail": 10**6}),
    "empty": without_loop(),
}


def text(trace: Trace, width: int = 80) -> str:
    return render(trace, diagnose(Dataset(), trace=trace), None, width, colour=False)


@pytest.mark.parametrize("name", EXAMPLES)
def test_reads_as_it_always_did(name: str, snapshot: SnapshotAssertion) -> None:
    assert text(EXAMPLES[name]) == snapshot


def test_a_comparison_reads_as_it_always_did(snapshot: SnapshotAssertion) -> None:
    before, after = listener_before(), listener_after()
    assert render(after, diagnose(Dataset(), trace=after), compare(before, after), 80, colour=False) == snapshot


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    lines = text(EXAMPLES[name], width).splitlines()
    assert max(cell_len(line) for line in lines) <= width
    assert all(line == line.rstrip() for line in lines)


def test_the_first_line_is_the_verdict() -> None:
    first = text(listener_before()).splitlines()[0]
    assert first == "94 % of each pass: process 15697 serves one at a time, at most 3.33 a second"
    assert text(healthy()).startswith("No finding: 40 connections a second accepted, at most 950 a second\n")
    assert text(without_loop()).startswith("No verdict: there is no call in the trace\n")


def test_where_passes_are_no_connections_the_rate_of_neither_is_said_of_the_other() -> None:
    several = text(healthy(loop=loop(passes=100, complete_passes=100)))
    assert several.startswith("No finding: 40 connections a second accepted\n")
    assert "THE LOOP OF" not in several
    requests = text(healthy(loop=loop(passes=40_000, complete_passes=40_000)))
    assert requests.startswith("No finding: a pass of server takes 1.0 ms, at most 950 a second\n")
    assert text(healthy(loop=None)).startswith("No finding: 40 connections a second accepted\n")


def test_a_pass_is_as_long_as_its_parts() -> None:
    shown = text(healthy(loop=loop(p50_s=0.001, seconds_per_pass=0.001, mean_s=0.0025, max_passes_per_second=400.0)))
    assert "of 2.5 ms on average (half take 1.0 ms or less, p95 1.6 ms, longest" in " ".join(shown.split())


def test_time_with_no_call_running_is_shown() -> None:
    assert "no call running" in text(EXAMPLES["healthy"])


def test_what_is_not_known_is_no_zero() -> None:
    unknown = healthy(loop=loop(max_passes_per_second=None, idle_share=None), births=[births(mean_s=None)])
    shown = text(unknown)
    assert "a rate that is not known" in shown
    assert "idle" not in shown
    assert " 0 s" not in shown


def test_data_cannot_drive_the_terminal() -> None:
    evil = HOSTILE + "{}{0}%s\x1b[31m"
    trace = healthy(
        calls=[call(evil, "other", seconds=5.0)],
        targets=[target(evil)],
        repetitions=[repetition(evil, arguments=evil, role=evil, seconds=5.0, errors=100, error=evil)],
        births=[births(role=evil, call=evil, mean_s=1.0)],
        loop=loop(role=evil, anchor={"call": evil, "arguments": evil}, waits=[], path=[]),
    )
    shown = text(trace)
    assert not [character for character in shown if not character.isprintable() and character != "\n"]
