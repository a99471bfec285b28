"""Traces of Oracle's lock manager in RAC (`SID_lmd0_PID.trc`): deadlocks between sessions of several instances.

Tables: `event` `deadlock`, a row for each global wait-for graph: the subject is how many were in the circle, the text
who waits for which resource on which instance, and the statements that the dump above it shows, without constants.

The time of a line is that of the stamp (`***`) above it; without a zone in that of --zone, else in UTC.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.scrub import scrub
from doctord.read.format import Rank
from doctord.read.moments import moment_of_cell
from doctord.read.oracle.logs.log_writer_trace import INSTANCE, NODE, STAMP
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "traces of Oracle's lock manager (LMD0)"
RANK = Rank.NAMED
IMAGE: Final = regex(r"^Unix process pid: \d+, image: .*\(LMD\d\)", re.MULTILINE)
GRAPH: Final = "Global Wait-For-Graph(WFG) at "
BLOCKED: Final = regex(r"BLOCKED \S+ (?P<mode>\d) .*? (?P<resource>[A-Z]{2} \S+?)\(.*\binst (?P<instance>\d+)\s*$")
CURRENT_SQL: Final = "current SQL:"
NO_TIME: Final = "a graph before any time of day is known"


def sniff(head: str) -> bool:
    """Whether it is the trace of such a process, by its own heading."""
    return IMAGE.search(head) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `event`."""
    node, instance = NODE.search(source.head), INSTANCE.search(source.head)
    source.host = node[1] if node else source.host
    common = {"host": source.host, "db": f"oracle:{instance[1]}" if instance else "oracle", "kind": "deadlock"}
    found = [common | event for event in _deadlocks(source)]
    if found:
        yield rows("event", found)


def _deadlocks(source: SourceFile) -> Iterator[dict[str, Any]]:
    at_us: int | None = None
    waits, statements, above = list[str](), list[str](), ""
    is_graph = False
    for number, line in source.lines():
        blocked = BLOCKED.match(line)
        if is_graph and not blocked and not line.startswith("BLOCKER "):
            yield _event(at_us or 0, waits, statements)
            is_graph, waits, statements = False, [], []
        if stamp := STAMP.match(line):
            at_us = _moment(stamp[1], number, source)
        elif line.startswith(GRAPH):
            is_graph = at_us is not None
            if not is_graph:
                source.skip(number, NO_TIME)
        elif is_graph and blocked:
            waits.append("instance {instance} waits for {resource} in mode {mode}".format(**blocked.groupdict()))
        elif above == CURRENT_SQL:
            statements.append(scrub(line.strip(), "oracle"))
        above = line.strip()
    if is_graph:
        yield _event(at_us or 0, waits, statements)


def _event(at_us: int, waits: list[str], statements: list[str]) -> dict[str, Any]:
    told = "; ".join([*waits, *dict.fromkeys(statements)])
    return {"ts": at_us, "subject": f"{len(waits)} sessions of several instances", "text": told}


def _moment(text: str, number: int, source: SourceFile) -> int | None:
    try:
        return micros(moment_of_cell(text, source))
    except ValueError:
        source.skip(number, "no time of day")
        return None
