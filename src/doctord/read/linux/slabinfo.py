"""/proc/slabinfo: what the kernel's caches hold. `statistic`, component `kernel`: `slabinfo.active_bytes` by cache."""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.report import Line, Report, placed
from doctord.regex import regex

NAME = "/proc/slabinfo"
RANK = Rank.NAMED
CACHE: Final = regex(r"(\S+)\s+(\d+)\s+\d+\s+(\d+)\s+\d+\s+\d+ : tunables")


def sniff(head: str) -> bool:
    """Whether it begins with its version."""
    return head.lstrip().startswith("slabinfo - version: 2")


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:  # noqa: ARG001 - a Tool
    """All caches as one report; those without an active object are left out."""
    report = None
    for line, text in lines:
        if text.startswith("slabinfo - version"):
            if report is not None:
                yield report
            report = Report(line)
        elif (found := CACHE.match(text)) and report is not None:
            if held := int(found[2]) * int(found[3]):
                report.statistic("kernel", "slabinfo.active_bytes", float(held), "bytes", entity=found[1])
        elif text.strip() and not text.startswith("# name"):
            source.skip(line, "not a line of /proc/slabinfo")
    if report is not None:
        yield report
