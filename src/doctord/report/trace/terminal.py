"""A call trace on a terminal: the verdict, findings, the loop and its critical path, then where the time went."""

from collections.abc import Iterator

from rich.text import Text

from doctord.analyse.traces.calls_compared import Comparison
from doctord.dataset.calltrace import Loop, Trace
from doctord.diagnose.finding import Diagnosis
from doctord.diagnose.words import who
from doctord.report.diagnosis.terminal import findings
from doctord.report.lines import hanging, hashes, heading, one_line, printed, table
from doctord.report.plain import clean
from doctord.report.trace import wording as words
from doctord.report.trace.tables import changes, tables
from doctord.report.wording import style
from doctord.units import in_share, in_time

MOST = 8


def render(
    trace: Trace,
    diagnosis: Diagnosis,
    comparison: Comparison | None = None,
    width: int | None = None,
    *,
    colour: bool | None = None,
) -> str:
    """The trace as lines of text.

    Args:
        trace: what the native reader made of it; the second one of a comparison.
        diagnosis: its findings.
        comparison: what changed from an earlier trace.
        width: columns; see `doctord.report.lines.printed`.
        colour: whether to colour, likewise.
    """
    return printed(lambda columns: _page(trace, diagnosis, comparison, columns), width, colour=colour)


def _page(trace: Trace, diagnosis: Diagnosis, comparison: Comparison | None, width: int) -> Iterator[Text]:
    yield one_line(clean(words.verdict(trace, diagnosis)), style(diagnosis), width)
    yield from hanging("", words.about(trace["trace"]), width)
    if comparison:
        yield from _comparison(comparison, width)
    yield from findings(diagnosis, width)
    if loop := words.sure_loop(trace):
        yield from _loop(loop, width)
        yield from _path(loop, width)
    for part in tables(trace):
        yield from heading(part.title, width)
        most = len(part.rows) if part.whole else MOST
        yield from table(part.names, part.rows[:most], width)
        if len(part.rows) > most:
            yield from hanging("  ", f"and {len(part.rows) - most} more, of less", width)
    if trace["live"]:
        yield from heading("How it was traced", width)
        for line in words.taken(trace["live"]):
            yield from hanging("  ", line, width)
    yield from _unseen(trace, diagnosis, width)


def _comparison(comparison: Comparison, width: int) -> Iterator[Text]:
    yield from heading("Before and after", width, f"seconds per {comparison.per}")
    yield from hanging("", words.gain(comparison), width)
    if comparison.changes:
        changed = changes(comparison)
        yield from table(changed.names, changed.rows[:MOST], width)
    left = max(len(comparison.changes) - MOST, 0)
    more = f"{left} more changed; " if left else ""
    yield from hanging("  ", f"{more}{comparison.unchanged} others differ by less than 1 %", width)


def _loop(loop: Loop, width: int) -> Iterator[Text]:
    yield from heading(f"The loop of {clean(who(loop['role']))}", width, words.rate(loop))
    for sentence in words.sentences(loop):
        yield from hanging("  ", sentence, width)
    for wait in loop["waits"][:MOST]:
        yield from hanging(_bar(wait["share"], wait["seconds"], width), words.wait(wait), width)


def _path(loop: Loop, width: int) -> Iterator[Text]:
    """The critical path as a tree: each process below the one that waited for it, its parts largest first."""
    if not loop["path"]:
        return
    yield from heading("Where a pass goes", width, "critical path, by process")
    for depth, role in sorted({(part["depth"], part["role"]) for part in loop["path"]}):
        parts = [part for part in loop["path"] if (part["depth"], part["role"]) == (depth, role)]
        why = parts[0]["why"] if depth and parts[0]["why"] else ""
        yield from hanging("  " * depth, Text.assemble((clean(who(role)), "bold"), f" {clean(why)}".rstrip()), width)
        for part in parts[:MOST]:
            label = "  " * depth + _bar(part["share"], part["seconds"], width)
            yield from hanging(label, words.part(part), width)


def _bar(share: float | None, seconds: float | None, width: int) -> str:
    length = 10 if width >= 72 else 0
    shown = "" if share is None else in_share(share)
    return f"{shown:>7}  {hashes(share, length)}  {'' if seconds is None else in_time(seconds):>9}  "


def _unseen(trace: Trace, diagnosis: Diagnosis, width: int) -> Iterator[Text]:
    lines = list(words.not_measured(trace, diagnosis))
    if lines:
        yield from heading("Not used, or not to be seen", width)
        for line in lines:
            yield from hanging("? ", line, width)
