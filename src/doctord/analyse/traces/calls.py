"""Figures of a call trace that causes and reports share.

Two times can be split: a pass of the loop, when the trace holds a server's loop, and the busy time, which is what all
traced processes lived through less the time that their loops waited for work. A wait for a client is not a fault.
"""

from collections.abc import Iterable, Iterator

from doctord.analyse.time import TimeModel, TimeShare
from doctord.dataset.calltrace import Call, Loop, PathPart, Trace

# Calls by what they do, as the native reader tells them apart (native/calltrace/src/names.rs).
MOVES_DATA = frozenset({"read", "write"})
WAITS = frozenset({"accept", "poll", "wait", "sleep", "lock"})
# Passes begin before a trace and end after it, and signals cut some in two: this is one connection a pass.
ONE_A_PASS = (0.8, 1.25)
NO_CALL = "(no call running)"
NOT_IN_TRACE = "(not in the trace)"


def time_model(trace: Trace) -> TimeModel:
    """Where the time went: of a pass along its critical path, by process and call; else of the busy time, by call."""
    loop, busy = trace["loop"], busy_s(trace)
    if loop and loop["path"]:
        parts = _largest_first((part["role"], part["call"], part["share"] or 0.0) for part in loop["path"])
        return TimeModel("pass", 1.0, parts)
    if not busy:
        return TimeModel("busy", 0.0, ())
    shares = ((call["class"], call["call"], call["seconds"] / busy) for call in trace["calls"] if call["seconds"])
    return TimeModel("busy", busy / (trace["trace"]["seconds"] or busy), _largest_first(shares))


def pass_s(trace: Trace) -> float | None:
    """Mean seconds of a pass of the loop, of which what it holds is a share; null without a loop."""
    return trace["loop"]["mean_s"] if trace["loop"] else None


def accepted_per_s(trace: Trace) -> float | None:
    """Connections that were accepted a second; null where none was, or the trace's length is not known."""
    accepted, seconds = _accepted(trace), trace["trace"]["seconds"]
    return accepted / seconds if accepted and seconds else None


def connections_a_pass(trace: Trace, loop: Loop) -> float:
    """Connections that were accepted for each pass of a loop; zero where none was."""
    return _accepted(trace) / loop["passes"]


def takes_several(trace: Trace, loop: Loop) -> bool:
    """Whether a pass serves more than one connection: then it is not what one of them costs."""
    return connections_a_pass(trace, loop) > ONE_A_PASS[1]


def _accepted(trace: Trace) -> int:
    return sum(call["count"] - call["errors"] for call in of_class(trace, "accept"))


def passes(loop: Loop) -> int:
    """How many passes the figures of a loop are of: the whole ones, the others where there is none."""
    return loop["complete_passes"] or loop["passes"]


def clock_s(trace: Trace) -> float | None:
    """1 where all lengths are whole seconds: the stamps have no more (`strace -t`), and no call its own length (`-T`).

    Null where the clock is finer, or nothing is timed. What is shorter is 0 or 1 s then, as the second turns or not.
    """
    lengths = [call["max_s"] for call in trace["calls"] if call["max_s"] is not None]
    return 1.0 if any(lengths) and all(length.is_integer() for length in lengths) else None


def traced_s(trace: Trace) -> float | None:
    """Seconds that the traced processes lived through, in calls and outside of them, all added up.

    A summary gives what it calls elapsed; without that only the time in calls is known.
    """
    totals = trace["totals"]
    if totals["elapsed_s"] is not None:
        return totals["elapsed_s"]
    parts = [part for part in (totals["in_calls_s"], totals["outside_calls_s"]) if part is not None]
    return sum(parts) if parts else trace["trace"]["seconds"]


def busy_s(trace: Trace) -> float | None:
    """Seconds that the traced processes lived through, less the time that their loops waited for work."""
    traced = traced_s(trace)
    loops: list[Loop] = [trace["loop"], *trace["loops"]] if trace["loop"] else trace["loops"]
    idle = sum(loop["idle_s"] or 0.0 for loop in loops)
    return None if traced is None else max(traced - idle, 0.0)


def classes(trace: Trace) -> dict[str, str]:
    """What each call of the trace does, by its name."""
    return {call["call"]: call["class"] for call in trace["calls"]}


def of_class(trace: Trace, *names: str) -> Iterator[Call]:
    """Calls of some classes, by seconds."""
    return (call for call in trace["calls"] if call["class"] in names)


def on_path(trace: Trace, *names: str) -> list[PathPart]:
    """Parts of the critical path that calls of some classes make."""
    kinds = classes(trace)
    return [part for part in trace["loop"]["path"] if kinds.get(part["call"]) in names] if trace["loop"] else []


def seconds_of(calls: Iterable[Call]) -> float | None:
    """Seconds of some calls; null when the trace gives none of them a length."""
    known = [call["seconds"] for call in calls if call["seconds"] is not None]
    return sum(known) if known else None


def _largest_first(parts: Iterable[tuple[str, str, float]]) -> tuple[TimeShare, ...]:
    sums: dict[tuple[str, str], float] = {}
    for group, name, share in parts:
        sums[group, name] = sums.get((group, name), 0.0) + share
    shares = (TimeShare(*names, share, share) for names, share in sums.items())
    return tuple(sorted(shares, key=lambda part: -part.share))
