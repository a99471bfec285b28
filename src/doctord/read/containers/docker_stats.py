"""`docker stats` and `podman stats`: as a table, also the live one of a terminal, and as JSON (`--format json`).

Table: `statistic` (component `docker`, the entity being the container's name, else its id): `docker.cpu_pct` (% of one
CPU, over the second before), `docker.memory_bytes` (without cached files that nobody used of late),
`docker.memory_limit_bytes` (the host's memory where the container has no limit), `docker.pids` (threads),
`docker.rx_bytes`, `docker.tx_bytes`, `docker.read_bytes` and `docker.written_bytes` (in all since the container began,
rounded to three digits: no rate is made of them). It tells no times.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from doctord._native import Batch
from doctord.read.containers.usage import NOT_MEASURED, size_bytes
from doctord.read.figures import number as number_of
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import NO_FIGURES
from doctord.read.tools.report import Line, Report, placed
from doctord.read.tools.times import moment_in
from doctord.regex import regex

NAME = "docker stats"
RANK = Rank.NAMED
LOOKED_AT: Final = 20
TERMINAL: Final = regex(r"\x1b\[[\d;?]*[A-Za-z]")
GAP: Final = regex(r"\s{2,}|\t")
# What the columns of the table are in JSON.
KEYS: Final = {
    "CONTAINER ID": "ID", "ID": "ID", "CONTAINER": "ID", "NAME": "Name", "CPU %": "CPUPerc",
    "MEM USAGE / LIMIT": "MemUsage", "MEM USAGE/LIMIT": "MemUsage", "NET I/O": "NetIO", "NET IO": "NetIO",
    "BLOCK I/O": "BlockIO", "BLOCK IO": "BlockIO", "PIDS": "PIDs",
}  # fmt: skip
NEEDED: Final = {"CPUPerc", "MemUsage"}
# Two sizes with a stroke between them, and the names of both.
PAIRS: Final = {
    "MemUsage": ("memory_bytes", "memory_limit_bytes"),
    "NetIO": ("rx_bytes", "tx_bytes"),
    "BlockIO": ("read_bytes", "written_bytes"),
}


def sniff(head: str) -> bool:
    """Whether a heading or an object of docker stats is among its first lines."""
    lines = [TERMINAL.sub("", line) for line in head.splitlines()[:LOOKED_AT]]
    return any(_names(line) or _object(line).keys() >= NEEDED for line in lines)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic` and `event`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:  # noqa: ARG001 - a tool's
    """Each look at the containers: another begins with a heading, a moment, or a container that was told already."""
    report, names, seen, at, begins = Report(0), list[str](), set[str](), None, True
    for number, text in lines:
        line = TERMINAL.sub("", text).strip()
        if found := _names(line):
            names, begins = found, True
        elif moment := moment_in(line, source):
            at, begins = moment, True
        elif who := _who(told := _object(line) or _cells(line, names)):
            if begins or who in seen:
                yield report
                report, seen, at, begins = Report(number, at=at), set(), None, False
            seen.add(who)
            _take(report, who, told)
        elif line:
            source.skip(number, NO_FIGURES)
    yield report


def _take(report: Report, who: str, told: dict[str, str]) -> None:
    figures = {"cpu_pct": number_of(told.get("CPUPerc", "").rstrip("%")), "pids": number_of(told.get("PIDs", ""))}
    for key, names in PAIRS.items():
        figures |= dict(zip(names, map(size_bytes, told.get(key, "").split("/")), strict=False))
    for name, value in figures.items():
        unit = name.rpartition("_")[2] if "_" in name else "count"
        report.statistic("docker", f"docker.{name}", value, unit, entity=who)
    if report and not report.figure("event", "subject"):
        report.row("event", NOT_MEASURED)


def _who(told: dict[str, str]) -> str:
    return told.get("Name") or told.get("ID") or told.get("Container") or ""


def _names(line: str) -> list[str]:
    """The columns of a heading, as JSON calls them; nothing where it is none."""
    names = [KEYS.get(word.strip(), "") for word in GAP.split(line.strip())]
    return names if {*names} >= NEEDED else []


def _cells(line: str, names: list[str]) -> dict[str, str]:
    cells = GAP.split(line)
    return dict(zip(names, cells, strict=True)) if len(cells) == len(names) else {}


def _object(line: str) -> dict[str, str]:
    """The figures of a line of JSON."""
    if not line.startswith("{"):
        return {}
    try:
        told = json.loads(line)
    except ValueError:
        return {}
    return {key: str(value) for key, value in told.items()} if isinstance(told, dict) else {}
