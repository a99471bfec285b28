"""`ps -elf` and its like: how many processes were in which state; its other figures are no rates.

`statistic`, component `kernel`: `ps.processes` by state (entity: the letter that ps prints), and `ps.waiting` by
what processes in uninterruptible sleep wait in (entity: WCHAN).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.report import Line, Report, placed

NAME = "ps"
RANK = Rank.SHAPE
STATES: Final = ("S", "STAT", "ST")
COMMANDS: Final = ("CMD", "COMMAND", "COMD")


def sniff(head: str) -> bool:
    """Whether its first line of words is the heading of ps, with a column of states."""
    return _is_heading(next((line.split() for line in head.splitlines() if line.strip()), []))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:  # noqa: ARG001 - a Tool
    """What stands under each heading."""
    report, heading, held = None, list[str](), Counter[tuple[str, str]]()
    for line, text in lines:
        words = text.split()
        if _is_heading(words):
            if report is not None:
                yield _filled(report, held)
            report, heading, held = Report(line), words, Counter()
        elif heading and (values := dict(zip(heading, words, strict=False))).get("PID", "").isdecimal():
            state = next((values[name] for name in STATES if name in values), "?")[0]
            held[state, values.get("WCHAN", "-") if state == "D" else "-"] += 1
        elif words:
            source.skip(line, "not a line of ps")
    if report is not None:
        yield _filled(report, held)


def _is_heading(words: list[str]) -> bool:
    return "PID" in words and words[-1:] != [] and words[-1] in COMMANDS and any(name in words[:-1] for name in STATES)


def _filled(report: Report, held: Counter[tuple[str, str]]) -> Report:
    states = Counter[str]()
    for (state, waits_in), count in held.items():
        states[state] += count
        if waits_in != "-":
            report.statistic("kernel", "ps.waiting", float(count), "processes", entity=waits_in)
    for state, count in states.items():
        report.statistic("kernel", "ps.processes", float(count), "processes", entity=state)
    return report
