"""Sums of system calls as the document of a trace.

Its histograms have powers of two: percentiles are right to a factor of two.
"""

from collections.abc import Sequence
from typing import Any

from doctord._native import call_class, syscall_name
from doctord.dataset.calltrace import Call, Live, Loop, Passes, Step, Totals, Trace

NS_PER_S = 1e9
# A loop waits for work at one place; a signal or a lock may take it to another now and then.
ONE_WAIT = 0.95

Sums = dict[str, Any]
Buckets = Sequence[dict[str, int]]


def document(sums: Sums, live: Live, command: str, cpu_ms_per_s: float | None = None) -> Trace:
    """The document of what `doctord.collect.bpf.calls.observe` saw; what it could not see is null or empty.

    `cpu_ms_per_s` is the CPU time that the process itself used meanwhile, without those below it; a pass's own is made
    of it.
    """
    calls = [_call(number, counts) for number, counts in sums["calls"].items()]
    calls.sort(key=lambda call: -(call["seconds"] or 0.0))
    in_calls_s = sum(call["seconds"] or 0.0 for call in calls)
    for call in calls:
        call["share"] = (call["seconds"] or 0.0) / in_calls_s if in_calls_s else None
    errors = sum(call["errors"] for call in calls)
    totals: Totals = {
        "elapsed_s": None,
        "in_calls_s": in_calls_s,
        "outside_calls_s": None,
        "cpu_s": None,
        "user_s": None,
        "errors": errors,
    }
    return {
        "trace": {
            "files": [f"{command} (pid {live['pid']})"],
            "tool": "bpf",
            "kind": "summary",
            "clock": None,
            "began": None,
            "seconds": live["seconds"],
            "bytes": 0,
            "lines": 0,
            "calls": sum(call["count"] for call in calls),
            "processes": live["processes"],
            "elapsed_is": "measured",
            "has_cpu": False,
            "calls_without_detail": 0,
            "gaps": 0,
            "gap_seconds": 0.0,
            "backwards": 0,
            "skipped": [],
            "damage": [],
        },
        "totals": totals,
        "calls": calls,
        "errors": [],
        "processes": [],
        "targets": [],
        "sizes": {"read": [], "write": []},
        "loop": _loop(sums, live, command, cpu_ms_per_s),
        "loops": [],
        "repetitions": [],
        "memory": [],
        "births": [],
        "timeline": None,
        "folded": {},
        "stacks": [],
        "histograms": [],
        "live": live,
    }


def _call(number: int, counts: Sums) -> Call:
    name = syscall_name(number) or f"system call {number}"
    seconds, buckets, max_s = counts["ns"] / NS_PER_S, counts["buckets"], counts["longest_ns"] / NS_PER_S
    return {
        "call": name,
        "class": call_class(name),
        "count": counts["count"],
        "errors": counts["errors"],
        "seconds": seconds,
        "cpu_s": None,
        "share": None,
        "mean_s": seconds / counts["count"],
        "p50_s": min(quantile_s(buckets, 0.5), max_s),
        "p95_s": min(quantile_s(buckets, 0.95), max_s),
        "p99_s": min(quantile_s(buckets, 0.99), max_s),
        "max_s": max_s,
    }


def _loop(sums: Sums, live: Live, command: str, cpu_ms_per_s: float | None) -> Loop | None:
    """The loop of the traced process: passes in which it accepted a connection where it accepts, else all of them.

    A process that does not accept and waits now in one call, now in another has no loop that sums could show.
    """
    accepts = sums["accepts"]
    passes = sums["accepting_passes" if accepts else "passes"]
    waits = {number: call["waits"] for number, call in sums["calls"].items() if call["waits"]}
    if not passes["count"] or not waits:
        return None
    anchor = max(waits, key=lambda number: waits[number])
    if not accepts and waits[anchor] < ONE_WAIT * sum(waits.values()):
        return None
    mean_s, longest_s = passes["ns"] / passes["count"] / NS_PER_S, passes["longest_ns"] / NS_PER_S
    own_s = None if cpu_ms_per_s is None else cpu_ms_per_s / 1000 * live["seconds"] / passes["count"]
    idle_s = sums["idle_ns"] / NS_PER_S
    buckets = passes["buckets"]
    return {
        "pid": live["pid"],
        "role": command,
        "program": command,
        "anchor": {"call": syscall_name(anchor) or "?", "arguments": ""},
        "passes": passes["count"],
        "complete_passes": passes["count"],
        "wakeups": sum(waits.values()) - passes["count"] if accepts else 0,
        "seconds_per_pass": min(quantile_s(buckets, 0.5), longest_s),
        "p50_s": min(quantile_s(buckets, 0.5), longest_s),
        "p95_s": min(quantile_s(buckets, 0.95), longest_s),
        "min_s": buckets[0]["min"] / NS_PER_S,
        "max_s": longest_s,
        "mean_s": mean_s,
        "distribution": [_passes(bucket) for bucket in buckets],
        "max_passes_per_second": 1 / mean_s if mean_s else None,
        "at_least": False,
        "own_cpu_s": own_s,
        "own_cpu_share": None if own_s is None or not mean_s else min(own_s / mean_s, 1.0),
        "outside_calls_s": None,
        "idle_s": idle_s,
        "idle_share": min(idle_s / live["seconds"], 1.0) if live["seconds"] else None,
        "waits": [],
        "steps": [_accept(accepts / passes["count"])] if accepts else [],
        "path": [],
    }


def _accept(per_pass: float) -> Step:
    return {"call": "accept", "arguments": "", "nth": 1, "count": per_pass, "seconds": 0.0}


def _passes(bucket: dict[str, int]) -> Passes:
    return {"le_s": bucket["max"] / NS_PER_S, "passes": bucket["count"]}


def quantile_s(buckets: Buckets, share: float) -> float:
    """The seconds below which a share of what the buckets count lies, evenly spread within its bucket.

    >>> quantile_s([{"min": 1000, "max": 2000, "count": 4}], 0.5)
    1.5e-06
    """
    left = share * sum(bucket["count"] for bucket in buckets)
    for bucket in buckets:
        if bucket["count"] and left <= bucket["count"]:
            return (bucket["min"] + (bucket["max"] - bucket["min"]) * left / bucket["count"]) / NS_PER_S
        left -= bucket["count"]
    return buckets[-1]["max"] / NS_PER_S
