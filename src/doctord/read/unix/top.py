"""`top -b` of Linux (procps) and Solaris: the host in short, and its processes.

Tables: `cpu` (the whole host), `memory`, `process` (command without its arguments), `statistic` (component
`kernel`): load averages (`top.load_1m`, ...), tasks by state (`top.tasks`, entity `running`, `sleeping`, ...). KiB
and MiB are as printed; sizes of processes have a letter or are KiB. The first report covers the time since boot, and
each of its processes the time since it began: it is left out where others follow. Times of day have no date.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date
from typing import Final

from doctord._native import Batch
from doctord.read.clock import Clock
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.numbers import number
from doctord.read.tools.report import Line, Report, placed
from doctord.read.tools.times import TIME_OF_DAY, time_in
from doctord.regex import regex

NAME = "top"
RANK = Rank.NAMED
FIRST_LINE: Final = regex(r"top - \d|load averages?:")
LOADS: Final = regex(r"load averages?:\s*([\d.,]+?),\s+([\d.,]+?),\s+([\d.]+(?:,\d+)?)")
STATES: Final = regex(r"(\d+) (running|sleeping|stopped|zombie|on cpu|idle|blocked)")
SHARE: Final = regex(r"([\d.,]+)\s*%?\s*(us|sy|ni|id|wa|hi|si|st|user|kernel|idle|iowait)\b")
SIZE: Final = regex(
    r"([\d.]+)([kKMGT]?)\+? (avail Mem|phys mem|free mem|free swap|total swap|total|free|buff/cache|buffers|cached)"
)
COLUMNS: Final = {
    "us": "usr_pct", "ni": "usr_pct", "user": "usr_pct", "sy": "sys_pct", "kernel": "sys_pct", "wa": "wait_io_pct",
    "iowait": "wait_io_pct", "hi": "irq_pct", "si": "irq_pct", "st": "steal_pct", "id": "idle_pct", "idle": "idle_pct",
}  # fmt: skip
OF_MEMORY: Final = {
    "total": "total_bytes", "free": "free_bytes", "buff/cache": "page_cache_bytes", "buffers": "page_cache_bytes",
    "phys mem": "total_bytes", "free mem": "free_bytes", "total swap": "swap_total_bytes",
    "free swap": "swap_free_bytes",
}  # fmt: skip
OF_SWAP: Final = {
    "total": "swap_total_bytes", "free": "swap_free_bytes", "cached": "page_cache_bytes",
    "avail Mem": "available_bytes",
}  # fmt: skip
UNITS: Final = {"KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3}
ALIASES: Final = {"USERNAME": "USER", "LWP": "THR", "NLWP": "THR"}
POWERS: Final = {"": 1, "k": 1, "M": 2, "G": 3, "T": 4}


def sniff(head: str) -> bool:
    """Whether it has the line of loads and the heading of processes."""
    lines = head.split("\n", 60)[:60]
    return any(FIRST_LINE.match(line) for line in lines) and any(_is_heading(line.split()) for line in lines)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `cpu`, `memory`, `process` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """The reports in a text; `day` is that of the first."""
    report, heading, clock, is_first = None, list[str](), Clock(source, day), True
    for line, text in lines:
        words = text.split()
        if FIRST_LINE.match(text):
            if report is not None:
                yield report
            found = TIME_OF_DAY.search(text)
            report = Report(line, at=time_in(clock, found, source) if found else None, since_boot=is_first)
            heading, is_first = [], False
            _loads(report, text)
        elif report is None or not words:
            continue
        elif _is_heading(words):
            heading = [ALIASES.get(word, word) for word in words]
        elif heading:
            if not _process(report, heading, words):
                source.skip(line, "no line of a process")
        else:
            _summary(report, text)
    if report is not None:
        yield report


def _is_heading(words: list[str]) -> bool:
    return bool(words) and words[0] == "PID" and words[-1] == "COMMAND"


def _loads(report: Report, text: str) -> None:
    if found := LOADS.search(text):
        with suppress(ValueError):  # damaged: other lines are whole
            for minutes, load in zip((1, 5, 15), found.groups(), strict=True):
                report.statistic("kernel", f"top.load_{minutes}m", number(load), "tasks")


def _summary(report: Report, text: str) -> None:
    """A line above the processes: tasks by state, shares of the CPUs, memory, swap."""
    if text.lstrip().startswith(("Tasks:", "Threads:")) or " processes:" in text:
        for count, state in STATES.findall(text):
            report.statistic("kernel", "top.tasks", float(count), "tasks", entity=state)
    elif text.lstrip().lower().startswith(("%cpu", "cpu(s)", "cpu states")):
        shares = dict[str, float]()
        for value, name in SHARE.findall(text):
            shares[COLUMNS[name]] = shares.get(COLUMNS[name], 0.0) + (number(value.strip(",")) or 0.0)
        report.row("cpu", shares, cpu=None)
    elif "Mem" in text or "Swap" in text:
        _memory(report, text)


def _memory(report: Report, text: str) -> None:
    unit = next((size for name, size in UNITS.items() if name in text), 1024.0)
    places = OF_SWAP if text.lstrip().startswith(("Swap", "KiB Swap", "MiB Swap", "GiB Swap")) else OF_MEMORY
    sizes = dict[str, float]()
    for value, letter, name in SIZE.findall(text):
        if column := places.get(name):
            sizes[column] = sizes.get(column, 0.0) + float(value) * (1024.0 ** POWERS[letter] if letter else unit)
    report.row("memory", sizes)


def _process(report: Report, heading: list[str], words: list[str]) -> bool:
    """Whether it is a process: its command is what follows the other columns, and may have blanks."""
    values = dict(zip(heading, words, strict=False))
    if len(words) < len(heading) or not values["PID"].isdecimal():
        return False
    try:
        rss, cpu = number(values.get("RES", "-")), number(values.get("%CPU") or values.get("CPU") or "-")
    except ValueError:
        return False
    has_letter = values.get("RES", "")[-1:].isalpha()
    report.row(
        "process",
        {
            "user": values.get("USER"),
            "command": program_of(values["COMMAND"]),
            "cpu_pct": cpu,
            "rss_bytes": None if rss is None else rss if has_letter else rss * 1024,
            "threads": int(threads) if (threads := values.get("THR", "")).isdecimal() else None,
        },
        pid=int(values["PID"]),
    )
    return True


def program_of(command: str) -> str:
    """Name of the program in a command line: never an argument.

    >>> program_of("/opt/oracle/bin/tnslsnr LISTENER -inherit"), program_of("kworker/0:1")
    ('tnslsnr', 'kworker/0:1')
    """
    first = (command.split() or [""])[0]
    return first.rpartition("/")[2] if first.startswith("/") else first
