"""mpstat of Solaris (with any of -p -a -q -T) and of AIX: each CPU.

Tables: `cpu`, and where only single CPUs are printed, a row for all of them: shares are their mean, rates their sum.
`statistic` (components `solaris` and `aix`): `mpstat.COLUMN` of `cpu N` for the rest, as smtx (spins on mutexes),
srw (on readers' and writers' locks), minf and mjf (faults), of AIX lpa and %ec.

Units: rates are per second. The first report covers the time since boot. Only -T tells times. Cross calls (xcal) grow
with what a machine does: they are no evidence of anything by themselves.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import HeadedRow, headed_rows, reports_of
from doctord.read.tools.numbers import Layout, numbered
from doctord.read.tools.report import Line, Report, placed

NAME = "mpstat (Solaris, AIX)"
RANK = Rank.NAMED

PER_S = ("per_s", "rate", 1.0)
SOLARIS = Layout(
    "solaris",
    "mpstat",
    {
        "xcal": ("xcalls_per_s", 1.0),
        "intr": ("interrupts_per_s", 1.0),
        "csw": ("csw_per_s", 1.0),
        "icsw": ("icsw_per_s", 1.0),
        "migr": ("migrations_per_s", 1.0),
        "syscl": ("syscalls_per_s", 1.0),
        "usr": ("usr_pct", 1.0),
        "sys": ("sys_pct", 1.0),
        "wt": ("wait_io_pct", 1.0),
        "st": ("steal_pct", 1.0),
        "idl": ("idle_pct", 1.0),
    },
    dict.fromkeys(("minf", "mjf", "ithr", "smtx", "srw"), PER_S),
    frozenset({"sze", "set"}),
)
AIX = Layout(
    "aix",
    "mpstat",
    {
        "int": ("interrupts_per_s", 1.0),
        "cs": ("csw_per_s", 1.0),
        "ics": ("icsw_per_s", 1.0),
        "mig": ("migrations_per_s", 1.0),
        "sysc": ("syscalls_per_s", 1.0),
        "rq": ("run_queue", 1.0),
        "us": ("usr_pct", 1.0),
        "sy": ("sys_pct", 1.0),
        "wa": ("wait_io_pct", 1.0),
        "wt": ("wait_io_pct", 1.0),
        "id": ("idle_pct", 1.0),
    },
    dict.fromkeys(("min", "maj", "mpc"), PER_S) | {"pc": ("cpus", "gauge", 1.0), "lcs": PER_S},
)
ALL = "ALL"
# Capacity that is not used, on AIX: no CPU.
UNUSED = "U"


def sniff(head: str) -> bool:
    """Whether it has a heading of mpstat."""
    return any(map(_heading, head.splitlines()[:100]))


def _heading(line: str) -> tuple[str, list[str]] | None:
    words = line.split()
    is_solaris = words[:1] in (["CPU"], ["SET"]) and {"xcal", "smtx", "idl"} <= set(words)
    is_aix = words[:1] == ["cpu"] and {"ics", "lpa", "sysc"} <= set(words)
    return (words[0], words) if is_solaris or is_aix else None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `cpu` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each report of the text."""
    rows = headed_rows(lines, source, day, _heading, titles=("System configuration",))
    for report in reports_of(rows, _take, source):
        _add_all(report)
        yield report


def _take(row: HeadedRow) -> None:
    """Put a line of figures into its report.

    Raises:
        ValueError: it is none.
    """
    which, layout = row.words[0], AIX if row.part == "cpu" else SOLARIS
    figures = numbered(row.names[1:], row.words[1:])
    if row.part == "SET":
        Layout("solaris", "mpstat", {}, SOLARIS.units).fill(row.report, "statistic", figures, f"set {which}")
    elif which == ALL:
        layout.fill(row.report, "cpu", figures, cpu=None)
    elif which != UNUSED:
        layout.fill(row.report, "cpu", figures, f"cpu {which}", cpu=int(which))


def _add_all(report: Report) -> None:
    """Add the row of all CPUs where only single ones are printed."""
    cpus = [row for table, row in report.tables() if table == "cpu"]
    if not cpus or any(row["cpu"] is None for row in cpus):
        return
    names = [name for name in cpus[0] if name != "cpu" and all(name in row for row in cpus)]
    sums = {name: sum(row[name] for row in cpus) for name in names}
    means = {name: value / len(cpus) for name, value in sums.items() if name.endswith("_pct")}
    report.row("cpu", sums | means, cpu=None)
