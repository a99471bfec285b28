"""prstat of Solaris: its usual layout, -m (microstates), -L (threads), -a -t -Z -J -T (sums), any -s, -d.

Tables: `process`; `statistic` (component `solaris`): `prstat.COLUMN`, the entity being the pid and the command;
`prstat.lwp.COLUMN` of `pid/lwp command` with -L; `prstat.user.COLUMN`, `.zone.`, `.project.`, `.task.` of the sums;
load averages and counts of the last line.

Units: CPU is a share of all CPUs, which decays; microstates are shares of the interval. VCX, ICX, SCL and SIG are
counts over the interval: they are rates in `process` where the interval is known (--every), and counts in `statistic`.
Sizes are 1024 bytes to the K, counts 1000. TFL and DFL (faults of text and data) are time waiting for memory. With -L
the row of a process is the sum of its threads that are printed. State and priority are left out.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch, command_name
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import HeadedRow, headed_rows, reports_of
from doctord.read.tools.numbers import Layout, number
from doctord.read.tools.report import Line, Report, placed
from doctord.regex import regex

NAME = "prstat"
RANK = Rank.NAMED

COUNTS = {"VCX": "vcsw_per_s", "ICX": "icsw_per_s", "SCL": "syscalls_per_s", "SIG": None}
PLACES = {
    "USR": ("usr_pct", 1.0),
    "SYS": ("sys_pct", 1.0),
    "TFL": ("memory_wait_pct", 1.0),
    "DFL": ("memory_wait_pct", 1.0),
    "LCK": ("lock_pct", 1.0),
    "SLP": ("sleep_pct", 1.0),
    "LAT": ("run_wait_pct", 1.0),
    "RSS": ("rss_bytes", 1.0),
}
UNITS = {
    "TRP": ("pct", "gauge", 1.0),
    "CPU": ("pct", "gauge", 1.0),
    "MEMORY": ("pct", "gauge", 1.0),
    "SIZE": ("bytes", "gauge", 1.0),
    "SWAP": ("bytes", "gauge", 1.0),
    "RSS": ("bytes", "gauge", 1.0),
    "TIME": ("s", "gauge", 1.0),
} | dict.fromkeys(("USR", "SYS", "TFL", "DFL", "LCK", "SLP", "LAT"), ("pct", "gauge", 1.0))
PROCESSES = Layout("solaris", "prstat", PLACES, UNITS)
THREADS = Layout("solaris", "prstat.lwp", {}, UNITS)
SUMS = {"ZONEID": "zone", "PROJID": "project", "TASKID": "task", "NPROC": "user", "NLWP": "user"}
PROCESS_COLUMNS = ("PROCESS/NLWP", "PROCESS/LWPID", "PROCESS/LWPNAME")
WORDS = frozenset({"PID", "USERNAME", "STATE", "PRI", "NICE", "LGRP", *PROCESS_COLUMNS})
TOTAL = regex(r"Total: (\d+) processes, (\d+) lwps, load averages: ([\d.]+), ([\d.]+), ([\d.]+)")
HUNDRED_THOUSANDS = regex(r"\.(\d+)M$")
TIME = regex(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)$")


def sniff(head: str) -> bool:
    """Whether it has a heading of prstat's processes."""
    return any((found := _heading(line)) and found[0] == "PID" for line in head.splitlines()[:100])


def _heading(line: str) -> tuple[str, list[str]] | None:
    words = line.split()
    is_known = words[:1] == ["PID"] and words[-1] in PROCESS_COLUMNS
    return (words[0], words) if is_known or (words[:1] and words[0] in SUMS and "RSS" in words) else None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `process` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each report of the text."""
    rows = headed_rows(lines, source, day, _heading, titles=("Please wait",), since_boot=False)
    return reports_of(rows, _take, source)


def _take(row: HeadedRow) -> None:
    """Put a line of figures into its report.

    Raises:
        ValueError: it is none.
    """
    if total := TOTAL.match(" ".join(row.words)):
        names = ("processes", "lwps", "load_1m", "load_5m", "load_15m")
        for name, value in zip(names, total.groups(), strict=True):
            row.report.statistic("solaris", f"prstat.{name}", float(value), "count")
        return
    cells = dict(zip(row.names, row.words, strict=True))
    if row.part == "PID":
        _take_process(row.report, cells, row.names[-1])
    else:
        kind = SUMS[row.part]
        named = "USERNAME" if kind == "user" else row.names[-1]
        figures = {name: _figure(name, word) for name, word in cells.items() if name not in {named, row.part}}
        figures |= {name: number(cells[name]) for name in ("NPROC", "NLWP") if name in cells}
        Layout("solaris", f"prstat.{kind}", {}, UNITS).fill(row.report, "statistic", figures, cells[named])


def _take_process(report: Report, cells: dict[str, str], last: str) -> None:
    name, _, lwps = cells[last].rpartition("/")
    pid, command = int(cells["PID"]), command_name(name)
    figures = {name: _figure(name, word) for name, word in cells.items() if name not in WORDS}
    if last != "PROCESS/NLWP":
        THREADS.fill(report, "statistic", figures, f"{pid}/{lwps} {command}")
        _add_thread(report, pid, figures)
    elif not PROCESSES.fill(report, "process", figures, f"{pid} {command}", pid=pid):
        return
    else:
        report.row("process", {"threads": int(lwps)}, pid=pid)
    report.row("process", {"command": command, "user": cells["USERNAME"]}, pid=pid)
    for name, column in COUNTS.items():
        if column and (count := figures.get(name)) is not None:
            report.counted("process", column, count, pid=pid)


def _add_thread(report: Report, pid: int, figures: dict[str, float | None]) -> None:
    """Add a thread's microstates to those of its process; the size is the process's anyway."""
    states: dict[str, float] = {}
    for name, (column, _) in PLACES.items():
        if (value := figures.get(name)) is not None:
            states[column] = states.get(column, 0.0) + value
    before = {column: report.figure("process", column, pid=pid) or 0.0 for column in states if column != "rss_bytes"}
    report.row("process", {column: value + before.get(column, 0.0) for column, value in states.items()}, pid=pid)


def _figure(name: str, word: str) -> float | None:
    if name in COUNTS:
        # From 100000 on hundred thousands stand behind a point: `.3M`, and `.12M` for 1.2 million.
        hundreds = HUNDRED_THOUSANDS.match(word)
        return int(hundreds[1]) * 1e5 if hundreds else number(word, 1000.0)
    time = TIME.match(word) if name == "TIME" else None
    if time is None:
        return number(word)
    return int(time[1] or 0) * 86400.0 + int(time[2]) * 3600 + int(time[3]) * 60 + int(time[4])
