"""iostat of AIX: its usual layout, -D on several lines a disk, and -D -l on one line (with -R, -T).

Tables: `cpu` (the whole host), `disk`; `statistic` (component `aix`): `iostat.COLUMN` for the rest, the entity being
the disk, as `iostat.queue.sqfull`, how often a second a request found the device's queue full.

Of -D `queue` is the host: its mean time and avgwqsz wait there, avgsqsz is the device's queue. Units: Kbps are KiB;
figures of -D with a K are 1024 bytes; times are milliseconds. Since-boot totals are left out. The first report covers
the time since boot where the system keeps disk history. Only -T tells times of day, without a date.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.clock import Clock
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import HeadedRow, headed_rows, reports_of
from doctord.read.tools.numbers import Layout, number
from doctord.read.tools.report import Line, Report, placed
from doctord.read.tools.times import TIME_OF_DAY, time_in
from doctord.regex import regex

NAME = "iostat (AIX)"
RANK = Rank.NAMED

KIB = 1024.0
CPUS = Layout(
    "aix",
    "iostat",
    {
        "%user": ("usr_pct", 1.0),
        "%sys": ("sys_pct", 1.0),
        "%idle": ("idle_pct", 1.0),
        "%iowait": ("wait_io_pct", 1.0),
    },
    {"physc": ("cpus", "gauge", 1.0), "tin": ("per_s", "rate", 1.0), "tout": ("per_s", "rate", 1.0)},
)
PER_S, MS = ("per_s", "rate", 1.0), ("ms", "gauge", 1.0)
DISKS = Layout(
    "aix",
    "iostat",
    {
        "%tm_act": ("util_pct", 1.0),
        "tps": ("requests_per_s", 1.0),
        "xfer.%tm_act": ("util_pct", 1.0),
        "xfer.tps": ("requests_per_s", 1.0),
        "xfer.bread": ("read_bytes_per_s", 1.0),
        "xfer.bwrtn": ("write_bytes_per_s", 1.0),
        "read.rps": ("reads_per_s", 1.0),
        "read.avgserv": ("read_ms", 1.0),
        "write.wps": ("writes_per_s", 1.0),
        "write.avgserv": ("write_ms", 1.0),
        "queue.avgtime": ("host_queue_ms", 1.0),
        "queue.avgwqsz": ("host_queue", 1.0),
        "queue.avgsqsz": ("device_queue", 1.0),
    },
    {
        "Kbps": ("bytes_per_s", "rate", KIB),
        "queue.sqfull": PER_S,
        **{f"{way}.{which}": PER_S for way in ("read", "write") for which in ("timeouts", "fails")},
        **{f"{way}.{end}serv": MS for way in ("read", "write") for end in ("min", "max")},
        "queue.mintime": MS,
        "queue.maxtime": MS,
    },
    frozenset({"Kb_read", "Kb_wrtn", "xfer.bps"}),
)
SERVED = ("avgserv", "minserv", "maxserv", "timeouts", "fails")
PARTS = {
    "xfer": ("%tm_act", "bps", "tps", "bread", "bwrtn"),
    "read": ("rps", *SERVED),
    "write": ("wps", *SERVED),
    "queue": ("avgtime", "mintime", "maxtime", "avgwqsz", "avgsqsz", "sqfull"),
}
ON_ONE_LINE = [f"{part}.{name}" for part, names in PARTS.items() for name in names]
COUNTS = {"read": "read.rps", "write": "write.wps"}
HEADING_OF_ONE_LINE = "Disks: xfers read write queue"
PART = regex(r"(?:\s*+(?P<disk>\S+))?\s++(?P<part>xfer|read|write|queue):\s+(?P<names>[%\w ]+)$")
TITLES = ("System configuration", "%tm", "act", "Disk history since boot")


def sniff(head: str) -> bool:
    """Whether it has a heading of AIX' iostat."""
    lines = head.splitlines()[:100]
    return any(map(_heading, lines)) or any(map(_part, lines))


def _part(line: str) -> "re.Match[str] | None":
    """What a heading of -D says that stands above a part of a disk's figures."""
    found = PART.match(line)
    return found if found and tuple(found["names"].split()) == PARTS[found["part"]] else None


def _heading(line: str) -> tuple[str, list[str]] | None:
    words = line.replace("% ", "%").split()
    if words[:1] == ["tty:"] and "avg-cpu:" in words:
        return "tty:", [word for word in words if not word.endswith(":")]
    if words[:1] == ["Disks:"]:
        return "Disks:", words[1:] if "%tm_act" in words else ON_ONE_LINE
    return None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `cpu`, `disk` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each report of the text; `day` is that of the first time of day."""
    clock = Clock(source, day)
    rows = headed_rows(_on_one_line(lines, source), source, day, _heading, titles=TITLES)
    return reports_of(rows, lambda row: _take(row, clock, source), source)


def _on_one_line(lines: Iterable[Line], source: SourceFile) -> Iterator[Line]:
    """The lines as -l prints them, which without it are eight for each disk."""
    disk, words, is_named = "", list[str](), False
    seen = set[str]()
    for number_, line in lines:
        if found := _part(line):
            is_named = True
            if found["disk"]:
                if 0 < len(words) < len(ON_ONE_LINE):
                    source.skip(number_, f"not all figures of {disk} stand before it")
                disk, words = found["disk"], []
                if disk in seen or not seen:
                    yield number_, HEADING_OF_ONE_LINE
                    seen.clear()
                seen.add(disk)
        elif is_named:
            is_named = False
            words += line.split()
            if len(words) == len(ON_ONE_LINE):
                yield number_, " ".join([disk, *words])
        else:
            yield number_, line


def _take(row: HeadedRow, clock: Clock, source: SourceFile) -> None:
    """Put a line of figures into its report.

    Raises:
        ValueError: it is none.
    """
    if row.part == "tty:":
        CPUS.fill(row.report, "cpu", {n: number(w) for n, w in zip(row.names, row.words, strict=True)}, cpu=None)
        return
    disk, *words = row.words
    if len(words) == len(row.names) + 1 and (time := TIME_OF_DAY.fullmatch(words.pop())):
        row.report.at = row.report.at or time_in(clock, time, source)
    figures = {name: number(word) for name, word in zip(row.names, words, strict=True)}
    idle = {f"{way}.avgserv" for way, count in COUNTS.items() if not figures.get(count, 1.0)}
    figures |= {name: None for name in idle if name in figures}
    DISKS.fill(row.report, "disk", figures, disk, device=disk)
