"""Two call traces compared: which calls became faster or slower, more or less frequent, and what the loop gained.

With a loop in both traces its steps are compared, in seconds a pass; calls that are no step (what children did) count
by pass too. Without, calls are compared in seconds per second of trace. A difference under a hundredth of the pass, or
of the time, is not listed: two runs of the same program differ by more.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypedDict

from doctord.analyse.traces.calls import WAITS, classes, passes, traced_s
from doctord.dataset.calltrace import Call, Loop, Step, Trace
from doctord.regex import regex

MATTERS = 0.01
# Addresses, and numbers so long that they are process ids, times or positions, not descriptors or flags.
FLEETING = regex(r"0x[0-9a-fA-F]+|\b\d{3,}\b")

Kind = Literal["faster", "slower", "more frequent", "less frequent", "new", "gone"]
Key = tuple[str, str, int]


class Amount(TypedDict):
    """A call in one of the traces: how often, and how long in sum, per pass or per second."""

    count: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Change:
    """A call that changed. `gained_s` is the time saved per pass or per second of trace; negative when lost."""

    call: str
    arguments: str
    nth: int | None
    kind: Kind
    before: Amount | None
    after: Amount | None
    gained_s: float
    share: float


@dataclass(frozen=True, slots=True)
class LoopGain:
    """The loop before and after: seconds a pass, passes a second, and the share (0 to 1) by which it is shorter."""

    before_s: float
    after_s: float
    gained_s: float
    gained_share: float
    before_per_second: float | None
    after_per_second: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from one trace to another, largest change first.

    `per` says what the amounts are counted by: `pass` or `second` of trace. `others_compared` is false when processes
    beside the loop's were traced only once: their calls are left out then. `unchanged` is the number of calls or steps
    whose difference does not matter.
    """

    per: Literal["pass", "second"]
    loop: LoopGain | None
    others_compared: bool
    changes: tuple[Change, ...]
    unchanged: int


def compare(before: Trace, after: Trace) -> Comparison:
    """Compare two traces of the same program."""
    old, new = before["loop"], after["loop"]
    gain = _loop_gain(old, new) if old and new else None
    others = _has_others(before) == _has_others(after)
    if old and new and gain:
        pairs = [*_steps(old, new), *(_calls_by_pass(before, after, old, new) if others else ())]
        whole_s = gain.before_s
    else:
        pairs, whole_s = list(_calls_by_second(before, after)), 1.0
    changes = [change for key, old, new in pairs if (change := _change(key, old, new, whole_s))]
    changes.sort(key=lambda change: -abs(change.gained_s))
    return Comparison("pass" if gain else "second", gain, others, tuple(changes), len(pairs) - len(changes))


def ordinal_key(step: Step, seen: dict[tuple[str, str], int]) -> Key:
    """What makes a step of one trace that of the other: its call, what lasts of its arguments, and which time it is.

    >>> ordinal_key({"call": "read", "arguments": "16, 0xFF, 64", "nth": 1, "count": 1, "seconds": 0.1}, {})
    ('read', '16, *, 64', 1)
    """
    lasting = FLEETING.sub("*", step["arguments"])
    name = (step["call"], lasting)
    seen[name] = seen.get(name, 0) + 1
    return *name, seen[name]


def _loop_gain(before: Loop, after: Loop) -> LoopGain | None:
    old, new = before["mean_s"], after["mean_s"]  # as of the steps, whose seconds are means
    if not old:
        return None
    rates = before["max_passes_per_second"], after["max_passes_per_second"]
    return LoopGain(old, new, old - new, (old - new) / old, *rates)


Pair = tuple[tuple[str, str, int | None], Amount | None, Amount | None]


def _steps(before: Loop, after: Loop) -> Iterator[Pair]:
    old, new = _by_key(before), _by_key(after)
    for key in old | new:
        yield key, old.get(key), new.get(key)


def _by_key(loop: Loop) -> dict[Key, Amount]:
    seen: dict[tuple[str, str], int] = {}
    steps = ((ordinal_key(step, seen), step) for step in loop["steps"])
    return {key: {"count": step["count"], "seconds": step["seconds"]} for key, step in steps}


def _has_others(trace: Trace) -> bool:
    """Whether processes beside the loop's were traced too."""
    loop = trace["loop"]
    return loop is not None and any(one["calls"] and one["pid"] != loop["pid"] for one in trace["processes"])


def _calls_by_pass(before: Trace, after: Trace, old: Loop, new: Loop) -> Iterator[Pair]:
    """Calls that no step of either loop makes: they are those of other processes."""
    stepped = {step["call"] for loop in (old, new) for step in loop["steps"]} | {old["anchor"]["call"]}
    yield from _calls(before, after, lambda trace: passes(trace["loop"]) if trace["loop"] else None, stepped)


def _calls_by_second(before: Trace, after: Trace) -> Iterator[Pair]:
    yield from _calls(before, after, traced_s, set())


def _calls(
    before: Trace, after: Trace, count_by: Callable[[Trace], float | None], left_out: set[str]
) -> Iterator[Pair]:
    """Calls of two traces; waits for others are left out, as their length is not the program's own."""
    by, by_then = count_by(before), count_by(after)
    if not by or not by_then:
        return
    kinds = classes(before) | classes(after)
    old, new = ({call["call"]: call for call in trace["calls"]} for trace in (before, after))
    for name in old | new:
        if name not in left_out and kinds[name] not in WAITS:
            yield (name, "", None), _amount(old.get(name), by), _amount(new.get(name), by_then)


def _amount(call: Call | None, by: float) -> Amount | None:
    if call is None or call["seconds"] is None:
        return None
    return {"count": call["count"] / by, "seconds": call["seconds"] / by}


def _change(key: tuple[str, str, int | None], old: Amount | None, new: Amount | None, whole_s: float) -> Change | None:
    """The change of a call when it matters."""
    gained_s = (old["seconds"] if old else 0.0) - (new["seconds"] if new else 0.0)
    if abs(gained_s) < MATTERS * whole_s:
        return None
    return Change(*key, _kind(old, new), old, new, gained_s, gained_s / whole_s)


def _kind(old: Amount | None, new: Amount | None) -> Kind:
    """Whether the number of calls or their length made the larger part of the difference."""
    if old is None or new is None:
        return "new" if old is None else "gone"
    length_before, length_after = (one["seconds"] / one["count"] if one["count"] else 0.0 for one in (old, new))
    by_count = (new["count"] - old["count"]) * (length_before + length_after) / 2
    by_length = (length_after - length_before) * (old["count"] + new["count"]) / 2
    if abs(by_count) > abs(by_length):
        return "more frequent" if by_count > 0 else "less frequent"
    return "slower" if by_length > 0 else "faster"
