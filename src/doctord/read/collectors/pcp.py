"""PCP archives (pmlogger), through PCP's own pmdumplog, where it is on this machine.

Name the first volume (NAME.0), or the folder: NAME.meta, NAME.index and further volumes have to lie beside it.
Tables: `cpu`, `memory`, `disk`, `network` of the kernel's metrics; every other metric is `statistic`, component
`pcp`, under its own name, entity the instance. Counters become rates between two records; a mark in the archive
(pmlogger began again) is an `event`, and no rate goes across it. Times are in seconds since 1970. Left out: proc.*,
hotproc.*, pmcd.*, and values that are no numbers.
"""

import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from doctord._native import Batch
from doctord.dataset.rows import micros
from doctord.errors import UserError
from doctord.read.collectors.pcp_names import CPU_STATES, ENTITY, PLACES
from doctord.read.counters import Counters
from doctord.read.figures import Figures, number
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "PCP archives"
RANK = Rank.NAMED
MAGIC: Final = regex(r"\A\x00\x00[\x00-\xff]{2}\x50\x05\x26([\x02\x03])", re.DOTALL)
VOLUME_AT: Final = {2: 20, 3: 28}  # where the label has the number of the volume
RECORD: Final = regex(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d\.(\d{6}) \d{4} \(\S+\) (\d+)(?:\.\d+)? \d+ metrics?$")
FIRST_VOLUME: Final = regex(r"\.0(\.\w+)?$")
MARK: Final = "<mark>"
METRIC: Final = regex(r"    [\d.]+ \(([\w.]+)\):(?: value (\S+))?")
INSTANCE: Final = regex(r'        inst \[\d+ or "([^"]*)"\] value (\S+)')
SEMANTICS: Final = regex(r"\s+Semantics: (\w+)")
DESCRIBED: Final = regex(r"InDom.*|PMID: \S+ \(([\w.]+)\)")
LEFT_OUT: Final = ("proc.", "hotproc.", "pmcd.", "event.")
HOST: Final = regex(r"Performance metrics from host (\S+)")
HINT: Final = "install pcp (pmdumplog), and name NAME.0 with NAME.meta and NAME.index beside it"


def sniff(head: str) -> bool:
    """Whether it begins with the label of an archive."""
    return MAGIC.match(head) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of all records of the archive, from the first volume on.

    Raises:
        UserError: it is another file of the archive, or pmdumplog is not here, or cannot read it.
    """
    at = VOLUME_AT[ord(source.head[7])]
    volume = int.from_bytes(source.head[at : at + 4].encode("latin-1"), "big", signed=True)
    if volume:
        raise UserError(f"{source.name}: a part of a PCP archive that is read with its first volume", "name NAME.0")
    if source.path is None:
        raise UserError(f"{source.name}: one file of a PCP archive alone", HINT)
    archive = source.path.with_name(FIRST_VOLUME.sub("", source.path.name))
    for text in _told(["-L"], archive, source):
        if found := HOST.match(text):
            source.host = found[1]
    counters = _counters(_told(["-d"], archive, source))
    yield from Records(source, counters).batches(_told(["-xxx", "-Z", "UTC", "-M", "-m"], archive, source))


def _told(options: list[str], archive: Path, source: SourceFile) -> Iterator[str]:
    """What pmdumplog prints."""
    try:
        tool = subprocess.Popen(
            ["pmdumplog", *options, str(archive)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except FileNotFoundError as error:
        raise UserError(f"{source.name}: a PCP archive, and pmdumplog is not on this machine", HINT) from error
    with tool:
        yield from (text.rstrip("\n") for text in tool.stdout or ())
        said = (tool.stderr.read() if tool.stderr else "").strip()
    if tool.returncode:
        raise UserError(f"{source.name}: pmdumplog cannot read it: {said.partition(chr(10))[0]}", HINT)


def _counters(descriptions: Iterator[str]) -> set[str]:
    """Names of the metrics that only rise."""
    name, found_counters = "", set[str]()
    for text in descriptions:
        if found := DESCRIBED.match(text):
            name = found[1] or name
        elif (found := SEMANTICS.match(text)) and found[1] == "counter":
            found_counters.add(name)
    return found_counters


class Records:
    """Takes the records of an archive, one after another."""

    def __init__(self, source: SourceFile, rising: set[str]) -> None:
        """No record was seen."""
        self._figures, self._rising, self._counters = Figures(source), rising, Counters()
        self._at: dict[str, datetime] = {}
        self._moment: datetime | None = None
        self._cpu: dict[str, dict[str, float]] = {}

    def batches(self, lines: Iterator[str]) -> Iterator[Batch]:
        """Rows of all records of `pmdumplog`'s text, each record by its time."""
        metric, is_first = "", False
        for text in lines:
            if found := RECORD.match(text):
                self._finish()
                self._moment = datetime.fromtimestamp(int(found[2]), UTC) + timedelta(microseconds=int(found[1]))
                is_first = True
            elif MARK in text and self._moment:
                self._counters, self._at = Counters(), {}
                self._figures.row("event", kind="gap", subject="pmlogger")["text"] = "a mark: it began again"
            elif found := METRIC.match(text):
                metric = found[1]
                if is_first and self._moment:
                    yield from self._figures.at(self._moment, self._since(metric))
                    is_first = False
                if found[2]:
                    self._put(metric, None, found[2])
            elif found := INSTANCE.match(text):
                self._put(metric, found[1], found[2])
        self._finish()
        yield from self._figures.rest()

    def _since(self, metric: str) -> float | None:
        """Seconds since the last record that began with this metric: those of one group come together."""
        before, now = self._at.get(metric), self._moment
        if now is None:
            return None
        self._at[metric] = now
        return (now - before).total_seconds() if before and now > before else None

    def _put(self, metric: str, instance: str | None, text: str) -> None:
        value = number(text)
        if value is None or self._moment is None or metric.startswith(LEFT_OUT):
            return
        is_rate = metric in self._rising
        known = self._counters.per_s((metric, instance), micros(self._moment), value) if is_rate else value
        if known is None:
            return
        group, _, state = metric.partition(".cpu.")
        if group in {"kernel.all", "kernel.percpu"} and state in CPU_STATES:
            self._cpu.setdefault(instance or "", {})[state] = known
        elif place := PLACES.get(metric):
            table, column, factor = place
            about = ENTITY[table]
            entity = {about: instance} if about else {}
            self._figures.fill(table, {metric: (column, factor)}, [(metric, known)], **entity)
        else:
            unit, kind = ("per_s", "rate") if is_rate else (None, "gauge")
            self._figures.statistic("pcp", metric, known, unit, kind=kind, entity=instance)

    def _finish(self) -> None:
        """Shares of CPU time, now that all states of the record are there."""
        for cpu, states in self._cpu.items():
            if whole := sum(states.values()):
                row = self._figures.row("cpu", cpu=int(cpu.removeprefix("cpu")) if cpu[3:].isdecimal() else None)
                for state, spent in states.items():
                    row[CPU_STATES[state]] = row.get(CPU_STATES[state], 0.0) + 100 * spent / whole
        self._cpu = {}
