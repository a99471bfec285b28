"""Oracle's hard parses one by one, as ora_sqlparse_trace.py (L. Canali, Linux_tracing_scripts) prints them.

Each is an `event` of kind `hard parse`, its statement with `?` for each constant.
"""

import re
from collections.abc import Iterator

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.scrub import scrub
from doctord.read.clock import Clock
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "bcc's traces of Oracle's hard parses"
RANK = Rank.NAMED
LINE = regex(r"(\d\d):([0-5]\d):([0-5]\d)\s+pid=(\d+) len=\d+ sql=(.*)$", re.MULTILINE)


def sniff(head: str) -> bool:
    """Whether there is a parse in the beginning of a file."""
    return bool(LINE.search(head))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `event`; lines that follow a parse go on with its statement."""
    clock, parses = Clock(source), list[tuple[int, str, str]]()
    for number, line in source.lines():
        found = LINE.match(line)
        if found and int(found[1]) < 24:
            parses.append((micros(clock.at(*map(int, found.group(1, 2, 3)))), found[4], found[5]))
        elif found:
            source.skip(number, "not a time of day")
        elif parses and line.strip(" ."):
            moment, pid, text = parses[-1]
            parses[-1] = (moment, pid, f"{text}\n{line}")
    common = {"host": source.host, "db": "oracle", "kind": "hard parse"}
    yield rows(
        "event",
        (
            common | {"ts": moment, "subject": f"pid {pid}", "text": scrub(text, "oracle")}
            for moment, pid, text in parses
        ),
    )
