"""nmon files (`nmon -f`; nmon and topas_nmon of AIX), as recorded or sorted.

Tables: `cpu` (CPUnnn, CPU_ALL, PROC), `memory` (MEM, VM of Linux, PAGE of AIX), `disk` (DISKBUSY, READ, WRITE, XFER,
SERV, WAIT, RIO, WIO, READS, WRITES, with their continuations DISKBUSY1, ...), `network` (NET, NETERROR), `process`
(TOP), `setting` of component `lpar` (lparstat -i in BBBP). Everything else, LPAR, PCPU_ALL, MEMNEW and JFSFILE among
it, is `statistic` of component `nmon`, named `SECTION.column`; where a section has a column for each thing (a file
system), the thing is the entity. Rates are per second, KB are of 1024 bytes; VM of Linux counts in the interval, and
is divided by it. A figure below zero is one that the system does not have. The first snapshot does not tell its
length: it is null, and of VM and PROC, which need a snapshot before, only the levels are taken. Times are the host's
local ones, from the stamps in ZZZZ. The other configuration (AAA, BBBx) and UARG, which holds arguments, are not
read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from doctord._native import Batch
from doctord.read.figures import Figures, Places, number
from doctord.read.format import Rank
from doctord.read.moments import placed_moment
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "nmon"
RANK = Rank.NAMED
KIB: Final = 1024.0
MIB: Final = 1024.0**2
AIX_PAGE_KIB: Final = 4.0
TAG: Final = regex(r"T\d{4,}$")
STAMP: Final = regex(r"ZZZZ,(T\d{4,}),(\d\d:\d\d:\d\d)(?:,(\d{1,2}-[A-Z]{3}-\d{4}))?", re.IGNORECASE)
DATE: Final = regex(r"(\d{1,2})-([A-Z]{3})-(\d{4})", re.IGNORECASE)
MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
PARTITION: Final = regex(r'BBBP,\d+,lparstat -i,"?([^:"]+?)\s*:\s*([^"]*)')

CPU: Final[Places] = {
    "User%": ("usr_pct", 1.0),
    "Sys%": ("sys_pct", 1.0),
    "Wait%": ("wait_io_pct", 1.0),
    "Idle%": ("idle_pct", 1.0),
    "Steal%": ("steal_pct", 1.0),
}
# Sections of one line: table, and where its figures go.
SINGLE: Final[dict[str, tuple[str, Places]]] = {
    "CPU_ALL": ("cpu", CPU),
    "PROC": (
        "cpu",
        {
            "Runnable": ("run_queue", 1.0),
            "Blocked": ("blocked_tasks", 1.0),
            "pswitch": ("csw_per_s", 1.0),
            "syscall": ("syscalls_per_s", 1.0),
            "fork": ("forks_per_s", 1.0),
        },
    ),
    "MEM": (
        "memory",
        {
            "memtotal": ("total_bytes", MIB),
            "memfree": ("free_bytes", MIB),
            "memshared": ("shmem_bytes", MIB),
            "cached": ("page_cache_bytes", MIB),
            "buffers": ("page_cache_bytes", MIB),
            "swaptotal": ("swap_total_bytes", MIB),
            "swapfree": ("swap_free_bytes", MIB),
            "Real total(MB)": ("total_bytes", MIB),
            "Real free(MB)": ("free_bytes", MIB),
            "Virtual total(MB)": ("swap_total_bytes", MIB),
            "Virtual free(MB)": ("swap_free_bytes", MIB),
        },
    ),
    "PAGE": (
        "memory",
        {
            "pgin": ("page_in_kib_per_s", AIX_PAGE_KIB),
            "pgout": ("page_out_kib_per_s", AIX_PAGE_KIB),
            "pgsin": ("swap_in_per_s", 1.0),
            "pgsout": ("swap_out_per_s", 1.0),
            "scans": ("scan_per_s", 1.0),
        },
    ),
}
SINCE_BEFORE: Final = frozenset({"pswitch", "syscall", "read", "write", "fork", "exec", "sem", "msg"})
COUNTED: Final[Places] = {
    "pgpgin": ("page_in_kib_per_s", 1.0),
    "pgpgout": ("page_out_kib_per_s", 1.0),
    "pswpin": ("swap_in_per_s", 1.0),
    "pswpout": ("swap_out_per_s", 1.0),
    "pgmajfault": ("major_faults_per_s", 1.0),
}
PROCESS: Final[Places] = {
    "%Usr": ("usr_pct", 1.0),
    "%Sys": ("sys_pct", 1.0),
    "ResSet": ("rss_bytes", KIB),
    "MinorFault": ("minor_faults_per_s", 1.0),
    "MajorFault": ("major_faults_per_s", 1.0),
    "Threads": ("threads", 1.0),
}
# Sections with a column for each disk: column of `disk`, and factor.
DISK: Final[Places] = {
    "DISKBUSY": ("util_pct", 1.0),
    "DISKREAD": ("read_bytes_per_s", KIB),
    "DISKWRITE": ("write_bytes_per_s", KIB),
    "DISKXFER": ("requests_per_s", 1.0),
    "DISKREADS": ("reads_per_s", 1.0),
    "DISKWRITES": ("writes_per_s", 1.0),
    "DISKRIO": ("reads_per_s", 1.0),
    "DISKWIO": ("writes_per_s", 1.0),
    "DISKSERV": ("device_ms", 1.0),
    "DISKWAIT": ("host_queue_ms", 1.0),
}
FOLLOWS: Final = frozenset({"DISKBSIZE"})  # from bytes and requests
BY_THING: Final = regex(r"((?:DISK|DG|JFS|NET|SEA|IOADAPT|VG)[A-Z]*)\d*$")
OF_INTERFACE: Final = {
    "-read-KB/s": ("rx_bytes_per_s", KIB),
    "-write-KB/s": ("tx_bytes_per_s", KIB),
    "-ierrs": ("errors_per_s", 1.0),
    "-oerrs": ("errors_per_s", 1.0),
}
ONE_CPU: Final = regex(r"CPU(\d+)$")

Pairs: TypeAlias = list[tuple[str, str]]


@dataclass
class Recording:
    """A file by snapshots: it may be sorted, and then its stamps come last."""

    about: dict[str, str] = field(default_factory=dict)
    titles: dict[str, list[str]] = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)
    snapshots: dict[str, list[tuple[int, str, list[str]]]] = field(default_factory=dict)
    partition: dict[str, tuple[str, int]] = field(default_factory=dict)


def sniff(head: str) -> bool:
    """Whether a file that begins so is of nmon."""
    return sum(line.startswith("AAA,") for line in head.split("\n", 40)[:40]) > 3


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of the file, snapshot by snapshot."""
    recording = _by_snapshot(source)
    source.host = recording.about.get("host") or source.host
    figures, before = Figures(source), None
    for tag, text in sorted(recording.stamps.items(), key=lambda stamp: int(stamp[0][1:])):
        moment = placed_moment(text, source)
        if moment is None:
            source.note(f"{tag}: {text} is no moment")
            continue
        length_s = (moment - before).total_seconds() if before and moment > before else None
        yield from figures.at(moment, length_s)
        if before is None:
            _settings(figures, recording)
        before = moment
        for line, section, values in recording.snapshots.get(tag, ()):
            if titles := recording.titles.get(section):
                _take(figures, section, list(zip(titles, values, strict=False)), length_s)
            else:
                source.skip(line, f"{section} without its heading")
    if lost := sum(len(lines) for tag, lines in recording.snapshots.items() if tag not in recording.stamps):
        source.note(f"{lost} lines are of snapshots whose time (ZZZZ) is not in the file")
    yield from figures.rest()


def _by_snapshot(source: SourceFile) -> Recording:
    held = Recording()
    for line, text in source.lines():
        section, *values = text.rstrip(",").split(",")
        if stamp := STAMP.match(text):
            held.stamps[stamp[1]] = f"{_date(stamp[3] or held.about.get('date', ''))} {stamp[2]}"
        elif section == "AAA":
            held.about[",".join(values[:1])] = ",".join(values[1:])
        elif setting := PARTITION.match(text):
            held.partition[setting[1].strip()] = (setting[2].strip(), line)
        elif section.startswith(("BBB", "UARG", "ERROR")) or not values:
            continue
        elif section == "TOP" and TAG.match(values[1] if len(values) > 1 else ""):
            held.snapshots.setdefault(values[1], []).append((line, section, [values[0], *values[2:]]))
        elif TAG.match(values[0]):
            held.snapshots.setdefault(values[0], []).append((line, section, values[1:]))
        elif section == "TOP":
            held.titles[section] = [title.lstrip("+") for title in values if title != "Time"]
        else:
            held.titles[section] = [title.strip() for title in values[1:]]
    return held


def _date(text: str) -> str:
    found = DATE.match(text)
    month = found[2].upper() if found else ""
    return f"{found[3]}-{MONTHS.index(month) + 1:02d}-{found[1]}" if found and month in MONTHS else text


def _take(figures: Figures, section: str, pairs: Pairs, length_s: float | None) -> None:
    """Put the figures of a line of this section where they belong."""
    by_thing = BY_THING.match(section)
    if section == "TOP":
        _process(figures, dict(pairs))
    elif by_thing and by_thing[1] not in FOLLOWS:
        for thing, text in pairs:
            _of_thing(figures, by_thing[1], thing, _measured(text))
    elif not by_thing:
        _of_host(figures, section, [(title, _measured(text)) for title, text in pairs], length_s)


def _of_host(figures: Figures, section: str, pairs: list[tuple[str, float | None]], length_s: float | None) -> None:
    if cpu := ONE_CPU.match(section):
        others = figures.fill("cpu", CPU, pairs, cpu=int(cpu[1]) - 1)  # nmon counts from 1
    elif section == "VM":
        by_second = [(title, value / length_s if value is not None and length_s else None) for title, value in pairs]
        figures.fill("memory", COUNTED, [(title, value) for title, value in by_second if title in COUNTED])
        others = {title: value for title, value in pairs if value is not None and title.startswith("nr_")}
    else:
        table, places = SINGLE.get(section, ("cpu", {}))
        known = [(title, value) for title, value in pairs if length_s or title not in SINCE_BEFORE]
        others = figures.fill(table, places, known)
    for title, value in others.items():
        figures.statistic("nmon", f"{section}.{title}", value, _unit(title))


def _of_thing(figures: Figures, section: str, thing: str, value: float | None) -> None:
    """A figure of a disk, an interface, a file system."""
    if section in DISK:
        figures.fill("disk", {thing: DISK[section]}, [(thing, value)], device=thing)
    elif ending := next((ending for ending in OF_INTERFACE if thing.endswith(ending)), None):
        figures.fill("network", {thing: OF_INTERFACE[ending]}, [(thing, value)], interface=thing.removesuffix(ending))
    else:
        figures.statistic("nmon", section, value, _unit(section), entity=thing)


def _process(figures: Figures, values: dict[str, str]) -> None:
    if values.get("PID", "").isdecimal():
        pid = int(values["PID"])
        figures.fill("process", PROCESS, [(title, _measured(text)) for title, text in values.items()], pid=pid)
        figures.row("process", pid=pid)["command"] = values.get("Command")


def _settings(figures: Figures, recording: Recording) -> None:
    for name, (value, line) in recording.partition.items():
        row = figures.row("setting", component="lpar", name=name)
        row |= {"value": value, "source": "lparstat -i", "line": line}


def _measured(text: str) -> float | None:
    """A figure; null for what this system does not count, which is printed as a number below zero."""
    return None if text.strip().startswith("-") else number(text)


def _unit(title: str) -> str | None:
    known = {"%": "pct", "(MB)": "MB", "KB/s": "KB_per_s", "/s": "per_s", "nr_": "pages"}
    return next((unit for part, unit in known.items() if part in title), None)
