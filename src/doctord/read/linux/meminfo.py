"""/proc/meminfo, saved once.

Tables: `memory`; what has no column there is `statistic`, component `kernel`, named `meminfo.NAME`, in bytes (huge
pages: their number). kB are of 1024 bytes. `page_cache_bytes` is Cached and Buffers less Shmem, as everywhere. The
time is that of the file's last change.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.report import Line, Report, placed
from doctord.regex import regex

NAME = "/proc/meminfo"
RANK = Rank.NAMED
LINE: Final = regex(r"\s*([A-Z]\w*(?:\(\w+\))?):\s+(\d+)(?: (kB))?\s*$")
COLUMNS: Final = {
    "MemTotal": "total_bytes",
    "MemFree": "free_bytes",
    "MemAvailable": "available_bytes",
    "AnonPages": "anon_bytes",
    "PageTables": "page_tables_bytes",
    "Shmem": "shmem_bytes",
    "SwapTotal": "swap_total_bytes",
    "SwapFree": "swap_free_bytes",
    "HugePages_Total": "huge_pages_total",
    "HugePages_Free": "huge_pages_free",
    "HugePages_Rsvd": "huge_pages_rsvd",
    "Hugepagesize": "huge_page_bytes",
}
IN_CACHE: Final = ("Cached", "Buffers")


def sniff(head: str) -> bool:
    """Whether it begins with the memory in all, and the free."""
    names = [found[1] for line in head.lstrip().split("\n", 4)[:4] if (found := LINE.match(line.rstrip("\r")))]
    return names[:2] == ["MemTotal", "MemFree"]


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `memory` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:  # noqa: ARG001 - a Tool
    """What stands in the lines, as one report; another one where it begins anew."""
    report, values = None, dict[str, int]()
    for line, text in lines:
        found = LINE.match(text)
        if found is None:
            if text.strip():
                source.skip(line, "not a line of /proc/meminfo")
            continue
        if found[1] in values and report is not None:
            _put(report, values)
            yield report
            report, values = None, {}
        report = Report(line) if report is None else report
        values[found[1]] = int(found[2]) * (1024 if found[3] else 1)
    if report is not None:
        _put(report, values)
        yield report


def _put(report: Report, values: dict[str, int]) -> None:
    known = {COLUMNS[name]: value for name, value in values.items() if name in COLUMNS}
    if "Cached" in values and "Buffers" in values:
        known["page_cache_bytes"] = values["Cached"] + values["Buffers"] - values.get("Shmem", 0)
    report.row("memory", known)
    for name, value in values.items():
        if name not in COLUMNS and name not in IN_CACHE:
            unit = "pages" if name.startswith("HugePages_") else "bytes"
            report.statistic("kernel", f"meminfo.{name}", float(value), unit)
