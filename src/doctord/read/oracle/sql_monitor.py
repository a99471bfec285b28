"""SQL monitor reports as text (DBMS_SQLTUNE.REPORT_SQL_MONITOR, type TEXT): one statement while it ran.

Tables: `statement` (elapsed and CPU seconds per second of its duration, buffer gets, reads, the text with constants
replaced), `wait` (CPU, and the wait classes of Global Stats, whose events are named only as far as Activity Detail
does: samples there divide the time of a class), `statistic` (`sql_monitor.COLUMN` of Global Stats). The interval is the
statement's duration, its end the last refresh. Several reports may stand in one file.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.scrub import scrub
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.moments import placed_moment
from doctord.read.oracle.wait_classes import class_of
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "SQL monitor reports (Oracle, text)"
RANK = Rank.NAMED
DB: Final = "oracle"
TITLE: Final = regex(r"^[^\S\n]*+SQL Monitoring Report[^\S\n]*+$", re.MULTILINE)
INFORMATION: Final = regex(r"^\s*([A-Z][\w ()/#]*?)\s*:\s+(\S.*?)\s*$")
MOMENT: Final = regex(r"(\d\d)/(\d\d)/(\d{4}) (\d\d):(\d\d):(\d\d)")
NUMBER: Final = regex(r"([\d.]+)\s*([KMGT]?)B?$")
SCALES: Final = {"": 1.0, "K": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4}
THOUSANDS: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
# Global Stats heads its times by the first word of a class.
CLASSES: Final = {
    "io": "User I/O", "application": "Application", "concurrency": "Concurrency", "cluster": "Cluster",
    "other": "Other",
}  # fmt: skip
WAITED: Final = regex(r"([A-Za-z/]+) waits?\(s\)")
DETAIL: Final = regex(r"([A-Za-z].*?) \((\d+)\)")
ON_CPU: Final = "Cpu"
NOT_TOLD: Final = "(which events, is not told)"
NO_STATS: Final = "a report without Global Stats"


def sniff(head: str) -> bool:
    """Whether its title and Global Stats or its information are there."""
    return bool(TITLE.search(head)) and ("Global Information" in head or "Global Stats" in head)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statement`, `wait` and `statistic`."""
    for number, lines in _reports(source):
        stats, information = _stats(lines), _information(lines)
        duration_s = _figure(information.get("Duration", ""), THOUSANDS) or stats.get("elapsed time(s)")
        if not stats or not duration_s:
            source.skip(number, NO_STATS)
            continue
        about = {"ts": _ended_us(information, source), "interval_s": duration_s, "host": source.host, "db": DB}
        yield rows("statement", [about | _statement(lines, information, stats, duration_s)])
        if waits := list(_waits(lines, stats, duration_s)):
            yield rows("wait", [about | {"kind": "foreground"} | wait for wait in waits])
        held = ({"name": f"sql_monitor.{name}", "value": value, "kind": "gauge"} for name, value in stats.items())
        yield rows("statistic", [about | {"component": "oracle", "entity": information.get("SQL ID")} | one
                                 for one in held])  # fmt: skip


def _reports(source: SourceFile) -> Iterator[tuple[int, list[str]]]:
    begun, held = 0, list[str]()
    for number, text in source.lines():
        if TITLE.match(text):
            if begun:
                yield begun, held
            begun, held = number, []
        held.append(text)
    if begun:
        yield begun, held


def _information(lines: list[str]) -> dict[str, str]:
    """What stands below Global Information: name and value."""
    begin = next((at for at, line in enumerate(lines) if line.strip() == "Global Information"), len(lines))
    found = map(INFORMATION.match, lines[begin:])
    return {one[1]: one[2] for one in found if one}


def _stats(lines: list[str]) -> dict[str, float]:
    """The one row of Global Stats, by its heading of two lines in small letters: `elapsed time(s)`, `io waits(s)`."""
    begin = next((at for at, line in enumerate(lines) if line.strip().startswith("Global Stats")), len(lines))
    table = [[cell.strip() for cell in line.strip().strip("|").split("|")]
             for line in lines[begin + 1 : begin + 8] if line.lstrip().startswith("|")]  # fmt: skip
    if len(table) < 3 or not len(table[0]) == len(table[1]) == len(table[2]):
        return {}
    names = [f"{one} {other}".strip().lower() for one, other in zip(table[0], table[1], strict=True)]
    figures = {name: _figure(cell, SCALES if "bytes" in name else THOUSANDS)
               for name, cell in zip(names, table[2], strict=True)}  # fmt: skip
    return {name: value for name, value in figures.items() if value is not None}


def _figure(text: str, scales: Mapping[str, float]) -> float | None:
    """A number with the letter behind it; `40s` of a duration is 40."""
    found = NUMBER.match(text.strip().removesuffix("s"))
    try:
        return float(found[1]) * scales[found[2]] if found else None
    except ValueError:
        return None


def _ended_us(information: Mapping[str, str], source: SourceFile) -> int:
    for name in ("Last Refresh Time", "Execution Started"):
        if found := MOMENT.search(information.get(name, "")):
            month, day, year, *clock = found.groups()
            if moment := moment_of_parts(f"{year}-{month}-{day} {':'.join(clock)}", source):
                return moment
    return micros(untimed(source, 1)[0])


def moment_of_parts(text: str, source: SourceFile) -> int | None:
    """Microseconds since 1970 of a moment; null where it is none of the calendar."""
    moment = placed_moment(text, source)
    return None if moment is None else micros(moment)


def _statement(
    lines: list[str], information: Mapping[str, str], stats: Mapping[str, float], duration_s: float
) -> dict[str, Any]:
    text = " ".join(_text(lines))
    rates = {"elapsed_s_per_s": "elapsed time(s)", "cpu_s_per_s": "cpu time(s)", "hit_blocks_per_s": "buffer gets",
             "read_blocks_per_s": "read reqs"}  # fmt: skip
    figures = {column: stats[name] / duration_s for column, name in rates.items() if name in stats}
    calls = 1 / duration_s
    return {"statement_id": information.get("SQL ID"), "text": scrub(text, "oracle") if text else None,
            "calls_per_s": calls, **figures}  # fmt: skip


def _text(lines: list[str]) -> list[str]:
    """The lines below `SQL Text` and its ruler, to the next blank one."""
    begin = next((at for at, line in enumerate(lines) if line.strip() == "SQL Text"), None)
    if begin is None:
        return []
    below = [line.strip() for line in lines[begin + 2 :]]
    return below[: below.index("")] if "" in below else below


def _waits(lines: list[str], stats: Mapping[str, float], duration_s: float) -> Iterator[dict[str, Any]]:
    """CPU, and each class with the events that samples name in it."""
    if "cpu time(s)" in stats:
        yield {"wait_class": "CPU", "event": "CPU", "average_active_sessions": stats["cpu time(s)"] / duration_s}
    samples = _samples(lines)
    for name, seconds in stats.items():
        found = WAITED.fullmatch(name)
        wait_class = CLASSES.get(found[1].lower().replace("/", "")) if found else None
        if wait_class is None or not seconds:
            continue
        own = {event: count for event, count in samples.items() if _class(event) == wait_class}
        whole = sum(own.values())
        for event, count in (own or {NOT_TOLD: 1}).items():
            yield {"wait_class": wait_class, "event": event,
                   "average_active_sessions": seconds / duration_s * count / (whole or 1)}  # fmt: skip


def _class(event: str) -> str:
    found = class_of(event)
    return found if found in CLASSES.values() else "Other"


def _samples(lines: list[str]) -> dict[str, int]:
    """Samples by event, of the column Activity Detail of the plan."""
    found: dict[str, int] = {}
    begin = next((at for at, line in enumerate(lines) if "Activity Detail" in line), len(lines))
    for line in lines[begin:]:
        last = line.strip().strip("|").rpartition("|")[2].strip()
        if (detail := DETAIL.fullmatch(last)) and detail[1] != ON_CPU:
            found[detail[1]] = found.get(detail[1], 0) + int(detail[2])
    return found
