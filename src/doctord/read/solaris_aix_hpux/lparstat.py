"""lparstat of AIX: the CPUs of a partition against what it is entitled to.

Tables: `cpu` (the whole host); `statistic` (component `aix`): `lparstat.physc` (CPUs in use), `lparstat.%entc` (of the
entitlement), lbusy, vcsw and the rest; `setting` (component `aix`): `lparstat.type`, `.mode`, `.lcpu`, `.ent` ... from
the first line. The first report covers the time since boot only without an interval, which the text does not tell: it
is kept.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import HeadedRow, headed_rows, reports_of
from doctord.read.tools.numbers import Layout, numbered
from doctord.read.tools.report import Line, Report, placed
from doctord.regex import regex

NAME = "lparstat"
RANK = Rank.NAMED

CPUS = Layout(
    "aix",
    "lparstat",
    {
        "%user": ("usr_pct", 1.0),
        "%sys": ("sys_pct", 1.0),
        "%wait": ("wait_io_pct", 1.0),
        "%idle": ("idle_pct", 1.0),
    },
    {
        "physc": ("cpus", "gauge", 1.0),
        "app": ("cpus", "gauge", 1.0),
        "lbusy": ("pct", "gauge", 1.0),
        "vcsw": ("per_s", "rate", 1.0),
        "phint": ("per_s", "rate", 1.0),
    },
)
CONFIGURATION = "System configuration:"
VALUE = regex(r"(\w+)=(\S+)")


def sniff(head: str) -> bool:
    """Whether it has lparstat's heading."""
    return any(map(_heading, head.splitlines()[:50]))


def _heading(line: str) -> tuple[str, list[str]] | None:
    words = line.split()
    return ("cpu", words) if words[:1] == ["%user"] and "%idle" in words and "%wait" in words else None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `cpu`, `setting` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each line of figures; the settings stand in the first."""
    told: dict[str, str] = {}
    rows = headed_rows(_without_configuration(lines, told), source, day, _heading, since_boot=False)
    for report in reports_of(_each_alone(rows), _take, source):
        for name, value in told.items():
            report.row("setting", {"value": value}, component="aix", name=f"lparstat.{name}")
        told.clear()
        yield report


def _without_configuration(lines: Iterable[Line], told: dict[str, str]) -> Iterator[Line]:
    for number, line in lines:
        if line.startswith(CONFIGURATION):
            told.update(VALUE.findall(line))
        else:
            yield number, line


def _each_alone(rows: Iterable[HeadedRow]) -> Iterator[HeadedRow]:
    """Rows in a report of their own: one heading stands above many."""
    for row in rows:
        row.report = Report(row.number, at=row.report.at, day=row.report.day)
        yield row


def _take(row: HeadedRow) -> None:
    """Put a line of figures into its report.

    Raises:
        ValueError: it is none.
    """
    CPUS.fill(row.report, "cpu", numbered(row.names, row.words), cpu=None)
