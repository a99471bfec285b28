"""trapstat of Solaris on SPARC with -t or -T: time spent on translating addresses, by CPU, mode and (-T) page size.

Table: `translation`; the last line is the row of all CPUs (cpu, mode and page size null). Misses are per second,
shares are per cent of the time; the last column, their sum, follows from the others.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import HeadedRow, headed_rows, reports_of
from doctord.read.tools.numbers import number
from doctord.read.tools.report import Line, Report, placed
from doctord.regex import regex

NAME = "trapstat -t and -T"
RANK = Rank.NAMED

HEADING = regex(r"cpu(?:\s+m(?:\s+size)?)?\s*\|\s*itlb-miss\s+%tim\s+itsb-miss\s+%tim\s*\|\s*dtlb-miss")
WHERE = regex(r"\s*(?:(?P<all>ttl)|(?P<cpu>\d+)(?:\s+(?P<mode>[uk]))?(?:\s+(?P<size>\d+[kmg]))?)\s*$")
MODES = {"u": "user", "k": "kernel"}
COLUMNS = (
    "itlb_misses_per_s", "itlb_pct", "itsb_misses_per_s", "itsb_pct",
    "dtlb_misses_per_s", "dtlb_pct", "dtsb_misses_per_s", "dtsb_pct",
)  # fmt: skip


def sniff(head: str) -> bool:
    """Whether it has trapstat's heading."""
    return any(map(_heading, head.splitlines()[:100]))


def _heading(line: str) -> tuple[str, list[str]] | None:
    return ("cpu", line.split()) if HEADING.match(line.strip()) else None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `translation`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each report of the text."""
    return reports_of(headed_rows(lines, source, day, _heading, since_boot=False), _take, source)


def _take(row: HeadedRow) -> None:
    """Put a line of figures into its report.

    Raises:
        ValueError: it is none.
    """
    where, *sides = " ".join(row.words).split("|")
    found = WHERE.match(where)
    figures = [number(word) for side in sides[:2] for word in side.split()]
    if found is None or len(figures) != len(COLUMNS):
        raise ValueError(where)
    page = number(found["size"]) if found["size"] else None
    entity = {
        "cpu": int(found["cpu"]) if found["cpu"] else None,
        "mode": MODES.get(found["mode"] or ""),
        "page_bytes": None if page is None else round(page),
    }
    row.report.row("translation", dict(zip(COLUMNS, figures, strict=True)), **entity)
