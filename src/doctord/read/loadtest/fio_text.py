"""What fio 3 prints for people: the same tables as its JSON, `latency` from its percentiles.

Figures are as exact as they are printed: operations are those issued, bytes those transferred, divided by the run's
time. Times are local. Left out: fio 2, the distribution of latencies over both directions, and groups.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.loadtest.fio_json import batches
from doctord.read.moments import placed_moment
from doctord.read.source import SourceFile

NAME = "fio's text"
RANK = Rank.NAMED
JOB: Final = re.compile(r"(\S.*?): \(groupid=\d+, jobs=\d+\): err=\s*\d+: pid=\d+: (.+)$")
DIRECTION: Final = re.compile(r"\s+(read|write|trim): IOPS=\S+, BW=.*\(([\d.]+)([KMGTP]?i?B)/(\d+)msec\)")
TIMES: Final = re.compile(r"\s+clat \(([num]sec)\): min=\s*([\d.]+k?), max=\s*([\d.]+[kM]?), avg=\s*([\d.]+)")
PERCENTILES: Final = re.compile(r"\s+clat percentiles \(([num]sec)\):")
PERCENTILE: Final = re.compile(r"([\d.]+)th=\[\s*(\d+)\]")
ISSUED: Final = re.compile(r"\s+issued rwts: total=(\d+),(\d+),(\d+),")
DISK: Final = re.compile(r"\s+(\S+): ios=(\d+)/(\d+),.* ticks=(\d+)/(\d+), in_queue=(\d+), util=([\d.]+)%")
NS: Final = {"nsec": 1.0, "usec": 1e3, "msec": 1e6}
THOUSANDS: Final = {"": 1.0, "k": 1e3, "M": 1e6}
BYTES: Final = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40, "PiB": 2.0**50}


def sniff(head: str) -> bool:
    """Whether a job's line, or fio's own before it, is there."""
    return any(JOB.match(line) for line in head.splitlines())


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `latency`, `statistic` and `disk`."""
    jobs, disks = list[tuple[str, dict[str, Any]]](), list[dict[str, Any]]()
    ended, held = "", dict[str, Any]()
    for _, text in source.lines():
        if begun := JOB.match(text):
            jobs.append((begun[1], {}))
            ended, held = begun[2], {}
        elif found := DISK.match(text):
            disks.append(_disk(found))
        elif not jobs:
            continue
        elif found := DIRECTION.match(text):
            held = jobs[-1][1][found[1]] = _direction(found)
        elif found := TIMES.match(text):
            unit_ns = NS[found[1]]
            held["clat_ns"] = {"max": _number(found[3]) * unit_ns, "mean": float(found[4]) * unit_ns, "percentile": {}}
        elif found := PERCENTILES.match(text):
            held["unit_ns"] = NS[found[1]]
        elif text.lstrip().startswith("|") and "unit_ns" in held and "clat_ns" in held:
            known = {share: int(time) * held["unit_ns"] for share, time in PERCENTILE.findall(text)}
            held["clat_ns"]["percentile"].update(known)
        elif found := ISSUED.match(text):
            _count(jobs[-1][1], [int(count) for count in found.groups()])
        elif "percentiles" in text or "sync" in text:
            held = {}
    moment = placed_moment(ended, source) or untimed(source, 1)[0]
    yield from batches(jobs, disks, micros(moment), source)


def _direction(found: re.Match[str]) -> dict[str, Any]:
    bytes_, run_ms = float(found[2]) * BYTES.get(found[3], 1.0), int(found[4])
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
