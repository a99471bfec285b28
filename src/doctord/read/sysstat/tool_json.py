"""JSON of sysstat's interactive tools: `iostat -o JSON`, `mpstat -o JSON` and `pidstat -o JSON` (from 11.5.1 on).

It says what their text says, so tables, names, units and what is left out are those of iostat, mpstat and pidstat. The
time at which the first interval began is not in it: that of mpstat's and pidstat's first report is null. iostat
writes times with -t only.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.sysstat import iostat, mpstat, pidstat
from doctord.read.tools.report import Line, placed
from doctord.regex import regex

NAME = "JSON of iostat, mpstat or pidstat"
RANK = Rank.NAMED
BEGIN = regex(r'\s*\{\s*"sysstat"\s*:\s*\{\s*"hosts"')
TOOLS = {
    iostat: regex(r'"(?:avg-cpu|disk_device)"'),
    mpstat: regex(r'"(?:cpu-load|node-load|sum-interrupts|individual-interrupts|soft-interrupts)"'),
    pidstat: regex(r'"(?:TGID|PID)"'),
}
ARCHIVE = regex(r'"file-date"|"timestamp"\s*:\s*\{')  # sadf's
STATISTICS = regex(r'"statistics"\s*:\s*\[\s*')
BETWEEN = " \t\r\n,"

# Keys that the text's headings write otherwise.
IN_TEXT = {
    "disk_device": "Device", "util": "%util", "rrqm": "%rrqm", "wrqm": "%wrqm", "drqm": "%drqm",
    "node": "NODE", "MEM": "%MEM", "cpu_nr": "CPU", "cmd": "Command",
}  # fmt: skip
SHARES = frozenset("user usr nice system sys iowait irq soft steal guest gnice idle wait".split())  # noqa: SIM905
PLACE = frozenset({"node", "core", "socket"})  # where a CPU is
LEFT_OUT = frozenset({"leader"})


class Statistics(NamedTuple):
    """What was measured at one moment, and the first line that the tool's text would have."""

    banner: str
    measured: Mapping[str, Any]


def sniff(head: str) -> bool:
    """Whether it begins as sysstat's JSON does, with what one of these tools measures."""
    return bool(BEGIN.match(head)) and not ARCHIVE.search(head) and any(known.search(head) for known in TOOLS.values())


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows that the tool's text would give."""
    tool = next(tool for tool, known in TOOLS.items() if known.search(source.head))
    yield from placed(tool.reports(_text(source), source), source)


def _text(source: SourceFile) -> Iterator[Line]:
    """The lines that the tool's text would have; line 0, as they stand elsewhere in the file."""
    banner = ""
    for statistics in _statistics(source):
        if statistics.banner != banner:
            banner = statistics.banner
            yield 0, banner
        yield 0, ""
        time = str(statistics.measured.get("timestamp", ""))
        if "avg-cpu" in statistics.measured or "disk" in statistics.measured:
            yield from _iostat(time, statistics.measured)
        else:
            for lines in statistics.measured.values():
                yield from _table(time, lines)


def _statistics(source: SourceFile) -> Iterator[Statistics]:
    """Each moment of the document, or of several; what comes after a point at which it is none is left."""
    text = source.content().decode(errors="replace")
    decoder, end = json.JSONDecoder(), 0
    while found := STATISTICS.search(text, end):
        banner, end = _banner(text[end : found.start()]), found.end()
        while end < len(text) and text[end] != "]":
            try:
                measured, end = decoder.raw_decode(text, end)
            except (ValueError, RecursionError) as error:
                source.skip(text.count("\n", 0, end) + 1, f"not JSON as sysstat writes it: {error}")
                return
            if isinstance(measured, dict):
                yield Statistics(banner, measured)
            while end < len(text) and text[end] in BETWEEN:
                end += 1


def _banner(head: str) -> str:
    told = {key: value.strip('"') for key, value in re.findall(r'"([\w-]+)"\s*:\s*("[^"]*"|\d+)', head)}
    release, host, day = (told.get(key, "-") for key in ("release", "nodename", "date"))
    return f"Linux {release} ({host}) \t{day} \t_{told.get('machine', '')}_\t({told.get('number-of-cpus', '1')} CPU)"


def _iostat(time: str, measured: Mapping[str, Any]) -> Iterator[Line]:
    if time:
        yield 0, time
    if isinstance(cpus := measured.get("avg-cpu"), dict):
        yield 0, " ".join(["avg-cpu:", *(f"%{key}" for key in cpus)])
        yield 0, _words(cpus.values())
    heading = ""
    for device in _objects(measured.get("disk")):
        if heading != (heading := " ".join(map(_name, device))):
            yield 0, heading
        yield 0, _words(device.values())


def _table(time: str, lines: object) -> Iterator[Line]:
    """One table of mpstat or pidstat, as with -h: a heading before each line, for not all have the same."""
    for line in _objects(lines):
        cells = dict(_cells(line))
        yield 0, f"# Time {' '.join(cells)}"
        yield 0, f"{time} {_words(cells.values())}"


def _cells(line: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for key, value in line.items():
        if key == "intr" and isinstance(value, list):
            yield from ((f"{one.get('name')}/s", one.get("value")) for one in _objects(value))
        elif key == "intr":
            yield "intr/s", value
        elif key == "cpu":  # a name of mpstat, a share of pidstat
            yield ("CPU" if isinstance(value, str) else "%CPU"), value
        elif key == "TGID" and line.get("TID"):
            yield key, "-"
        elif key not in LEFT_OUT and (key not in PLACE or "cpu" not in line):
            yield _name(key), value


def _name(key: str) -> str:
    return IN_TEXT.get(key) or (f"%{key}" if key in SHARES else key)


def _words(values: Iterable[object]) -> str:
    return " ".join(str(value) if value != "" else "-" for value in values)


def _objects(lines: object) -> Iterator[dict[str, Any]]:
    """The objects of a list; nothing of what is none."""
    return (line for line in (lines if isinstance(lines, list) else []) if isinstance(line, dict))
