"""free of Linux: memory and swap, in any of its units, wide (-w) and repeated (-s).

Tables: `memory`; `statistic` (component `kernel`) `free.used`, bytes.

Units: the text does not tell its unit. With letters behind the figures (-h) it does, else KiB is taken, as free prints
by default. Old versions (before procps 3.3.10) print buffers and cached apart, and a line that corrects used and free
for them, which is left out.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import HeadedRow, headed_rows, reports_of
from doctord.read.tools.numbers import number
from doctord.read.tools.report import Line, Report, placed

NAME = "free"
RANK = Rank.NAMED

KIB = 1024.0
COLUMNS = {
    "total": "total_bytes",
    "free": "free_bytes",
    "available": "available_bytes",
    "shared": "shmem_bytes",
    "buff/cache": "page_cache_bytes",
    "buffers": "page_cache_bytes",
    "cache": "page_cache_bytes",
    "cached": "page_cache_bytes",
}
SWAP_COLUMNS = {"total": "swap_total_bytes", "free": "swap_free_bytes"}
UNIT_ASSUMED = "no unit in it: KiB is taken, as free prints by default"
CORRECTED, SUM = "-/+", "Total:"


def sniff(head: str) -> bool:
    """Whether it has free's heading and its line of memory."""
    lines = head.splitlines()[:20]
    return any(map(_heading, lines)) and any(line.startswith("Mem:") for line in lines)


def _heading(line: str) -> tuple[str, list[str]] | None:
    words = line.split()
    return ("memory", words) if words[:4] == ["total", "used", "free", "shared"] else None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `memory` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each report of the text."""
    rows = headed_rows(lines, source, day, _heading, since_boot=False, titles=(CORRECTED, "Low:", "High:", SUM, "Comm"))
    return reports_of(rows, lambda row: _take(row, source), source)


def _take(row: HeadedRow, source: SourceFile) -> None:
    """Put a line into its report.

    Raises:
        ValueError: it is none of figures.
    """
    label, words = row.words[0], row.words[1:]
    columns = {"Mem:": COLUMNS, "Swap:": SWAP_COLUMNS}.get(label)
    if columns is None or not 3 <= len(words) <= len(row.names):
        raise ValueError(label)
    has_units = any(word[-1].isalpha() for word in words)
    if not has_units:
        source.note(UNIT_ASSUMED)
    sizes: dict[str, float] = {}
    for name, word in zip(row.names, words, strict=False):
        size = (number(word) or 0.0) * (1.0 if has_units else KIB)
        if name in columns:
            sizes[columns[name]] = sizes.get(columns[name], 0.0) + size
        elif label == "Mem:":
            row.report.statistic("kernel", f"free.{name}", size, "bytes")
    row.report.row("memory", sizes)
