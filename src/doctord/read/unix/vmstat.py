"""vmstat, one line a report: Linux (-a, -w, -t and extra wide), Solaris (also -p, -S), AIX (also -I, -t), HP-UX.

Tables: `cpu` (the whole host), `memory`, `statistic` (`vmstat.COLUMN`) for the rest, and of Solaris `vmstat.disk`:
operations a second of the disks that it names with two letters.

Units: Linux prints KiB unless -S said otherwise, which the text does not tell, and blocks of 1 KiB; Solaris prints KiB;
AIX and HP-UX pages of 4 KiB. Swapped KiB are counted as pages of 4 KiB. `r` is the run queue: on Linux with what
runs, elsewhere without. Only -t (Linux, AIX) and -T (Solaris) tell times, or who put one before each line. The first
line covers the time since boot; so does the one below a heading that comes again sooner than vmstat repeats it, for
then it was started again.

Without a heading (cut off, or filtered out) the columns are known by the shape of the first lines: their number, shares
that make up 100 %, and what is always 0. That is noted, and the first line is then one like the others.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime

from doctord._native import Batch
from doctord.read.clock import Clock
from doctord.read.figures import number as figure
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.numbers import Layout, numbered
from doctord.read.tools.report import Line, Report, placed
from doctord.read.tools.times import TIME_OF_DAY, moment_in, time_in
from doctord.read.unix.vmstat_layouts import layout_of, unnamed

NAME = "vmstat"
RANK = Rank.NAMED

LOOKED_AT = 100
# vmstat repeats its heading when the terminal is full (Linux: 22 lines where there is none, Solaris and AIX: 20).
REPEATED_AFTER = 10
ENOUGH = 4096  # characters, by which the shape of the figures is known
NO_HEADING = "no heading above its figures: by their shape they are taken for {}"
GROUPS = ("procs", "--procs", "kthr", "-----", "memory", "System configuration", "System Configuration")
DISK_COLUMNS_FROM, DISK_COLUMNS_TO = "sr", "in"


def sniff(head: str) -> bool:
    """Whether it has the names of vmstat's columns."""
    lines = head.splitlines()[:LOOKED_AT]
    return any(layout_of(_names(line)) for line in lines) or _names_by_shape(head) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `cpu`, `memory` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each line of figures; `day` is that of the first time of day where there is no date."""
    names = _names_by_shape(source.head) or []
    layout, is_first, zone, lines_below = layout_of(names), not names, "", 0
    clock, at = Clock(source, day), None
    if names:
        source.note(NO_HEADING.format(" ".join(names).replace("cpu ", "")))
    for number, line in lines:
        words = line.split()
        if not words or line.lstrip().startswith(GROUPS):
            continue
        if found := layout_of(_names(line)):
            is_first, lines_below = is_first or 0 < lines_below < REPEATED_AFTER, 0
            layout, names = found, _names(line)
            zone = names.pop() if names[-1].isupper() else ""
            names = names[:-3] if names[-3:] == TIME_NAMES else names
        elif moment := moment_in(line, source):
            at = moment
        elif layout is not None and len(words) >= len(names):
            report = Report(number, at=at, since_boot=is_first)
            stamp, words = _apart(words, len(names))
            report.at = _stamped(stamp, zone, clock, source) if stamp else at
            if stamp and report.at is None:
                source.skip(number, "more figures than columns, and what is too much is no time")
            elif not _take(report, layout, names, words):
                source.skip(number, "no line of figures")
            elif not report.blame(number, source):
                is_first, at, lines_below = False, None, lines_below + 1
                yield report
        else:
            source.skip(number, "neither a heading nor figures of vmstat")


def _names_by_shape(head: str) -> list[str] | None:
    """The names of the columns of a text without headings; null where its figures are not those of one vmstat."""
    lines = head[:ENOUGH].splitlines()[:-1]
    kept = [line.split() for line in lines if line.strip() and not line.lstrip().startswith((*GROUPS, "#"))]
    return unnamed(_without_time(words) for words in kept)


def _without_time(words: list[str]) -> list[str]:
    return words[next((at for at, word in enumerate(words) if figure(word) is not None), 0) :]


def _apart(words: list[str], columns: int) -> tuple[str, list[str]]:
    """The stamp of a line and its figures: it stands behind them, or before them where somebody put it there."""
    if ":" in words[0] or (len(words) > columns and ":" in words[1]):
        return " ".join(words[:-columns]), words[-columns:]
    return " ".join(words[columns:]), words[:columns]


NO_DISK = "--"
TIME_NAMES = ["cpu hr", "cpu mi", "cpu se"]


def _names(line: str) -> list[str]:
    """Names of the columns; those of the CPU told apart."""
    words = line.split()
    at = words.index("us") if "us" in words else len(words)
    return [*words[:at], *(f"cpu {word}" if word.islower() else word for word in words[at:])]


def _stamped(stamp: str, zone: str, clock: Clock, source: SourceFile) -> datetime | None:
    if time := TIME_OF_DAY.fullmatch(stamp):
        return time_in(clock, time, source)
    return moment_in(stamp, source, zone)


def _take(
    report: Report, layout: tuple[Layout, Mapping[str, tuple[str, float]]], names: list[str], words: list[str]
) -> bool:
    """Put a line of figures into a report; false if it is none."""
    memory, cpu = layout
    first = names.index(DISK_COLUMNS_FROM) + 1 if memory.component == "solaris" else len(names)
    end = names.index(DISK_COLUMNS_TO) if first < len(names) and DISK_COLUMNS_TO in names else first
    try:
        figures = numbered(names[:first] + names[end:], words[:first] + words[end:])
        disks = [numbered([name], [word]) for name, word in zip(names[first:end], words[first:end], strict=True)]
    except ValueError:
        return False
    processors = {name: value for name, value in figures.items() if name in cpu}
    Layout(memory.component, memory.tool, cpu).fill(report, "cpu", processors, cpu=None)
    memory.fill(report, "memory", {name: value for name, value in figures.items() if name not in cpu})
    for place, disk in enumerate(disks, 1):
        for name, value in disk.items():
            if name == NO_DISK:
                continue
            report.statistic(memory.component, "vmstat.disk", value, "per_s", kind="rate", entity=f"{place} {name}")
    return True
