"""collectl: the plot format (-P, .tab and the detail files), and the brief form of its terminal output.

Tables: `cpu` (CPU, and single ones of -sC), `memory` (MEM), `disk` (DSK; `total` is all of them together), `network`
(NET, likewise; TCP). Every other number of the plot format is `statistic`, component `collectl`, named
`SECTION.column`, entity the device. K are 1024 bytes. Rates are per second unless the options in the heading hold
`-on` or `n`, which is noted. Dates and times are local: the heading of the plot format tells the zone. Left out: the
terminal's verbose form, whose sections -P writes more exactly.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from doctord._native import Batch
from doctord.read.clock import Clock, untimed
from doctord.read.figures import Figures, Places, number
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import SourceFile
from doctord.read.tools.numbers import number as sized
from doctord.read.tools.times import TIME_OF_DAY, time_in, zone_of
from doctord.regex import regex

NAME = "collectl"
RANK = Rank.NAMED
KIB: Final = 1024.0
COLUMN: Final = regex(r"\[(\w+)(?::([^\]]+))?\](\S+)")
HEADING: Final = regex(r"#(?:Date\s+Time|UTC)\s+\[|#Date Time ")
GROUPS: Final = regex(r"#\s*(?:<-+[A-Za-z]+-+>)+\s*$")
GROUP: Final = regex(r"<-+([A-Za-z]+)-+>")
DAY_TIME: Final = regex(r"(\d{4})(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)(\.\d+)?\s")
EPOCH: Final = regex(r"(\d{9,10}(?:\.\d+)?)\s")
HOST: Final = regex(r"# Host:\s+(\S+)")
ZONE: Final = regex(r"TZ: ([+-]\d{4})")
INTERVAL: Final = regex(r"# SubSys:.* Interval: (\d+(?:\.\d+)?)")
WHOLE: Final = "total"

CPU: Final[Places] = {
    "User%": ("usr_pct", 1.0), "Nice%": ("usr_pct", 1.0), "Sys%": ("sys_pct", 1.0), "Wait%": ("wait_io_pct", 1.0),
    "Irq%": ("irq_pct", 1.0), "Soft%": ("irq_pct", 1.0), "Steal%": ("steal_pct", 1.0), "Idle%": ("idle_pct", 1.0),
    "Intrpt/sec": ("interrupts_per_s", 1.0), "Intrpt": ("interrupts_per_s", 1.0), "Ctx/sec": ("csw_per_s", 1.0),
    "Proc/sec": ("forks_per_s", 1.0), "ProcRun": ("run_queue", 1.0),
}  # fmt: skip
MEMORY: Final[Places] = {
    "Tot": ("total_bytes", KIB), "Free": ("free_bytes", KIB), "Shared": ("shmem_bytes", KIB),
    "Buf": ("page_cache_bytes", KIB), "Cached": ("page_cache_bytes", KIB), "Anon": ("anon_bytes", KIB),
    "SwapTot": ("swap_total_bytes", KIB), "SwapFree": ("swap_free_bytes", KIB), "SwapIn": ("swap_in_per_s", 1.0),
    "SwapOut": ("swap_out_per_s", 1.0), "PageIn": ("page_in_kib_per_s", 1.0), "PageOut": ("page_out_kib_per_s", 1.0),
    "PageMajFaults": ("major_faults_per_s", 1.0), "HugeTotal": ("huge_pages_total", 1.0),
    "HugeFree": ("huge_pages_free", 1.0), "HugeRsvd": ("huge_pages_rsvd", 1.0),
}  # fmt: skip
DISK: Final[Places] = {
    "ReadTot": ("reads_per_s", 1.0), "WriteTot": ("writes_per_s", 1.0), "ReadKBTot": ("read_bytes_per_s", KIB),
    "WriteKBTot": ("write_bytes_per_s", KIB), "Reads": ("reads_per_s", 1.0), "Writes": ("writes_per_s", 1.0),
    "RKBytes": ("read_bytes_per_s", KIB), "WKBytes": ("write_bytes_per_s", KIB), "QueLen": ("queue", 1.0),
    "Util": ("util_pct", 1.0), "WaitR": ("read_ms", 1.0), "WaitW": ("write_ms", 1.0), "Wait": ("request_ms", 1.0),
    "KBRead": ("read_bytes_per_s", KIB), "KBWrit": ("write_bytes_per_s", KIB),
}  # fmt: skip
NETWORK: Final[Places] = {
    "RxKBTot": ("rx_bytes_per_s", KIB), "TxKBTot": ("tx_bytes_per_s", KIB), "RxErrsTot": ("errors_per_s", 1.0),
    "TxErrsTot": ("errors_per_s", 1.0), "RxKB": ("rx_bytes_per_s", KIB), "TxKB": ("tx_bytes_per_s", KIB),
    "RxErrs": ("errors_per_s", 1.0), "TxErrs": ("errors_per_s", 1.0), "KBIn": ("rx_bytes_per_s", KIB),
    "KBOut": ("tx_bytes_per_s", KIB),
}  # fmt: skip
BRIEF_CPU: Final[Places] = {"sys": ("sys_pct", 1.0), "inter": ("interrupts_per_s", 1.0), "ctxsw": ("csw_per_s", 1.0)}
BRIEF_MEMORY: Final[Places] = {
    "Free": ("free_bytes", 1.0), "Buff": ("page_cache_bytes", 1.0), "Cach": ("page_cache_bytes", 1.0),
}  # fmt: skip
# Times of requests mean nothing where there were none.
NEEDS: Final = {"WaitR": "Reads", "WaitW": "Writes"}


@dataclass
class Heading:
    """What stands above the rows: section, thing and column of each value, and what the file tells of itself."""

    columns: list[tuple[str, str, str]] = field(default_factory=list)
    spans: list[tuple[int, int, str]] = field(default_factory=list)
    has_epoch: bool = False
    is_brief: bool = False
    zone: str | None = None
    interval_s: float | None = None  # of the first row: the others tell it by their times
    last: datetime | None = None


def sniff(head: str) -> bool:
    """Whether it has a heading of the plot format, or the groups of columns on the terminal."""
    return any(HEADING.match(line) or GROUPS.match(line) for line in head.splitlines())


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of the file."""
    figures, heading, without_time = Figures(source), Heading(), list[list[str]]()
    clock = Clock(source)
    for line, text in source.lines():
        if text.startswith("#"):
            _take_heading(text, heading, source)
        elif not text.strip() or text.startswith(("waiting for", "Ouch!")):
            continue
        elif (found := _split(text, heading, clock, source)) is None:
            source.skip(line, "no row of figures under a heading of collectl")
        elif found[0] is None:
            without_time.append(found[1])
        else:
            length_s = heading.interval_s
            if heading.last:
                length_s = (found[0] - heading.last).total_seconds() if found[0] > heading.last else None
            heading.last = found[0]
            yield from figures.at(found[0], length_s, line)
            _put(figures, heading, found[1])
    for moment, values in zip(untimed(source, len(without_time)) if without_time else (), without_time, strict=True):
        yield from figures.at(moment, source.every_s)
        _put(figures, heading, values)
    yield from figures.rest()


def _take_heading(text: str, heading: Heading, source: SourceFile) -> None:
    """Keep what a line above the rows tells."""
    if found := HOST.match(text):
        source.host = found[1]
    if found := ZONE.search(text):
        heading.zone = found[1]
    if found := INTERVAL.search(text):
        heading.interval_s, heading.last = float(found[1]) or None, None
    if "Flags:" in text and "n" in text.rpartition("Flags:")[2]:
        source.note("its rates are not per second (-on): they are taken as they stand")
    if COLUMN.search(text):
        heading.columns = [(kind, about or "", name) for kind, about, name in COLUMN.findall(text)]
        heading.has_epoch, heading.is_brief = text.startswith("#UTC"), False
    elif GROUPS.match(text):
        heading.spans = [(found.start(), found.end(), found[1]) for found in GROUP.finditer(text)]
        heading.is_brief = True
    elif heading.is_brief and heading.spans:
        words = [(word.end(), word[0]) for word in re.finditer(r"[^\s#]+", text)]
        heading.columns = [
            (next((kind for begin, close, kind in heading.spans if begin < end <= close + 1), ""), "", name)
            for end, name in words
            if name not in {"Date", "Time"}
        ]


def _split(text: str, heading: Heading, clock: Clock, source: SourceFile) -> tuple[datetime | None, list[str]] | None:
    """Moment and values of a row; null where it is none. The moment is null where the row has no time."""
    moment: datetime | None = None
    rest = text
    try:
        if found := DAY_TIME.match(text):
            year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
            zone = source.zone or zone_of(heading.zone)
            if zone is None:
                source.note(ZONE_ASSUMED)
            micro = round(float(found[7] or 0) * 1e6)
            moment = datetime(year, month, day, hour, minute, second, micro, tzinfo=zone or UTC)
        elif heading.has_epoch and (found := EPOCH.match(text)):
            moment = datetime.fromtimestamp(float(found[1]), UTC)
        elif heading.is_brief and (found := TIME_OF_DAY.match(text)):
            moment = time_in(clock, found, source)
    except (ValueError, OverflowError, OSError):
        return None
    if found:
        rest = text[found.end() :]
    values = rest.split()
    is_row = len(values) == len(heading.columns) > 0 and (moment is not None or heading.is_brief)
    return (moment, values) if is_row else None


def _put(figures: Figures, heading: Heading, values: list[str]) -> None:
    """A row of figures, thing by thing."""
    things = dict[tuple[str, str], dict[str, float]]()
    for (kind, about, name), text in zip(heading.columns, values, strict=True):
        value = _value(text, brief=heading.is_brief)
        if value is not None:
            things.setdefault((kind, about), {})[name] = value
    for (kind, about), held in things.items():
        idle = {time for time, count in NEEDS.items() if not held.get(count, 1.0)}
        known = [(name, value) for name, value in held.items() if name not in idle]
        others = _brief(figures, kind, held) if heading.is_brief else _plot(figures, kind, about, known)
        for name, value in others.items():
            if name != "Name":
                figures.statistic("collectl", f"{kind}.{name}", value, None, entity=about or None)


def _value(text: str, *, brief: bool) -> float | None:
    try:
        return sized(text) if brief else number(text)
    except ValueError:
        return None


def _plot(figures: Figures, kind: str, about: str, held: list[tuple[str, float]]) -> dict[str, float]:
    """Put the figures of one thing of the plot format; those that have no place."""
    if kind == "CPU":
        return figures.fill("cpu", CPU, held, cpu=int(about) if about.isdecimal() else None)
    if kind == "MEM" and not about:
        others = figures.fill("memory", MEMORY, held)
        row = figures.row("memory")
        if "page_cache_bytes" in row:
            row["page_cache_bytes"] -= row.get("shmem_bytes", 0.0)
        return others
    if kind == "DSK":
        return figures.fill("disk", DISK, held, device=about or WHOLE)
    if kind == "NET":
        return figures.fill("network", NETWORK, held, interface=about or WHOLE)
    return dict(held)


def _brief(figures: Figures, kind: str, held: dict[str, float]) -> dict[str, float]:
    """Put the figures of one group of columns on the terminal; those that have no place."""
    if kind == "CPU":
        others = figures.fill("cpu", BRIEF_CPU, held.items())
        busy = others.pop("cpu", None)
        figures.row("cpu")["usr_pct"] = None if busy is None else max(busy - held.get("sys", 0.0), 0.0)
        return others
    if kind == "Memory":
        return figures.fill("memory", BRIEF_MEMORY, held.items())
    if kind == "Disks":
        return figures.fill("disk", DISK, held.items(), device=WHOLE)
    if kind == "Network":
        return figures.fill("network", NETWORK, held.items(), interface=WHOLE)
    return held
