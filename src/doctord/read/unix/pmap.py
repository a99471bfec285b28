"""pmap of Solaris (-x, -xs) and Linux (-x): the address space of processes, and of which pages it is made.

`statistic`, component `pmap`, readings in bytes: `pmap.mapped`, `.resident`, `.anon`, `.locked`; `.dirty` of Linux. The
entity is pid, command (never its arguments) and, where -s of Solaris tells it, the page size: `18420 oracleORCL 8K`.
What a process shares is in each that maps it.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from doctord._native import Batch
from doctord.read.figures import number
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.report import Line, Report, placed
from doctord.regex import regex

NAME = "pmap"
RANK = Rank.NAMED
LOOKED_AT: Final = 10
KIB: Final = 1024.0
PROCESS: Final = regex(r"(\d+):\s+(\S+)")
HEADING: Final = regex(r"\s*Address\s+Kbytes\s+RSS\s+(?:Anon\s+Locked|Dirty)\b")
MAPPING: Final = regex(r"\s*[0-9A-Fa-f]{6,16}\s+(?=\d)")
TOTAL: Final = regex(r"\s*total (?:Kb|kB)\b|\s*-+(?: +-+)*\s*$")
PAGE: Final = regex(r"\d+[KMGT]$")
FIGURES: Final = {"Kbytes": "mapped", "RSS": "resident", "Anon": "anon", "Locked": "locked", "Dirty": "dirty"}
NO_MAPPING: Final = "no mapping of a process"


def sniff(head: str) -> bool:
    """Whether pmap's heading is among the first lines."""
    return any(HEADING.match(line) for line in head.splitlines()[:LOOKED_AT])


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """All processes as one report."""
    report, names, who = Report(0, day=day), list[str](), "0"
    sums = dict[tuple[str, str], float]()
    for number_of_line, text in lines:
        if begins := PROCESS.match(text):
            who = f"{begins[1]} {begins[2].rpartition('/')[2]}"
        elif HEADING.match(text):
            names = text.split()
        elif MAPPING.match(text) and names:
            words = dict(zip(names, text.split(), strict=False))
            page = words.get("Pgsz", "")
            entity = f"{who} {page}" if PAGE.match(page) else who
            for name, figure in FIGURES.items():
                if (value := number(words.get(name, ""))) is not None:
                    sums[entity, figure] = sums.get((entity, figure), 0.0) + value * KIB
        elif text.strip() and not TOTAL.match(text):
            source.skip(number_of_line, NO_MAPPING)
    for (entity, figure), value in sums.items():
        report.statistic("pmap", f"pmap.{figure}", value, "bytes", entity=entity)
    if report:
        yield report
