"""vxtrace of Veritas Volume Manager: requests of a volume, plex or disk, one by one.

Table: `block_io`. Lengths and places are in sectors of 512 bytes. Times are clock ticks of 10 ms: one of no tick was
shorter than that, and stands as null. There are no times of day. A request of which only the start was seen has no
latency; an end without a start is a request all the same.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import NO_FIGURES
from doctord.read.tools.report import Line, Report, placed
from doctord.regex import regex

NAME = "vxtrace"
RANK = Rank.NAMED

SECTOR_BYTES, TICK_US = 512, 10_000.0
COARSE = "its clock ticks every 10 ms: what took less has no time"
EVENT = regex(
    r"\s*(?P<id>\d+) (?P<what>START|END) (?P<operation>\w+) (?P<object>\w+) (?P<device>\S+)(?: .*?)?"
    r"\bblock (?P<block>\d+) len (?P<length>\d+)(?:.*? time (?P<ticks>\d+))?"
)


def sniff(head: str) -> bool:
    """Whether a request is among the first lines."""
    return any(map(EVENT.match, head.splitlines()[:50]))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `block_io`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """A report of each request, as each is at a moment of its own."""
    started: dict[tuple[str, str], Report] = {}
    for number, line in lines:
        found = EVENT.match(line)
        if found is None:
            if line.strip():
                source.skip(number, NO_FIGURES)
        elif found["what"] == "START":
            key = (found["id"], found["device"])
            if key in started:
                yield started[key]
            started[key] = _request(number, found, day)
        else:
            started.pop((found["id"], found["device"]), None)
            source.note(COARSE)
            yield _request(number, found, day)
    yield from started.values()


def _request(number: int, found: "re.Match[str]", day: date | None) -> Report:
    report = Report(number, day=day)
    figures = {
        "operation": found["operation"],
        "sector": int(found["block"]),
        "bytes": int(found["length"]) * SECTOR_BYTES,
        "latency_us": int(found["ticks"] or 0) * TICK_US or None,
    }
    report.row("block_io", figures, device=found["device"])
    return report
