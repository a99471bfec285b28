"""Measures of a call trace: the time of a pass of its loop and of each call in it, or of calls by the second."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.study.measure import Key, Measure
from doctord.analyse.study.samples import Samples
from doctord.analyse.traces.calls import WAITS, classes, traced_s
from doctord.analyse.traces.calls_compared import ordinal_key
from doctord.dataset.calltrace import Trace

PASS: Final = Key("call", "pass")


def calls(trace: Trace) -> Iterator[Measure]:
    """What is compared of a trace, each as seconds a pass; without a loop as seconds a second."""
    loop = trace["loop"]
    if loop is None:
        yield from _by_second(trace)
        return
    passes = float(loop["passes"] or 1)
    yield _of(PASS, loop["mean_s"] * passes, passes)
    seen: dict[tuple[str, str], int] = {}
    for step in loop["steps"]:
        name, arguments, nth = ordinal_key(step, seen)
        of = f"{arguments} ({nth})" if nth > 1 else arguments
        yield _of(Key("call", name, of), step["seconds"] * passes, passes)


def _by_second(trace: Trace) -> Iterator[Measure]:
    """Waits for others are left out: their length is not the program's own."""
    seconds = traced_s(trace)
    kinds = classes(trace)
    for call in trace["calls"] if seconds else ():
        if call["seconds"] is not None and kinds[call["call"]] not in WAITS:
            yield _of(Key("call", call["call"]), call["seconds"], float(seconds or 1))


def _of(key: Key, seconds: float, per: float) -> Measure:
    return Measure(key, "s", "low", Samples.of(seconds, per), seconds / per)
