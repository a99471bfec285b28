"""What fio says of a job in JSON: all bins of its latencies (`json+`), else percentiles, with counts between them.

A bin is named by its middle (`plat_idx_to_val` in fio's stat.c): 64 of them for each power of two nanoseconds. fio 2
has microseconds, and no number of latencies: that of its operations is taken. Several documents may stand in one
file, with other text around them.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.loadtest import fio_figures
from doctord.read.loadtest.fio_times import times_ns
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "fio's JSON"
RANK = Rank.NAMED
PERCENTILES_ONLY = "percentiles only: waits between two of them are spread over one bucket; json+ has all bins"
BINS_LOG2 = 6
BEGINS = regex(r"^[ \t]*\{", re.MULTILINE)
DIRECTIONS = ("read", "write", "trim", "sync")


def sniff(head: str) -> bool:
    """Whether a file that begins so is of fio."""
    return bool(BEGINS.search(head)) and '"fio version"' in head


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `latency`, `statistic` and `disk`: one interval for each job and direction, the time of its run."""
    text = "\n".join(line for _, line in source.lines())
    for document in _documents(text, source):
        try:
            end_us = _ended_us(document, source)
            jobs = [(str(job["jobname"]), job) for job in document["jobs"]]
        except (ValueError, KeyError, TypeError) as error:
            source.note(f"not the whole document of fio: {error}")
            continue
        yield from batches(jobs, document.get("disk_util", []), end_us, source)


def _documents(text: str, source: SourceFile) -> Iterator[dict[str, Any]]:
    """Each JSON document whose first brace begins a line; what stands between them is left."""
    decoder, at = json.JSONDecoder(), 0
    while begun := BEGINS.search(text, at):
        try:
            document, at = decoder.raw_decode(text, begun.end() - 1)
        except (ValueError, RecursionError) as error:
            source.note(f"not the whole document of fio: {error}")
            at = begun.end()
            continue
        if isinstance(document, dict) and "fio version" in document:
            yield document


def _ended_us(document: dict[str, Any], source: SourceFile) -> int:
    """When the run ended; the first versions do not say it."""
    if "timestamp" not in document and "timestamp_ms" not in document:
        return micros(untimed(source, 1)[0])
    return int(document["timestamp_ms"] if "timestamp_ms" in document else document["timestamp"] * 1000) * 1000


def batches(
    jobs: Iterable[tuple[str, dict[str, Any]]], disks: Iterable[Any], end_us: int, source: SourceFile
) -> Iterator[Batch]:
    """The rows of jobs and disks, as fio's JSON has them, of a run that ended then."""
    seen, longest_ms = dict[str, int](), 0.0
    for name, job in jobs:
        seen[name] = seen.get(name, 0) + 1
        named = name if seen[name] == 1 else f"{name} {seen[name]}"
        for direction in DIRECTIONS:
            common = {"ts": end_us, "subject": f"{named} {direction}"}
            try:
                yield from _direction(job, direction, common, source)
                yield from fio_figures.of_direction(job, direction, common, source)
                longest_ms = max(longest_ms, float((job.get(direction) or {}).get("runtime") or 0))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                source.note(f"{named} {direction}: figures that fio does not write: {error}")
    try:
        yield from fio_figures.of_disks(disks, longest_ms / 1e3, end_us, source)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        source.note(f"disks: figures that fio does not write: {error}")


def _direction(job: dict[str, Any], direction: str, common: dict[str, Any], source: SourceFile) -> Iterator[Batch]:
    held = job.get(direction) or {}
    times = times_ns(held)
    if times:
        run_ms = held.get("runtime") or job.get("job_runtime") or 0
        common |= {"interval_s": run_ms / 1e3 or None, "host": source.host}
        buckets = _bins(times["bins"]) if times.get("bins") else _percentiles(times, source)
        yield rows("latency", [common | bucket for bucket in buckets])


def _bins(bins: dict[str, int]) -> Iterator[dict[str, float]]:
    for value, count in bins.items():
        low_ns, high_ns = bin_edges(int(value))
        yield {"gt_us": low_ns / 1e3, "le_us": high_ns / 1e3, "count": count}


def _percentiles(times: dict[str, Any], source: SourceFile) -> Iterator[dict[str, float]]:
    """As many waits between two percentiles as their shares say; the largest one is the last edge."""
    known = sorted((float(share), float(ns)) for share, ns in times.get("percentile", {}).items())
    # Percentiles of one value are the highest of them.
    share_at = {ns: share for share, ns in known if ns < times["max"]} | {float(times["max"]): 100.0}
    for (low_ns, before), (high_ns, share) in pairwise([(0.0, 0.0), *sorted(share_at.items())]):
        count = round(share * times["N"] / 100) - round(before * times["N"] / 100)
        yield {"gt_us": low_ns / 1e3, "le_us": high_ns / 1e3, "count": count}
    source.note(PERCENTILES_ONLY)


def bin_edges(middle_ns: int) -> tuple[int, int]:
    """Lower and upper edge of the bin whose middle is this.

    >>> bin_edges(77), bin_edges(502)
    ((77, 78), (500, 504))
    """
    shift = max(middle_ns.bit_length() - 1 - BINS_LOG2, 0)
    low = middle_ns >> shift << shift
    return low, low + (1 << shift)
