"""iostat of Linux (sysstat 9 to 12.7), with any of -c -d -x -s -m -k -t -z -y -p -h: CPUs and devices.

Tables: `cpu` (the whole host), `disk`, `statistic` (component `kernel`, names `iostat.COLUMN`, the entity being the
device) for merges, discards, flushes, and svctm, which its own manual calls not to be trusted. Left out: mean sizes and
shares of merges, which follow from the others, and totals since the tool began.

Units: kB and MB of the headings are 1024 and 1024 * 1024 bytes, blocks 512 bytes. Latencies are milliseconds and null
for a device that served no such request. The first report covers the time since boot, unless -y was given, which
the text does not tell: it is left out where others follow, and where a job prints such reports again and again their
means are set aside. Without -t a text has no times.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import HeadedRow, headed_rows, reports_of
from doctord.read.tools.numbers import Layout, number, numbered
from doctord.read.tools.report import Line, Report, placed

NAME = "iostat (Linux)"
RANK = Rank.NAMED

KIB, MIB, BLOCK = 1024.0, 1024.0 * 1024.0, 512.0
CPUS = Layout(
    "kernel",
    "iostat",
    {
        "%user": ("usr_pct", 1.0),
        "%nice": ("usr_pct", 1.0),
        "%system": ("sys_pct", 1.0),
        "%sys": ("sys_pct", 1.0),
        "%iowait": ("wait_io_pct", 1.0),
        "%steal": ("steal_pct", 1.0),
        "%idle": ("idle_pct", 1.0),
    },
)
FOLLOWING = frozenset({
    "%rrqm", "%wrqm", "%drqm", "rareq-sz", "wareq-sz", "dareq-sz", "avgrq-sz", "areq-sz", "kB_read", "kB_wrtn",
    "kB_dscd", "MB_read", "MB_wrtn", "MB_dscd", "Blk_read", "Blk_wrtn", "Blk_dscd",
})  # fmt: skip
DISKS = Layout(
    "kernel",
    "iostat",
    {
        "r/s": ("reads_per_s", 1.0),
        "w/s": ("writes_per_s", 1.0),
        "tps": ("requests_per_s", 1.0),
        "rkB/s": ("read_bytes_per_s", KIB),
        "wkB/s": ("write_bytes_per_s", KIB),
        "rMB/s": ("read_bytes_per_s", MIB),
        "wMB/s": ("write_bytes_per_s", MIB),
        "rsec/s": ("read_bytes_per_s", BLOCK),
        "wsec/s": ("write_bytes_per_s", BLOCK),
        "kB_read/s": ("read_bytes_per_s", KIB),
        "kB_wrtn/s": ("write_bytes_per_s", KIB),
        "MB_read/s": ("read_bytes_per_s", MIB),
        "MB_wrtn/s": ("write_bytes_per_s", MIB),
        "Blk_read/s": ("read_bytes_per_s", BLOCK),
        "Blk_wrtn/s": ("write_bytes_per_s", BLOCK),
        "r_await": ("read_ms", 1.0),
        "w_await": ("write_ms", 1.0),
        "await": ("request_ms", 1.0),
        "aqu-sz": ("queue", 1.0),
        "avgqu-sz": ("queue", 1.0),
        "%util": ("util_pct", 1.0),
    },
    units={
        "dkB/s": ("bytes_per_s", "rate", KIB),
        "dMB/s": ("bytes_per_s", "rate", MIB),
        "kB_dscd/s": ("bytes_per_s", "rate", KIB),
        "MB_dscd/s": ("bytes_per_s", "rate", MIB),
        "kB/s": ("bytes_per_s", "rate", KIB),
        "MB/s": ("bytes_per_s", "rate", MIB),
        "svctm": ("ms", "gauge", 1.0),
        "d_await": ("ms", "gauge", 1.0),
        "f_await": ("ms", "gauge", 1.0),
    },
    left_out=FOLLOWING,
)
# A time is that of requests: without any there is none.
TIME_OF = {"r_await": ("r/s",), "w_await": ("w/s",), "d_await": ("d/s",), "f_await": ("f/s",), "await": ("r/s", "w/s")}
CPU_HEADING = "avg-cpu:"
DEVICE_HEADINGS = ("Device:", "Device")


def sniff(head: str) -> bool:
    """Whether it has a heading of iostat."""
    return any(map(_heading, head.splitlines()[:200]))


def _heading(line: str) -> tuple[str, list[str]] | None:
    words = line.split()
    if words[:1] == [CPU_HEADING]:
        return CPU_HEADING, words[1:]
    is_first_or_last = bool(words) and (words[0] in DEVICE_HEADINGS or words[-1] in DEVICE_HEADINGS)
    return ("Device", words) if is_first_or_last and ("tps" in words or "%util" in words) else None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `cpu`, `disk` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each report of the text; `day` stands for that of the first line where there is none."""
    rows = headed_rows(lines, source, day, _heading)
    return reports_of(_on_one_line(rows), _take, source)


def _on_one_line(rows: Iterable[HeadedRow]) -> Iterator[HeadedRow]:
    """Rows as they are without -h, which in old versions puts the figures below the device."""
    device = ""
    for row in rows:
        if len(row.words) == 1 and len(row.names) > 2:
            device = row.words[0]
            continue
        if device and len(row.words) == len(row.names) - 1:
            row.words.insert(0, device)
        device = ""
        yield row


def _take(row: HeadedRow) -> None:
    """Put a line of figures into its report.

    Raises:
        ValueError: it is none.
    """
    if row.part == CPU_HEADING:
        CPUS.fill(row.report, "cpu", numbered(row.names, row.words), cpu=None)
    elif not row.names:
        raise ValueError("no heading above it")
    else:
        at = 0 if row.names[0] in DEVICE_HEADINGS else len(row.names) - 1
        names, words = list(row.names), list(row.words)
        del names[at]
        device = words.pop(at) if at < len(words) else ""
        figures = {name: _figure(name, word) for name, word in zip(names, words, strict=True)}
        DISKS.fill(row.report, "disk", timed(figures), device, device=device)


def _figure(name: str, word: str) -> float | None:
    """A figure in the unit of its column; with -h a letter behind it says another."""
    value = number(word)
    if value is None or not word[-1].isalpha():
        return value
    return value / next((unit for letters, unit in (("kB", KIB), ("MB", MIB)) if letters in name), 1.0)


def timed(figures: dict[str, float | None]) -> dict[str, float | None]:
    """Figures of a device without the times of requests that it did not serve, which are printed as 0."""
    idle = [time for time, counts in TIME_OF.items() if not any(figures.get(c, 1.0) for c in counts)]
    return figures | {time: None for time in idle if not figures.get(time)}
