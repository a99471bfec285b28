"""vmstat of Linux with -s (sums), -d (disks), -D (sums of disks), -m (slabs), and vmstat -s of Solaris, AIX and HP-UX.

Tables: `memory` with the sizes that -s of Linux tells; `statistic` (component `kernel`): `vmstat.NAME` as printed, for
-d and -m of the disk or the slab. These count since boot.

Units: KiB where -s prints K, sectors are 512 bytes.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import NO_FIGURES, HeadedRow, headed_rows, reports_of
from doctord.read.tools.numbers import Layout, numbered
from doctord.read.tools.report import Line, Report, placed
from doctord.read.tools.times import moment_in
from doctord.regex import regex

NAME = "vmstat -s, -d, -D, -m"
RANK = Rank.NAMED

SUM = regex(r"\s*(\d+)\s+(?:([KMkm])\s+)?([a-zA-Z(].*?)\s*$")
SUMS_KNOWN = (
    "cpu context switches",
    "CPU context switches",
    "major faults",
    "total memory",
    "total reads",
    "partitions",
)
SIZES = {"K": 1024.0, "k": 1000.0, "M": 1024.0**2, "m": 1e6}
MEMORY = {
    "total memory": "total_bytes",
    "free memory": "free_bytes",
    "buffer memory": "page_cache_bytes",
    "swap cache": "page_cache_bytes",
    "total swap": "swap_total_bytes",
    "free swap": "swap_free_bytes",
}
DISK_NAMES = ["total", "merged", "sectors", "ms"]
DISK_COLUMNS = (
    *(f"{way} {name}" for way in ("reads", "writes") for name in DISK_NAMES),
    "I/O cur",
    "I/O sec",
)
SLAB_NAMES = ["Cache", "Num", "Total", "Size", "Pages"]


def sniff(head: str) -> bool:
    """Whether it has the headings of -d or -m, or a list of sums under well-known names."""
    lines = head.splitlines()[:60]
    sums = [found[3] for line in lines if (found := SUM.match(line))]
    return any(map(_heading, lines)) or any(name.endswith(SUMS_KNOWN) for name in sums)


def _heading(line: str) -> tuple[str, list[str]] | None:
    words = line.split()
    if words[:4] == DISK_NAMES:
        zone = words[-1:] if words[-1].isupper() else []
        return "disk", [*DISK_COLUMNS, *zone]
    return ("slab", words[1:]) if words == SLAB_NAMES else None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `memory` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each report of the text."""
    rows = headed_rows(lines, source, day, _heading, titles=("disk-",), since_boot=False)
    return reports_of(rows, lambda row: _take(row, source), source)


def _take(row: HeadedRow, source: SourceFile) -> None:
    """Put a line into its report.

    Raises:
        ValueError: it is none of figures.
    """
    if row.part:
        entity, *words = row.words
        names = row.names[: len(DISK_COLUMNS)]
        if stamp := " ".join(words[len(names) :]):
            row.report.at = moment_in(stamp, source, row.names[-1])
        Layout("kernel", "vmstat", {}).fill(row.report, "statistic", numbered(names, words[: len(names)]), entity)
    elif found := SUM.match(" ".join(row.words)):
        _add_sum(row.report, int(found[1]), found[2], found[3])
    else:
        raise ValueError(NO_FIGURES)


def _add_sum(report: Report, value: float, size: str | None, name: str) -> None:
    if size is None:
        report.statistic("kernel", f"vmstat.{name}", value, "count")
    elif column := MEMORY.get(name):
        before = report.figure("memory", column) or 0.0
        report.row("memory", {column: before + value * SIZES[size]})
    else:
        report.statistic("kernel", f"vmstat.{name}", value * SIZES[size], "bytes")
