"""pidstat (sysstat 10 to 12.7), with any of -u -r -d -w -s -v -R -t -T -l, in its usual layout and with -h.

Tables: `process`; `statistic` (component `kernel`): `pidstat.COLUMN`, the entity being the pid and the command, and
`pidstat.thread.COLUMN` with the thread's id for the threads of -t, whose process has its own row.

Units: sizes are KiB of 1024 bytes; %usr and %system are of one CPU; what pidstat may not see (-1) is null; iodelay is
in clock ticks, the times of -T are milliseconds. Users are names with -U, else numbers. Of command lines only the
program is kept. A process that did nothing is not printed. Without an interval a text covers the life of each
process.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch, command_name
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.sysstat.timed_tables import timed_rows
from doctord.read.tools.headed_tables import HeadedRow, reports_of
from doctord.read.tools.numbers import Layout, number
from doctord.read.tools.report import Line, Report, placed

NAME = "pidstat"
RANK = Rank.NAMED

KIB = 1024.0
FOLLOWING = frozenset({"%CPU", "%MEM", "CPU"})
UNITS = {
    "VSZ": ("bytes", "gauge", KIB),
    "StkSize": ("bytes", "gauge", KIB),
    "StkRef": ("bytes", "gauge", KIB),
    "iodelay": ("ticks", "gauge", 1.0),
    "usr-ms": ("ms", "gauge", 1.0),
    "system-ms": ("ms", "gauge", 1.0),
    "guest-ms": ("ms", "gauge", 1.0),
}
PLACES = {
    "%usr": ("usr_pct", 1.0),
    "%guest": ("usr_pct", 1.0),
    "%system": ("sys_pct", 1.0),
    "%wait": ("run_wait_pct", 1.0),
    "minflt/s": ("minor_faults_per_s", 1.0),
    "majflt/s": ("major_faults_per_s", 1.0),
    "RSS": ("rss_bytes", KIB),
    "kB_rd/s": ("read_bytes_per_s", KIB),
    "kB_wr/s": ("write_bytes_per_s", KIB),
    "cswch/s": ("vcsw_per_s", 1.0),
    "nvcswch/s": ("icsw_per_s", 1.0),
    "threads": ("threads", 1.0),
}
PROCESSES = Layout("kernel", "pidstat", PLACES, UNITS, FOLLOWING)
THREADS = Layout("kernel", "pidstat.thread", {}, UNITS, FOLLOWING)
WHO = frozenset({"UID", "USER", "PID", "TGID", "TID"})
WORDS = frozenset({"Command", "policy"})


def sniff(head: str) -> bool:
    """Whether it has a heading of pidstat."""
    headings = (line.split() for line in head.splitlines()[:100])
    return any(words[-1] == "Command" and not WHO.isdisjoint(words[:4]) for words in headings if words)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `process` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each report of the text; `day` is that of the first time of day where there is no date."""
    return reports_of(timed_rows(lines, source, day, WHO), _take, source)


def _take(row: HeadedRow) -> None:
    """Put a line into its report.

    Raises:
        ValueError: it is none of figures.
    """
    cells = dict(zip(row.names, row.words, strict=True))
    figures = {name: _figure(name, word) for name, word in cells.items() if name not in WHO | WORDS}
    command = command_name(cells["Command"].removeprefix("|__"))
    pid = cells.get("PID", cells.get("TGID", "-"))
    if pid == "-":
        THREADS.fill(row.report, "statistic", figures, f"{cells['TID']} {command}")
        return
    if PROCESSES.fill(row.report, "process", figures, f"{pid} {command}", pid=int(pid)):
        row.report.row("process", {"command": command, "user": cells.get("USER", cells.get("UID"))}, pid=int(pid))


def _figure(name: str, word: str) -> float | None:
    value = number(word)
    return None if name.startswith("kB_") and value is not None and value < 0 else value
