"""What every form of a trace's report says alike: the verdict, calls, waits, changes, what was not measured."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePath

from doctord.analyse.traces.calls import (
    NO_CALL,
    NOT_IN_TRACE,
    ONE_A_PASS,
    accepted_per_s,
    connections_a_pass,
    takes_several,
)
from doctord.analyse.traces.calls_compared import Change, Comparison
from doctord.dataset.calltrace import About, Live, Loop, PathPart, Step, Trace, Wait
from doctord.diagnose.finding import Diagnosis
from doctord.diagnose.words import arguments, ordinal, shortened, who
from doctord.report import wording
from doctord.report.phrases import said
from doctord.units import in_bytes, in_rate, in_share, in_time

ARGUMENTS_SHOWN = 44
ASIDE = {NO_CALL: "no call running: computing, or waiting for a CPU", NOT_IN_TRACE: "not in the trace"}
ELAPSED_IS = {
    "since the last event": "A call's time is counted from the process's last event: computing before it is in it.",
    "until the next call": "A call's time is counted until the next one begins: computing after it is in it.",
}


def verdict(trace: Trace, diagnosis: Diagnosis) -> str:
    """The first finding with its share of the time, as one line; else what is served, or why there is no verdict."""
    if diagnosis.findings:
        return wording.verdict(diagnosis)
    if trace["trace"]["kind"] == "histograms":
        return "No verdict: distributions alone do not say where the time went"
    if not trace["trace"]["calls"]:
        return "No verdict: there is no call in the trace"
    return f"No finding{_at_rest(trace)}"


def _at_rest(trace: Trace) -> str:
    """What a server without a finding serves: connections, or passes where those do other work too."""
    loop, accepted = trace["loop"], accepted_per_s(trace)
    if loop and loop["at_least"]:
        return f", but no whole pass of {who(loop['role'])} is in the trace"
    if loop and connections_a_pass(trace, loop) < ONE_A_PASS[0]:
        return f": a pass of {who(loop['role'])} takes {in_time(loop['mean_s'])}, {rate(loop)}"
    limit = f", {rate(loop)}" if (loop := sure_loop(trace)) else ""
    return f": {in_rate(accepted, 'connections')} accepted{limit}" if accepted else ""


def about(read: About) -> str:
    """What was read: the files, the tool, and how much."""
    names = [PurePath(file).name for file in read["files"]]
    files = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    what = ("value", "values") if read["kind"] == "histograms" else ("call", "calls")
    processes = f" of {_count(read['processes'], 'process', 'processes')}" if read["processes"] else ""
    parts = [f"{files}: {read['tool']}", f"{_count(read['calls'], *what)}{processes}"]
    if read["seconds"] is not None:
        parts.append(f"{in_time(read['seconds'])}")
    if read["began"]:
        parts.append(f"from {wording.moment(datetime.fromisoformat(read['began']))}")
    return ", ".join([*parts, in_bytes(read["bytes"])] if read["bytes"] else parts)


def sure_loop(trace: Trace) -> Loop | None:
    """The loop, where its passes are sure to be what they are called; null also where there is none."""
    loop = trace["loop"]
    return loop if loop and not takes_several(trace, loop) else None


def rate(loop: Loop) -> str:
    """How many passes a second one process can make."""
    if loop["max_passes_per_second"] is None:
        return "a rate that is not known"
    return f"at most {in_rate(loop['max_passes_per_second'])}"


def called(call: str, with_: str) -> str:
    """A call with its arguments; time in which none ran says so."""
    if call in ASIDE:
        return ASIDE[call]
    return f"{call}({arguments(with_, ARGUMENTS_SHOWN)})"


def step(one: Step) -> str:
    """A step of the loop: which one of its kind in the pass, and the call."""
    which = f"{ordinal(one['nth'])} " if one["nth"] > 1 else ""
    return f"{which}{called(one['call'], one['arguments'])}"


def wait(one: Wait) -> str:
    """A wait of the loop, and for what."""
    return f"{step(one)}: waits for {one['on']}" if one["on"] else step(one)


def part(one: PathPart) -> str:
    """A part of the critical path, and how often it comes in a pass."""
    times = f"{one['count']:.0f} x " if one["count"] >= 1.5 and one["call"] not in ASIDE else ""
    cpu = f", {in_time(one['cpu_s'])} CPU" if one["cpu_s"] else ""
    return f"{times}{called(one['call'], one['arguments'])}{cpu}"


def sentences(loop: Loop) -> Iterator[str]:
    """The loop in sentences: passes and their length, what of it is its own, how busy it was."""
    least = "at least " if loop["at_least"] else ""
    whole = f"{loop['complete_passes']} of them whole"
    yield f"{_count(loop['passes'], 'pass', 'passes')}, {whole}, of {least}{in_time(loop['mean_s'])}{_spread(loop)}"
    if loop["own_cpu_s"] is not None and loop["own_cpu_share"] is not None:
        yield f"{in_time(loop['own_cpu_s'])} of a pass is its own CPU ({in_share(loop['own_cpu_share'])})"
    if loop["outside_calls_s"]:
        yield f"{in_time(loop['outside_calls_s'])} of a pass with no call running"
    if loop["idle_s"] is not None and loop["idle_share"] is not None:
        yield f"idle {in_share(loop['idle_share'])} of the time, {in_time(loop['idle_s'])}: waits for work are no fault"


def _spread(loop: Loop) -> str:
    if loop["complete_passes"] <= 1:
        return ""
    median, p95, longest = (in_time(loop[key]) for key in ("p50_s", "p95_s", "max_s"))
    return f" on average (half take {median} or less, p95 {p95}, longest {longest})"


def gain(comparison: Comparison) -> str:
    """What the loop gained or lost, in one sentence; what is compared when there is no loop in both."""
    loop = comparison.loop
    if loop is None:
        return "No loop in both traces: calls are compared in seconds per second of trace"
    word = "shorter" if loop.gained_s >= 0 else "longer"
    rates = ""
    if loop.before_per_second is not None and loop.after_per_second is not None:
        rates = f"; at most {in_rate(loop.before_per_second)} before, {in_rate(loop.after_per_second)} after"
    lengths = f"{in_time(loop.before_s)} -> {in_time(loop.after_s)}"
    others = "" if comparison.others_compared else ". Other processes are not in both traces, and are not compared"
    return f"A pass is {in_share(abs(loop.gained_share))} {word}: {lengths}{rates}{others}"


def change(one: Change) -> str:
    """A call that changed, in words; its figures stand beside it."""
    which = f"{ordinal(one.nth)} " if one.nth and one.nth > 1 else ""
    name = f"{one.call}({arguments(one.arguments, ARGUMENTS_SHOWN)})"
    counts = ""
    if one.before and one.after and "frequent" in one.kind:
        counts = f", {one.before['count']:.3g} -> {one.after['count']:.3g} times"
    only = {"gone": "in the first trace only", "new": "in the second trace only"}
    return f"{which}{name}: {only.get(one.kind, one.kind)}{counts}"


def not_measured(trace: Trace, diagnosis: Diagnosis) -> Iterator[str]:
    """What of the trace was not used, and what it does not show."""
    for item in diagnosis.not_measured:
        yield f"{said(item.what)}: {said(item.why)}. To see it: {said(item.grant)}"
    read = trace["trace"]
    for skipped in read["skipped"]:
        lines = _count(skipped["lines"], "line", "lines")
        example = shortened(skipped["example"], 60)
        first = "" if skipped["first_line"] is None else f"; the first is line {skipped['first_line']}: {example}"
        yield f"{lines} not used, {skipped['why']}{first}"
    yield from read["damage"]
    if read["backwards"]:
        yield f"{_count(read['backwards'], 'time stamp goes', 'time stamps go')} backwards"
    if read["gaps"]:
        yield f"{_count(read['gaps'], 'gap', 'gaps')} in an excerpt, {in_time(read['gap_seconds'])} in sum"
    if read["calls_without_detail"]:
        yield f"{read['calls_without_detail']} calls are in the sums only: no more are kept in detail"
    if read["elapsed_is"] in ELAPSED_IS:
        yield ELAPSED_IS[read["elapsed_is"]]
    if trace["live"]:
        yield from _live(trace["live"])
    elif read["kind"] == "summary":
        yield "A summary holds sums only: no loop, no sizes, no files. Trace without -c to see them."
    elif read["kind"] == "histograms":
        yield "The calls behind these distributions: trace the process to see them."
    elif read["elapsed_is"] is None:
        yield "The trace has no times of calls: take it with strace -f -ttt -T or truss -f -d -D -E."
    elif not read["has_cpu"]:
        yield "CPU time in calls: only truss -E gives it."
    if trace["loop"] is None and read["kind"] == "calls":
        yield "No loop of a server was found."


ENDED = {
    "time": "",
    "limit": "; it stopped at the limit of its log",
    "ended": "; the process ended",
    "interrupted": "; you stopped it",
}


def taken(live: Live) -> Iterator[str]:
    """How a running process was traced, and what that cost it."""
    count = _count(live["processes"], "process", "processes")
    yield f"{live['how']} traced {count} for {in_time(live['seconds'])}{ENDED[live['ended']]}"
    if live["note"]:
        yield f"{live['note'][0].upper()}{live['note'][1:]}"
    for key, unit in (("cpu_ms_per_s", "ms of CPU"), ("switches_per_s", "context switches")):
        before, during = live["before"][key], live["during"][key]  # type: ignore[literal-required]
        if before is not None and during is not None:
            yield f"They used {before:.0f} {unit} a second before, {during:.0f} while they were traced"


def _live(live: Live) -> Iterator[str]:
    if live["how"] == "strace":
        yield "What the calls take without strace, which stops the process twice for each: passes are shorter then."
    if live["how"] == "bpf":
        yield (
            "Sums by call only: --how strace shows single calls, files, repetitions and the path through other "
            "processes, and slows the process down far more."
        )
        yield "Percentiles are right to a factor of two."


def _count(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"
