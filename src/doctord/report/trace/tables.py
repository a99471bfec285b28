"""The tables of a trace's report: what took the time, by call, process, target, repetition, fork; and memory."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from doctord.analyse.traces.calls import NO_CALL
from doctord.analyse.traces.calls_compared import Change, Comparison
from doctord.dataset.calltrace import Call, Growth, Histogram, Loop, Process, Repetition, Target, Trace, Values
from doctord.diagnose.words import shortened, who
from doctord.report.lines import hashes
from doctord.report.trace import wording as words
from doctord.units import in_bytes, in_share, in_time

NOT_KNOWN = "-"


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of figures and a last one of words. Columns of which nothing is known are left out.

    A table that is `whole` says something only with all its rows; of the others the first tell most.
    """

    title: str
    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    whole: bool = False


def tables(trace: Trace) -> list[Table]:
    """The tables that hold something, in the order of reading."""
    made = (_loops(trace), _calls(trace), _processes(trace), _targets(trace), _repetitions(trace), _births(trace))
    more = (_memory(trace), _stacks(trace), *map(_histogram, trace["histograms"]))
    return [table for table in (*made, *more) if table.rows]


def waits(loop: Loop) -> Table:
    """What the loop waits for in a pass, largest first."""
    rows = ((_share(one["share"]), _time(one["seconds"]), words.wait(one)) for one in loop["waits"])
    return _table("Waits in a pass", ("share", "a pass", "call"), rows)


def path(loop: Loop) -> Table:
    """The critical path of a pass, largest part first."""
    rows = ((_share(one["share"]), _time(one["seconds"]), one["role"], words.part(one)) for one in loop["path"])
    return _table("Where a pass goes: its critical path", ("share", "a pass", "process", "call"), rows)


def changes(comparison: Comparison) -> Table:
    """What changed between two traces, largest change first."""
    names = ("before", "after", "gained", "call")
    return _table(f"Seconds per {comparison.per}", names, (_change(change) for change in comparison.changes))


def _change(change: Change) -> tuple[str, ...]:
    before, after = (NOT_KNOWN if one is None else in_time(one["seconds"]) for one in (change.before, change.after))
    gained = f"{'-' if change.gained_s < 0 else ''}{in_time(abs(change.gained_s))}"
    return before, after, gained, words.change(change)


def _loops(trace: Trace) -> Table:
    """One row for all processes of a role that loop at the same call: that of the most passes."""
    alike: dict[tuple[str, str | None, str], list[Loop]] = {}
    for loop in trace["loops"]:
        alike.setdefault((loop["role"], loop["program"], loop["anchor"]["call"]), []).append(loop)
    rows = (_loop(max(loops, key=lambda loop: loop["passes"]), len(loops)) for loops in alike.values())
    return _table("Other loops", ("passes", "a pass", "idle", "process"), rows)


def _loop(loop: Loop, alike: int) -> tuple[str, ...]:
    where = f"{who(loop['role'])} at {words.called(loop['anchor']['call'], loop['anchor']['arguments'])}"
    return str(loop["passes"]), _time(loop["mean_s"]), _share(loop["idle_share"]), _with_others(where, alike)


def _with_others(where: str, alike: int) -> str:
    return f"{where}; {alike - 1} more like it" if alike > 1 else where


def _calls(trace: Trace) -> Table:
    names = ("share", "seconds", "CPU", "calls", "errors", "mean", "p95", "longest", "call")
    outside = trace["totals"]["outside_calls_s"]
    without = [("", _time(outside), "", "", "", "", "", "", NO_CALL)] if outside else []
    return _table("Calls", names, [*(_call(call) for call in trace["calls"]), *without])


def _call(call: Call) -> tuple[str, ...]:
    lengths = (_time(call["mean_s"]), _time(call["p95_s"]), _time(call["max_s"]))
    times = (_share(call["share"]), _time(call["seconds"]), _time(call["cpu_s"]))
    return *times, str(call["count"]), str(call["errors"] or ""), *lengths, call["call"]


def _processes(trace: Trace) -> Table:
    names = ("in calls", "outside", "CPU", "calls", "process")
    rows = [
        (_time(one["in_calls_s"]), _time(one["outside_calls_s"]), _time(one["cpu_s"]), str(one["calls"]), _named(one))
        for one in trace["processes"]
    ]
    return _table("Processes", names, rows if len(rows) > 1 else [])


def _named(process: Process) -> str:
    own = process["role"].isdigit()
    name = who(process["role"]) if own else f"{process['pid']} {process['role']}"
    return f"{name}, {process['end']}" if process["end"] else name


def _targets(trace: Trace) -> Table:
    names = ("seconds", "calls", "read", "written", "syncs", "target")
    return _table("What was read and written", names, (_target(one) for one in trace["targets"]))


def _target(target: Target) -> tuple[str, ...]:
    read = in_bytes(target["read_bytes"]) if target["reads"] else ""
    written = in_bytes(target["written_bytes"]) if target["writes"] else ""
    counts = (str(target["calls"]), read, written, str(target["syncs"] or ""))
    return _time(target["seconds"]), *counts, shortened(target["target"], 80)


def _repetitions(trace: Trace) -> Table:
    names = ("seconds", "calls", "of a pass", "call")
    return _table("Repeated", names, (_repetition(one) for one in trace["repetitions"]))


def _repetition(one: Repetition) -> tuple[str, ...]:
    sequence = " then ".join(f"{name}()" for name in one["sequence"] or ())
    name = sequence or words.called(one["call"], one["arguments"])
    where = ", on the critical path" if one["on_critical_path"] else ""
    return (
        _time(one["seconds"]),
        str(one["calls"]),
        _share(one["share_of_pass"]),
        f"{name} by {who(one['role'])}{where}",
    )


def _births(trace: Trace) -> Table:
    rows = (
        (
            _time(one["mean_s"]),
            _time(one["max_s"]),
            _time(one["cpu_s"]),
            str(one["count"]),
            f"{one['call']}() by {who(one['role'])}",
        )
        for one in trace["births"]
    )
    return _table("Forks", ("mean", "longest", "CPU", "forks", "process"), rows)


def _memory(trace: Trace) -> Table:
    names = ("mapped", "calls", "per MiB", "page size", "process")
    alike = Counter(_growth(one) for one in trace["memory"] if one["chunks"])
    return _table("Memory taken", names, ((*row[:-1], _with_others(row[-1], number)) for row, number in alike.items()))


def _growth(one: Growth) -> tuple[str, ...]:
    pieces = ", ".join(f"{chunk['count']} x {in_bytes(chunk['bytes'])}" for chunk in one["chunks"][:4])
    extents = ", ".join(in_bytes(extent["bytes"]) for extent in one["extents"][:3])
    per_mb = NOT_KNOWN if one["calls_per_mb"] is None else f"{one['calls_per_mb']:.3g}"
    asked = one["advice"] or "asked for" if one["page_size_requested"] else "not asked for"
    where = f"{one['call']} by {who(one['role'])}: {pieces}{f' in extents of {extents}' if extents else ''}"
    return in_bytes(one["mapped_bytes"]), str(one["calls"]), per_mb, asked, where


def _stacks(trace: Trace) -> Table:
    rows = (
        (_time(one["seconds"]), str(one["count"]), f"{one['call']}() < {' < '.join(one['frames'][:6])}")
        for one in trace["stacks"]
    )
    return _table("From where in the program", ("seconds", "calls", "call and its callers"), rows)


def _histogram(one: Histogram) -> Table:
    """The buckets from the first that holds something to the last; one that counts nothing is no gap."""
    held = [at for at, bucket in enumerate(one["buckets"]) if bucket["count"]]
    buckets = one["buckets"][held[0] : held[-1] + 1] if held else []
    total = sum(bucket["count"] for bucket in buckets)
    shares = [bucket["count"] / total for bucket in buckets]
    rows = [
        (_values(bucket), str(bucket["count"]), f"{in_share(share):>5} {hashes(share, 20)}".rstrip())
        for bucket, share in zip(buckets, shares, strict=True)
    ]
    unit = f", {one['unit']}" if one["unit"] else ", unit not given"
    return Table(f"Distribution of {one['key'] or 'values'}{unit}", ("values", "count", "share"), rows, whole=True)


def _values(bucket: Values) -> str:
    if bucket["low"] is None or bucket["high"] is None:
        return f"below {bucket['high']:g}" if bucket["low"] is None else f"{bucket['low']:g} and more"
    return f"{bucket['low']:g} to {bucket['high']:g}"


def _table(title: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    known = list(rows)
    kept = [i for i in range(len(names)) if any(row[i] not in ("", NOT_KNOWN) for row in known)]
    return Table(title, [names[i] for i in kept], [[row[i] for i in kept] for row in known])


def _time(seconds: float | None) -> str:
    return NOT_KNOWN if seconds is None else in_time(seconds)


def _share(share: float | None) -> str:
    return NOT_KNOWN if share is None else in_share(share)
