"""Oracle's waits one by one, as ora_wait_trace.py (L. Canali, Linux_tracing_scripts) prints them, in microseconds."""

import re
from collections.abc import Iterator

from doctord._native import Batch
from doctord.dataset.rows import micros
from doctord.read.clock import Clock
from doctord.read.format import Rank
from doctord.read.single_waits import Waits
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "bcc's traces of Oracle's waits"
RANK = Rank.NAMED
LINE = regex(r"(\d\d):([0-5]\d):([0-5]\d)\s+pid=\d+\s+event#? ?=\s*(.+?)\s+wait_time=(\d+)\s*$", re.MULTILINE)


def sniff(head: str) -> bool:
    """Whether there is a wait in the beginning of a file."""
    return bool(LINE.search(head))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `latency` by event, in columns of a second."""
    waits, clock, has_begun = Waits(source, db="oracle"), Clock(source), False
    for number, line in source.lines():
        wait = LINE.match(line)
        if wait and int(wait[1]) < 24:
            has_begun = True
            yield from waits.add(number, micros(clock.at(*map(int, wait.group(1, 2, 3)))), int(wait[5]), wait[4])
        elif has_begun and line.strip(" ."):  # before that the tool, or whoever kept its output, says what it is
            source.skip(number, "not a wait")
    yield from waits.flush()
