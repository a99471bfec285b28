"""mpstat of Linux (sysstat 10 to 12.7), with any of -A -P -I -N -u -T: each CPU, and all together.

Tables: `cpu`; `statistic` (component `kernel`): `mpstat.irq` and `mpstat.softirq`, the entity being the CPU and the
interrupt (`0 TIMER`; one that did not occur has no row), and figures by NUMA node, `mpstat.COLUMN` of `node N`.

User time holds what guests used, as in /proc/stat. Shares are per cent. A text without an interval covers the time
since boot. Averages at the end are left out.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.sysstat.timed_tables import timed_rows
from doctord.read.tools.headed_tables import HeadedRow, reports_of
from doctord.read.tools.numbers import Layout, number, numbered
from doctord.read.tools.report import Line, Report, placed
from doctord.regex import regex

NAME = "mpstat (Linux)"
RANK = Rank.NAMED

PLACES = {
    "%usr": ("usr_pct", 1.0),
    "%user": ("usr_pct", 1.0),
    "%nice": ("usr_pct", 1.0),
    "%guest": ("usr_pct", 1.0),
    "%gnice": ("usr_pct", 1.0),
    "%sys": ("sys_pct", 1.0),
    "%iowait": ("wait_io_pct", 1.0),
    "%irq": ("irq_pct", 1.0),
    "%soft": ("irq_pct", 1.0),
    "%steal": ("steal_pct", 1.0),
    "%idle": ("idle_pct", 1.0),
    "intr/s": ("interrupts_per_s", 1.0),
}
CPUS = Layout("kernel", "mpstat", PLACES)
NODES = Layout("kernel", "mpstat", {})
HEADING = regex(r"\d\s+(?:[AP]M\s+)?CPU\s+(?:intr/s$|.*%iowait\s+%irq\s+%soft)")
TOPOLOGY = frozenset({"CPU", "NODE", "CORE", "SOCK"})


def sniff(head: str) -> bool:
    """Whether it has a heading of mpstat behind a time; sar's heading of the same columns has them in another order."""
    return any(HEADING.search(line) for line in head.splitlines()[:100])


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `cpu` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each report of the text; `day` is that of the first time of day where there is no date."""
    return reports_of(timed_rows(lines, source, day, TOPOLOGY), _take, source)


def _take(row: HeadedRow) -> None:
    """Put a line into its report.

    Raises:
        ValueError: it is none of figures.
    """
    about = {name: word for name, word in zip(row.names, row.words, strict=True) if name in TOPOLOGY}
    named = [(name, word) for name, word in zip(row.names, row.words, strict=True) if name not in TOPOLOGY]
    which = row.words[0]
    cpu = None if which == "all" else int(which)
    if "%idle" not in row.names and "intr/s" not in row.names:
        kind = "softirq" if "TIMER/s" in row.names else "irq"
        for name, word in named:
            per_s = number(word) or None
            row.report.statistic(
                "kernel", f"mpstat.{kind}", per_s, "per_s", kind="rate", entity=f"{which} {name.removesuffix('/s')}"
            )
    elif "CPU" in about:
        CPUS.fill(row.report, "cpu", numbered(*zip(*named, strict=True)), cpu=cpu)
    elif cpu is not None:
        NODES.fill(row.report, "statistic", numbered(*zip(*named, strict=True)), f"node {cpu}")
