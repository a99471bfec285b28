"""iostat and mpstat of Linux with -o JSON (sysstat 11.5 to 12.7).

Tables and units are those of their texts: see iostat (Linux) and mpstat (Linux). A file that was cut is read up to the
report in which it ends. The first report of iostat covers the time since boot.
"""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import pairwise
from typing import Any

from doctord._native import Batch
from doctord.read.clock import Clock
from doctord.read.source import Source
from doctord.read.unix import iostat, mpstat
from doctord.read.unix.banner import day_of
from doctord.read.unix.headed_tables import NO_FIGURES
from doctord.read.unix.report import Line, Report, placed
from doctord.read.unix.times import TIME_OF_DAY, moment_in, time_in

NAME = "iostat and mpstat (Linux, JSON)"

HOST = re.compile(r'"nodename":\s*"([^"]*)"')
DAY = re.compile(r'"date":\s*"([^"]*)"')
STATISTICS = re.compile(r'"statistics":\s*\[')
BETWEEN = re.compile(r"[\s,]*")
OWN = re.compile(r'"(?:avg-cpu|disk_device)"|"timestamp":\s*"[^"]*",\s*"cpu-load"')
# Shares, which the texts write with a % before them.
SHARES = frozenset({
    "user", "usr", "nice", "system", "sys", "iowait", "irq", "soft", "steal", "guest", "gnice", "idle", "util", "rrqm",
    "wrqm", "drqm",
})  # fmt: skip


def sniff(head: str) -> bool:
    """Whether it is JSON of sysstat with what only these tools print; sadf's says more of each moment."""
    return head.lstrip()[:1] == "{" and '"sysstat"' in head[:200] and OWN.search(head) is not None


def read(source: Source) -> Iterator[Batch]:
    """Rows of `cpu`, `disk` and `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: Source, day: date | None = None) -> Iterator[Report]:
    """Each report of the text; `day` stands for that of the first line where there is none."""
    text = "\n".join(line for _, line in lines)
    starts = [found.end() for found in STATISTICS.finditer(text)]
    for before, (start, end) in zip([0, *starts], pairwise([*starts, len(text)]), strict=False):
        host, told = HOST.search(text, before, start), DAY.search(text, before, start)
        source.host = host[1] if host else source.host
        clock, is_first = Clock(source, (day_of(told[1]) if told else None) or day), True
        for line, statistics in _objects(text, start, end, source):
            report = Report(line, day=day_of(told[1]) if told else day, since_boot=is_first and "avg-cpu" in statistics)
            if _take(report, statistics, clock, source):
                is_first = False
                yield report
            else:
                source.skip(line, NO_FIGURES)


def _objects(text: str, start: int, end: int, source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a list, each with its line; the last may be cut."""
    decoder, at, line, counted = json.JSONDecoder(), start, 1, 0
    while True:
        between = BETWEEN.match(text, at)
        at = between.end() if between else at
        line, counted = line + text.count("\n", counted, at), at
        if at >= end or text[at] != "{":
            return
        try:
            found, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            source.skip(line, "a report that is cut")
            return
        yield line, found


def _take(report: Report, statistics: dict[str, Any], clock: Clock, source: Source) -> bool:
    """Put an object into its report; false if it is none of these tools."""
    try:
        if stamp := statistics.get("timestamp"):
            time = TIME_OF_DAY.fullmatch(stamp)
            report.at = time_in(clock, time, source) if time else moment_in(stamp, source)
        if whole := statistics.get("avg-cpu"):
            iostat.CPUS.fill(report, "cpu", _figures(whole), cpu=None)
        for disk in statistics.get("disk", ()):
            device = str(disk.pop("disk_device"))
            iostat.DISKS.fill(report, "disk", iostat.timed(_figures(disk)), device, device=device)
        for cpu in statistics.get("cpu-load", ()):
            which = cpu.pop("cpu")
            mpstat.CPUS.fill(report, "cpu", _figures(cpu), cpu=None if which == "all" else int(which))
        for cpu in statistics.get("sum-interrupts", ()):
            which = cpu["cpu"]
            report.row("cpu", {"interrupts_per_s": float(cpu["intr"])}, cpu=None if which == "all" else int(which))
        _take_interrupts(report, statistics)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return bool(report)


def _take_interrupts(report: Report, statistics: dict[str, Any]) -> None:
    for part, kind in (("individual-interrupts", "irq"), ("soft-interrupts", "softirq")):
        for cpu in statistics.get(part, ()):
            for interrupt in cpu["intr"]:
                per_s = float(interrupt["value"]) or None
                entity = f"{cpu['cpu']} {interrupt['name']}"
                report.statistic("kernel", f"mpstat.{kind}", per_s, "per_s", kind="rate", entity=entity)


def _figures(told: dict[str, Any]) -> dict[str, float | None]:
    """Figures by the names of the texts."""
    return {f"%{name}" if name in SHARES else name: float(value) for name, value in told.items()}
