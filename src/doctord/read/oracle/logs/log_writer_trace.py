"""Traces of Oracle's log writer (`SID_lgwr_PID.trc`, `SID_lg00_PID.trc`): the writes of which it complains itself.

Tables: `statistic` `lgwr.slow_write_ms` and `lgwr.slow_write_bytes`, a reading for each `Warning: log write elapsed
time 687ms, size 12KB`, and `lgwr.slow_broadcast_ms` for each `log write broadcast wait time` (RAC: the other instances
were late to confirm a commit). LGWR warns of what took longer than half a second: of quick writes nothing is told.
`event` `log file sync`: a switch between polling and posting of those who wait for commits.

The time of a line is that of the stamp (`***`) above it; without a zone in that of --zone, else in UTC.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.format import Rank
from doctord.read.moments import moment_of_cell
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "traces of Oracle's log writer"
RANK = Rank.NAMED
ONLY_SLOW: Final = "it tells only of writes of the log that took half a second or longer, and not how many there were"
STAMP: Final = regex(r"\*\*\* (?:.*\) )?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d:\d\d|Z)?)")
WRITE: Final = regex(r"Warning: log write elapsed time (\d+) ?ms, size (\d+) ?KB")
BROADCAST: Final = regex(r"Warning: log write broadcast wait time (\d+) ?ms")
SYNC: Final = regex(r"Log file sync switching to (\S.*?)\s*$")
SNIFFED: Final = regex(rf"^(?:{WRITE.pattern}|{BROADCAST.pattern}|Log file sync switching to )", re.MULTILINE)
STATEMENTS: Final = regex(r"^(?:WAIT|PARSE|EXEC) #-?\d+:", re.MULTILINE)
NODE: Final = regex(r"^Node name:\s*(\S+)", re.MULTILINE)
INSTANCE: Final = regex(r"^Instance name:\s*(\S+)", re.MULTILINE)
NO_TIME: Final = "a warning before any time of day is known"


def sniff(head: str) -> bool:
    """Whether a warning of the log writer is in it, and no trace of its calls (event 10046)."""
    return bool(SNIFFED.search(head)) and not STATEMENTS.search(head)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic` and `event`."""
    node, instance = NODE.search(source.head), INSTANCE.search(source.head)
    source.host = node[1] if node else source.host
    common = {"host": source.host, "db": f"oracle:{instance[1]}" if instance else "oracle"}
    held: dict[str, list[dict[str, Any]]] = {"statistic": [], "event": []}
    at_us: int | None = None
    for number, line in source.lines():
        if stamp := STAMP.match(line):
            at_us = _moment(stamp[1], number, source)
        for table, told in _told(line):
            if at_us is None:
                source.skip(number, NO_TIME)
                break
            held[table].append(common | {"ts": at_us} | told)
    if held["statistic"]:
        source.note(ONLY_SLOW)
    yield from (rows(table, values) for table, values in held.items())


def _moment(text: str, number: int, source: SourceFile) -> int | None:
    try:
        return micros(moment_of_cell(text, source))
    except ValueError:
        source.skip(number, "no time of day")
        return None


def _told(line: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Table and columns of what a line tells."""
    if found := WRITE.match(line):
        yield "statistic", _reading("lgwr.slow_write_ms", float(found[1]), "ms")
        yield "statistic", _reading("lgwr.slow_write_bytes", float(found[2]) * 1024, "bytes")
    elif found := BROADCAST.match(line):
        yield "statistic", _reading("lgwr.slow_broadcast_ms", float(found[1]), "ms")
    elif found := SYNC.match(line):
        yield "event", {"kind": "log file sync", "subject": found[1], "text": f"switched to {found[1]}"}


def _reading(name: str, value: float, unit: str) -> dict[str, Any]:
    return {"component": "oracle", "name": name, "value": value, "unit": unit, "kind": "gauge"}
