"""What fio 2 and 3 print for people: the same tables as its JSON, `latency` from its percentiles.

Figures are as exact as they are printed: operations are those issued, bytes those transferred, divided by the run's
time. Times are local; the first versions do not print one. Left out: the distribution of latencies over both
directions, and groups. Several runs may stand in one file, with other text around them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.loadtest.fio_json import batches
from doctord.read.moments import placed_moment
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "fio's text"
RANK = Rank.NAMED
JOB: Final = regex(r"(\S.*?): \(groupid=\d+, jobs=\d+\): err=\s*\d+: pid=\d+(?:: (.+?))?\s*$")
DIRECTION: Final = regex(r"\s+(read|write|trim): IOPS=\S+, BW=.*\(([\d.]+)([KMGTP]?i?B)/(\d+)msec\)")
# fio 2: `  read : io=1024.0MB, bw=34133KB/s, iops=8533, runt= 30720msec`, of which a KB is 1024 bytes.
DIRECTION_2: Final = regex(r"\s+(read|write|trim)\s*: io=([\d.]+)([KMGTP]?i?B), bw=.*runt=\s*(\d+)msec")
TIMES: Final = regex(r"\s+clat \(([num]sec)\): min=\s*([\d.]+[kMG]?), max=\s*([\d.]+[kMG]?), avg=\s*([\d.]+[kMG]?)")
PERCENTILES: Final = regex(r"\s+clat percentiles \(([num]sec)\):")
PERCENTILE: Final = regex(r"([\d.]+)th=\[\s*(\d+)\]")
ISSUED: Final = regex(r"\s+issued rwts: total=(\d+),(\d+),(\d+),")
ISSUED_2: Final = regex(r"\s+issued\s*: total=r=(\d+)/w=(\d+)/d=(\d+)")
RUN: Final = regex(r"fio-\d+\.\d+\S*\s*$")
DISK: Final = regex(r"\s+(\S+): ios=(\d+)/(\d+),.* ticks=(\d+)/(\d+), in_queue=(\d+), util=([\d.]+)%")
NS: Final = {"nsec": 1.0, "usec": 1e3, "msec": 1e6}
THOUSANDS: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
BYTES: Final = {"B": 1.0} | {f"{one}{b}": 1024.0**at for at, one in enumerate("KMGTP", 1) for b in ("iB", "B")}


def sniff(head: str) -> bool:
    """Whether a job's line, or fio's own before it, is there."""
    return any(JOB.match(line) for line in head.splitlines())


@dataclass(slots=True)
class Run:
    """What was printed of one run so far; `held` is the direction whose latencies follow."""

    jobs: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    disks: list[dict[str, Any]] = field(default_factory=list)
    ended: str = ""
    held: dict[str, Any] = field(default_factory=dict)

    def take(self, text: str) -> None:
        """A line of it; what is no figure is left."""
        if begun := JOB.match(text):
            self.jobs.append((begun[1], {}))
            self.ended, self.held = begun[2] or "", {}
        elif found := DISK.match(text):
            self.disks.append(_disk(found))
        elif self.jobs and (found := DIRECTION.match(text) or DIRECTION_2.match(text)):
            self.held = self.jobs[-1][1][found[1]] = _direction(float(found[2]), found[3], int(found[4]))
        elif self.jobs:
            self._latencies(text)

    def _latencies(self, text: str) -> None:
        if found := TIMES.match(text):
            one_ns = NS[found[1]]
            times = {"max": _number(found[3]) * one_ns, "mean": _number(found[4]) * one_ns, "percentile": {}}
            self.held["clat_ns"] = times
        elif found := PERCENTILES.match(text):
            self.held["unit_ns"] = NS[found[1]]
        elif text.lstrip().startswith("|") and "unit_ns" in self.held and "clat_ns" in self.held:
            known = {share: int(time) * self.held["unit_ns"] for share, time in PERCENTILE.findall(text)}
            self.held["clat_ns"]["percentile"].update(known)
        elif found := ISSUED.match(text) or ISSUED_2.match(text):
            _count(self.jobs[-1][1], [int(count) for count in found.groups()])
        elif "percentiles" in text or "sync" in text:
            self.held = {}


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `latency`, `statistic` and `disk`."""
    runs = [Run()]
    for _, text in source.lines():
        if runs[-1].jobs and RUN.match(text):
            runs.append(Run())
        runs[-1].take(text)
    for run in runs:
        moment = placed_moment(run.ended, source) or untimed(source, 1)[0]
        yield from batches(run.jobs, run.disks, micros(moment), source)


def _direction(transferred: float, unit: str, run_ms: int) -> dict[str, Any]:
    bytes_ = transferred * BYTES.get(unit, 1.0)
    return {"runtime": run_ms, "bw_bytes": bytes_ * 1e3 / run_ms if run_ms else None}


def _count(job: dict[str, Any], issued: list[int]) -> None:
    """How many operations of each direction were issued: what its shares are of."""
    for direction, count in zip(("read", "write", "trim"), issued, strict=True):
        if held := job.get(direction):
            held["iops"] = count * 1e3 / held["runtime"] if held["runtime"] else None
            held.get("clat_ns", {})["N"] = count


def _disk(found: re.Match[str]) -> dict[str, Any]:
    names = ("name", "read_ios", "write_ios", "read_ticks", "write_ticks", "in_queue", "util")
    return dict(zip(names, found.groups(), strict=True))


def _number(text: str) -> float:
    """A number as fio shortens it.

    >>> _number("5964.2k"), _number("491")
    (5964200.0, 491.0)
    """
    letter = text[-1] if text[-1] in THOUSANDS else ""
    return float(text.removesuffix(letter)) * THOUSANDS[letter]
