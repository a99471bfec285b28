"""Traces of system calls: strace, truss and perf trace, call by call or summed up (`-c`, `-s`).

Here they are summed by call: `wait` holds calls per second, their mean time and the time in them, as far as the trace
tells times; `statistic` how many there were and how many failed (`trace.calls`, `trace.errors`, of each call). What the
calls tell one by one, `doctord trace` says, and `doctord diagnose` of files of which one is a trace.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from doctord._native import Batch, trace_kind
from doctord.dataset.calltrace import Trace
from doctord.dataset.rows import micros, rows
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tracing import calltrace

STILL_RUNNING = "start of a call whose return is not in the trace"  # as the native reader says it
NAME = "system calls (strace, truss, perf trace)"
RANK = Rank.NAMED


def sniff(head: str) -> bool:
    """Whether most lines of the beginning are calls, or there is a table of their sums."""
    return trace_kind(head) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `wait` and `statistic` by call, at the end of the trace."""
    with source.as_file() as file:
        trace = source.trace = calltrace.read([file])
    for skipped in trace["trace"]["skipped"]:
        if skipped["why"] == STILL_RUNNING:
            source.note(f"{skipped['lines']} calls had not returned when it ended")
            continue
        for _ in range(skipped["lines"]):
            source.skip(skipped["first_line"] or 0, skipped["why"])
    seconds = trace["trace"]["seconds"] or trace["totals"]["elapsed_s"]
    at = {"ts": micros(_end(trace, seconds, source)), "interval_s": seconds, "host": source.host}
    timed = [call for call in trace["calls"] if call["seconds"] is not None and call["count"]]
    if seconds and timed:
        yield rows("wait", (at | _wait(call, seconds) for call in timed))
    yield rows("statistic", (at | figure for call in trace["calls"] for figure in _figures(call)))


def _end(trace: Trace, seconds: float | None, source: SourceFile) -> datetime:
    began = trace["trace"]["began"]
    if began is None:
        return untimed(source, 1)[0]
    return datetime.fromisoformat(began) + timedelta(seconds=seconds or 0)


def _wait(call: Any, seconds: float) -> dict[str, str | float]:  # noqa: ANN401 - a part of the trace's document
    return {
        "event": call["call"],
        "waits_per_s": call["count"] / seconds,
        "avg_wait_ms": call["seconds"] / call["count"] * 1e3,
        "average_active_sessions": call["seconds"] / seconds,
    }


def _figures(call: Any) -> Iterator[dict[str, str | float]]:  # noqa: ANN401 - a part of the trace's document
    for name in ("count", "errors"):
        figure = "calls" if name == "count" else name
        about = {"component": "kernel", "entity": call["call"], "name": f"trace.{figure}", "kind": "gauge"}
        yield about | {"value": call[name], "unit": figure}
