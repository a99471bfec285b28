"""iostat of Linux (sysstat 9 to 12.7), with any of -c -d -x -s -m -k -t -z -y -p -h: CPUs and devices.

Tables: `cpu` (the whole host), `disk`, `statistic` (component `kernel`, names `iostat.COLUMN`, the entity being the
device) for merges, discards, flushes, and svctm, which its own manual calls not to be trusted. Left out: mean sizes and
shares of merges, which follow from the others, and totals since the tool began.

Units: kB and MB of the headings are 1024 and 1024 * 1024 bytes, blocks 512 bytes. Latencies are milliseconds and null
for a device that served no such request. The first report covers the time since boot, unless -y was given, which
the text does not tell: it is left out where others follow. Without -t a text has no times.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from doctord._native import Batch
from doctord.read.source import Source
from doctord.read.unix.banner import banner_of
from doctord.read.unix.figures import Layout, numbered
from doctord.read.unix.report import Line, Report, placed
from doctord.read.unix.times import moment_in

NAME = "iostat (Linux)"

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
        "%util": ("busy_pct", 1.0),
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
    """Whether it has the headings of iostat, and before them sysstat's first line or a heading of its own."""
    lines = head.splitlines()[:200]
    return any(line.startswith(CPU_HEADING) and "%user" in line for line in lines) or any(map(_is_devices, lines))


def _is_devices(line: str) -> bool:
    words = line.split()
    is_first_or_last = bool(words) and (words[0] in DEVICE_HEADINGS or words[-1] in DEVICE_HEADINGS)
    return is_first_or_last and ("tps" in words or "%util" in words)


def read(source: Source) -> Iterator[Batch]:
    """Rows of `cpu`, `disk` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: Source, day: date | None = None) -> Iterator[Report]:
    """Each report of the text; `day` stands for that of the first line where there is none."""
    report, names, is_first, name = Report(0, since_boot=True, day=day), list[str](), True, ""
    seen = set[str]()
    for number, line in lines:
        words = line.split()
        banner = banner_of(line)
        moment = None if banner or not words else moment_in(line, source)
        part = CPU_HEADING if line.startswith(CPU_HEADING) else "Device" if _is_devices(line) else ""
        if banner or moment or part in seen:
            if report:
                yield report
                is_first = False
            is_first = is_first or banner is not None
            day = banner.day if banner else day
            source.host = banner.host if banner else source.host
            report, seen = Report(number, at=moment, day=day, since_boot=is_first), set()
        if part:
            seen.add(part)
            names = words[1:] if part == CPU_HEADING else words
        elif words and not banner and not moment:
            if len(words) == 1 and len(names) > 2:
                name = words[0]  # -h puts the figures on the next line
                continue
            if not _take(report, names, [name, *words] if len(words) == len(names) - 1 and name else words):
                source.skip(number, "neither a heading nor figures of iostat")
            name = ""
    if report:
        yield report


def _take(report: Report, names: list[str], words: list[str]) -> bool:
    """Put a line of figures into a report; false if it is none."""
    at = next((names.index(heading) for heading in DEVICE_HEADINGS if heading in names), None)
    try:
        if at is None:
            CPUS.fill(report, "cpu", numbered(names, words), cpu=None)
        else:
            device = words.pop(at)
            figures = numbered(names[:at] + names[at + 1 :], words)
            DISKS.fill(report, "disk", _timed(figures), device, device=device)
    except (ValueError, IndexError):
        return False
    return True


def _timed(figures: dict[str, float | None]) -> dict[str, float | None]:
    idle = [time for time, counts in TIME_OF.items() if not any(figures.get(c, 1.0) for c in counts)]
    return figures | {time: None for time in idle if not figures.get(time)}
