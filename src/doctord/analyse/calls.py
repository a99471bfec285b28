"""Figures of a call trace that causes and reports share."""

from collections.abc import Iterator

from doctord.chart.calltrace import Call, Trace

# Calls by what they do, as the native reader tells them apart (native/calltrace/src/names.rs).
MOVES_DATA = frozenset({"read", "write", "read_at", "write_at"})
WAITS = frozenset({"accept", "poll", "wait", "sleep", "lock"})
NO_CALL = "(no call running)"


def pass_s(trace: Trace) -> float | None:
    """Seconds of a pass of the loop; null without a loop, or with no complete pass."""
    return trace["loop"]["seconds_per_pass"] if trace["loop"] else None


def traced_s(trace: Trace) -> float | None:
    """Seconds that the traced processes lived through, in calls and outside of them, all added up.

    A summary gives what it calls elapsed; without that only the time in calls is known.
    """
    totals = trace["totals"]
    if totals["elapsed_s"] is not None:
        return totals["elapsed_s"]
    parts = [part for part in (totals["in_calls_s"], totals["outside_calls_s"]) if part is not None]
    return sum(parts) if parts else trace["trace"]["seconds"]


def classes(trace: Trace) -> dict[str, str]:
    """What each call of the trace does, by its name."""
    return {call["call"]: call["class"] for call in trace["calls"]}


def of_class(trace: Trace, *names: str) -> Iterator[Call]:
    """Calls of some classes, by seconds."""
    return (call for call in trace["calls"] if call["class"] in names)


def seconds_of(calls: Iterator[Call]) -> float | None:
    """Seconds of some calls; null when the trace gives none of them a length."""
    known = [call["seconds"] for call in calls if call["seconds"] is not None]
    return sum(known) if known else None
