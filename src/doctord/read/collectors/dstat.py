"""dstat, dool and pcp-dstat: the CSV of `--output`; every column of every plugin.

Tables: `cpu` (whole host, and single CPUs of `-C`), `memory`, `disk` and `network` (`total` is all of them
together). Every other number is `statistic`, component `dstat`, named `GROUP.column` (`load avg.1m`).
The row locks that are waited for,
of a plugin for MySQL, have the server's own name. Texts (the plugins `top-...`) are left out. Bytes and rates are as
dstat counts them, swapping in pages of 4 KiB.
Times are those of the columns `epoch` or `time`; without one the rows begin with the date in the heading, as far
apart as the command line tells. `time` has no year, the heading has, and tells the zone. The first row of a run
covers the time since boot: it is left out where others follow.

Without its title the file is known by the names of the groups or, without these too, of the columns: their neighbours
tell whose they are, and what could be one of several is left out and noted. The year is then that of the file.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import chain, pairwise
from typing import Final

from doctord._native import Batch
from doctord.read.clock import latest_first, untimed
from doctord.read.collectors.dstat_columns import AMBIGUOUS, groups_of
from doctord.read.figures import Figures, number
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import SourceFile
from doctord.read.tools.report import SINCE_BOOT_ALONE, SINCE_BOOT_LEFT_OUT
from doctord.read.tools.times import zone_of
from doctord.regex import regex

NAME = "dstat"
RANK = Rank.NAMED
TITLE: Final = regex(r'"?(?:dstat|dool|pcp-dstat|pcp dstat)\b.*CSV output"?', re.IGNORECASE)
PAGE_BYTES: Final = 4096.0
EVERY: Final = regex(r"\s(\d+)(?:\s+\d+)?\s*$")
DATE: Final = regex(r"(\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d)(?: (\S+))?")
MINUTE: Final = regex(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2}) (\d{1,2}):(\d\d)")
NO_SECONDS: Final = "no seconds in its times: rows of one minute are taken to be 1 s apart (--every tells)"
DAY_TIME: Final = ("%Y %d-%m %H:%M:%S", "%Y %b-%d %H:%M:%S", "%Y %d-%b %H:%M:%S")

# Table and places of the columns of a group, and the name of what it is about.
CPU: Final = {
    "usr": ("usr_pct", 1.0), "sys": ("sys_pct", 1.0), "idl": ("idle_pct", 1.0), "wai": ("wait_io_pct", 1.0),
    "hiq": ("irq_pct", 1.0), "siq": ("irq_pct", 1.0), "stl": ("steal_pct", 1.0),
}  # fmt: skip
GROUPS: Final = {
    "total cpu usage": ("cpu", CPU),
    "system": ("cpu", {"int": ("interrupts_per_s", 1.0), "csw": ("csw_per_s", 1.0)}),
    "procs": ("cpu", {"run": ("run_queue", 1.0), "blk": ("blocked_tasks", 1.0), "new": ("forks_per_s", 1.0)}),
    "memory usage": ("memory", {
        "free": ("free_bytes", 1.0), "cach": ("page_cache_bytes", 1.0), "buff": ("page_cache_bytes", 1.0),
        "avai": ("available_bytes", 1.0),
    }),
    "paging": ("memory", {"in": ("swap_in_per_s", 1 / PAGE_BYTES), "out": ("swap_out_per_s", 1 / PAGE_BYTES)}),
    "swap": ("memory", {"used": ("swap_total_bytes", 1.0), "free": ("swap_free_bytes", 1.0)}),
}  # fmt: skip
ABOUT: Final = {
    "dsk": ("disk", "device", {"read": ("read_bytes_per_s", 1.0), "writ": ("write_bytes_per_s", 1.0)}),
    "io": ("disk", "device", {"read": ("reads_per_s", 1.0), "writ": ("writes_per_s", 1.0)}),
    "net": ("network", "interface", {"recv": ("rx_bytes_per_s", 1.0), "send": ("tx_bytes_per_s", 1.0)}),
}
# Plugins that ask a MySQL server for one of its status variables.
STATUS: Final = {"mysql5 locks.Locks": "global_status.innodb_row_lock_current_waits"}
# Headings stand in quotes, the numbers of interrupts among them; figures do not.
FIGURE: Final = regex(r"(?:^|,)-?\d")
ONE_CPU: Final = regex(r"cpu(\d+) usage")
NAMED_GROUPS: Final = {"total cpu usage", "memory usage", "dsk/total", "net/total", "load avg", "io/total"}
NO_YEAR: Final = "no year beside its times: {} is taken (--day tells)"
UNCLEAR: Final = "left out: {} stand twice, and no line above them tells which they are"
NOT_YET: Final = datetime.min.replace(tzinfo=UTC)


@dataclass
class Run:
    """What stands above the rows of one run; `begun` is when it began, by its own heading or its first row.

    `in_minute` counts the rows before in the same minute, where times have no seconds.
    """

    host: str | None = None
    command: str = ""
    date: str = ""
    begun: datetime | None = None
    groups: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    rows: int = 0
    minute: datetime | None = None
    in_minute: int = 0


@dataclass(frozen=True, slots=True)
class DstatRow:
    """A line of figures: its number in the file, its run, its time, its cells; the first of a run is since boot."""

    line: int
    run: Run
    moment: datetime
    cells: list[str]
    is_first: bool


def sniff(head: str) -> bool:
    """Whether it begins with the title of such a file, or with the names of its groups or columns."""
    cells = _cells(head.lstrip().partition("\n")[0])
    return bool(TITLE.match(head.lstrip())) or bool(groups_of(cells)) or len(NAMED_GROUPS.intersection(cells)) > 1


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of all runs."""
    yield from tables_of(_rows(source), source)


def tables_of(rows: Iterator[DstatRow], source: SourceFile) -> Iterator[Batch]:
    """The tables that rows of figures fill, each over the time since the one before."""
    figures, before = Figures(source), None
    for row, is_alone in _counted(rows, source):
        same_run = before is not None and before.run is row.run and row.moment > before.moment
        length_s = (row.moment - before.moment).total_seconds() if before and same_run else None
        before = row
        if row.is_first and not is_alone:
            continue
        source.host = row.run.host or source.host
        yield from figures.at(row.moment, length_s, row.line)
        _put(figures, row.run, row.cells)
    yield from figures.rest()


def _rows(source: SourceFile) -> Iterator[DstatRow]:
    """Each row of figures, with its moment."""
    run, waiting = Run(), list[DstatRow]()
    for line, text in source.lines():
        cells = _cells(text)
        if TITLE.match(text):
            run = Run()
        elif not text.strip():
            continue
        elif _is_heading(text, cells, run):
            if unclear := [c for g, c in zip(run.groups, run.columns, strict=False) if g == AMBIGUOUS]:
                source.note(UNCLEAR.format(", ".join(dict.fromkeys(unclear))))
        elif len(cells) == len(run.columns) and (moment := _moment(cells, run, source)):
            run.rows += 1
            row = DstatRow(line, run, moment, cells, is_first=run.rows == 1)
            if moment is NOT_YET:
                waiting.append(row)
            else:
                yield row
        else:
            source.skip(line, "no row of figures with its time")
    for row, moment in zip(waiting, untimed(source, len(waiting)) if waiting else [], strict=True):
        yield replace(row, moment=moment)


def _counted(rows: Iterator[DstatRow], source: SourceFile) -> Iterator[tuple[DstatRow, bool]]:
    """Each row, and whether it is since boot and alone in its run."""
    for row, after in pairwise(chain(rows, [None])):
        is_alone = row is not None and row.is_first and (after is None or after.is_first)
        if row and row.is_first:
            source.note(SINCE_BOOT_ALONE if is_alone else SINCE_BOOT_LEFT_OUT)
        if row:
            yield row, is_alone


def _cells(text: str) -> list[str]:
    try:
        return next(csv.reader([text]), [])
    except csv.Error:
        return []


def _is_heading(text: str, cells: list[str], run: Run) -> bool:
    """Whether a line is one above the rows; what it tells is kept."""
    if not cells:
        return False
    if cells[0] in {"Host:", "Cmdline:"}:
        told = dict(zip(cells, [*cells[1:], ""], strict=True))
        run.host = told.get("Host:") or run.host
        run.command = told.get("Cmdline:") or run.command
        run.date = told.get("Date:") or run.date
    elif groups := groups_of(cells) if not run.groups or run.columns else []:
        run.groups, run.columns = groups, cells
    elif cells[0] == "Author:":
        pass
    elif not text.startswith('"') or FIGURE.search(text):
        return False
    elif not run.groups or run.columns:
        group = ""
        run.groups = [group := cell or group for cell in cells]
        run.columns = []
    else:
        run.columns = cells
    return True


def _moment(cells: list[str], run: Run, source: SourceFile) -> datetime | None:
    told = dict(zip(run.columns, cells, strict=True))
    try:
        if epoch := number(told.get("epoch", "")):
            return datetime.fromtimestamp(epoch, UTC)
        heading = DATE.search(run.date)
        if heading:
            run.begun = datetime.strptime(heading[1], "%d %b %Y %H:%M:%S")  # noqa: DTZ007 - zoned below
        elif "time" not in told:
            return NOT_YET
        elif minute := MINUTE.fullmatch(told["time"]):
            return _within_minute(minute, run, source)
        elif run.begun is None:
            run.begun = _of_file(told["time"], source)
        local = _of_year(told["time"], run.begun) if "time" in told else run.begun
    except (ValueError, OverflowError, OSError):
        return None
    if local is None:
        return None
    if "time" not in told and (every := EVERY.search(run.command)):
        local += timedelta(seconds=int(every[1]) * run.rows)
    zone = source.zone or (zone_of(heading[2]) if heading else None)
    if zone is None:
        source.note(ZONE_ASSUMED)
    return local.replace(tzinfo=zone or UTC)


def _within_minute(minute: re.Match[str], run: Run, source: SourceFile) -> datetime:
    """A row's moment where a spreadsheet kept no seconds: rows of a minute are a second apart, or as --every tells."""
    year, month, day, hour, of_hour = map(int, minute.groups())
    begun = datetime(year, month, day, hour, of_hour, tzinfo=source.zone or UTC)
    run.in_minute = run.in_minute + 1 if run.minute == begun else 0
    run.minute = begun
    source.note(NO_SECONDS)
    if source.zone is None:
        source.note(ZONE_ASSUMED)
    return begun + timedelta(seconds=run.in_minute * (source.every_s or 1.0))


def _of_year(text: str, begun: datetime | None) -> datetime | None:
    """A time without its year: in the year in which the run began, or in the next one."""
    for layout in DAY_TIME if begun else ():
        for year in (begun.year, begun.year + 1) if begun else ():
            try:
                moment = datetime.strptime(f"{year} {text}", layout)  # noqa: DTZ007 - zoned by the caller
            except ValueError:
                continue
            if begun and moment >= begun - timedelta(days=1):
                return moment
    return None


def _of_file(text: str, source: SourceFile) -> datetime | None:
    """A time without its year, of a file that does not tell when it began: not after the file's last change."""
    latest = latest_first(source) + timedelta(days=1)
    for year in (latest.year, latest.year - 1):
        for layout in DAY_TIME:
            try:
                moment = datetime.strptime(f"{year} {text}", layout)  # noqa: DTZ007 - zoned by the caller
            except ValueError:
                continue
            if moment <= latest:
                source.note(NO_YEAR.format(year))
                return moment
    return None


def _put(figures: Figures, run: Run, cells: list[str]) -> None:
    for group, column, cell in zip(run.groups, run.columns, cells, strict=False):
        value = number(cell)
        if value is None or column in {"epoch", "time"} or group == AMBIGUOUS:
            continue
        kind, _, name = group.partition("/")
        if cpu := ONE_CPU.match(group):
            others = figures.fill("cpu", CPU, [(column, value)], cpu=int(cpu[1]))
        elif column == "util":
            others = figures.fill("disk", {"util": ("util_pct", 1.0)}, [(column, value)], device=group)
        elif kind in ABOUT and name:
            table, entity, places = ABOUT[kind]
            others = figures.fill(table, places, [(column, value)], **{entity: name})
        else:
            table, places = GROUPS.get(group, ("cpu", {}))
            others = figures.fill(table, places, [(column, value)])
            if (group, column) == ("swap", "free"):
                figures.fill(table, {"free": ("swap_total_bytes", 1.0)}, [(column, value)])
        for left, figure in others.items():
            own = f"{group}.{left}"
            figures.statistic("mysql" if own in STATUS else "dstat", STATUS.get(own, own), figure, None)
