"""sysbench's output (0.4 to 1.1; oltp, fileio, cpu, memory), one run or several in a file: what the client saw.

Tables: `statistic` of `sysbench`, the entity being the run's number of threads (`16 threads`): of each intermediate
report `sysbench.tps`, `.qps`, `.latency_95_ms` (the percentile that was asked for), `.errors`, `.reconnects`; of each
run, over all its time, `sysbench.run_transactions`, `.run_queries`, `.run_events` per second and `.run_latency_min_ms`,
`_avg_ms`, `_max_ms`, `_95_ms`.

They say how quick the server answered, and not what it waited for: no cause is claimed from them. The output has no
times but seconds since the run began: the runs stand one after the other, the last one ends when the file was last
written. Left out: the histogram (it holds the same), totals by kind of query, fairness.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "sysbench"
RANK = Rank.NAMED
NOT_THE_SERVER: Final = "what the client of a load test saw: what the server waited for is not in it"
TITLE: Final = regex(r"^sysbench \d+\.\d+", re.MULTILINE)
THREADS: Final = regex(r"Number of threads: (\d+)")
REPORT: Final = regex(r"\[ *(\d+)s ?\] (?:thds|threads): (\d+),? (.*)$")
FIGURES: Final = (
    ("tps", regex(r"\btps: ([\d.]+)"), "per_s", "rate"),
    ("tps", regex(r"\beps: ([\d.]+)"), "per_s", "rate"),
    ("qps", regex(r"\bqps: ([\d.]+)"), "per_s", "rate"),
    ("errors", regex(r"\b(?:err/s|errors): ([\d.]+)"), "per_s", "rate"),
    ("reconnects", regex(r"\b(?:reconn/s|reconnects): ([\d.]+)"), "per_s", "rate"),
)
PERCENTILE: Final = regex(r"lat \(ms, ?(\d+)%\): ([\d.]+)|response time: ([\d.]+)ms \((\d+)%\)")
SUMS: Final = (
    ("run_transactions", regex(r"\s+transactions: +\d+ +\(([\d.]+) per sec\.\)"), "per_s", "rate"),
    ("run_queries", regex(r"\s+(?:queries|read/write requests): +\d+ +\(([\d.]+) per sec\.\)"), "per_s", "rate"),
    ("run_events", regex(r"\s+events per second: +([\d.]+)"), "per_s", "rate"),
    ("run_latency_min_ms", regex(r"\s+min: +([\d.]+)(?:ms)?$"), "ms", "gauge"),
    ("run_latency_avg_ms", regex(r"\s+avg: +([\d.]+)(?:ms)?$"), "ms", "gauge"),
    ("run_latency_max_ms", regex(r"\s+max: +([\d.]+)(?:ms)?$"), "ms", "gauge"),
)
RUN_PERCENTILE: Final = regex(r"\s+(?:approx\. +)?(\d+)(?:th)? percentile: +([\d.]+)(?:ms)?$")
TOTAL: Final = regex(r"\s+(?:total time|time elapsed): +([\d.]+)s")


@dataclass
class Run:
    """One run: its threads, how long it took, what it reported at which second, and in the end."""

    threads: str = ""
    length_s: float = 0.0
    reports: list[tuple[float, float, dict[str, Any]]] = field(default_factory=list)
    sums: list[dict[str, Any]] = field(default_factory=list)


def sniff(head: str) -> bool:
    """Whether its title or one of its reports is in it."""
    lines = head.splitlines()
    return bool(TITLE.search(head) and THREADS.search(head)) or any(REPORT.match(line) for line in lines[:200])


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`."""
    runs = _runs(source)
    if not any(run.reports or run.sums for run in runs):
        return
    source.note(NOT_THE_SERVER)
    end = untimed(source, 1)[0]
    begin = end - timedelta(seconds=sum(run.length_s for run in runs))
    held = list[dict[str, Any]]()
    for run in runs:
        about = {"host": source.host, "component": "sysbench", "entity": f"{run.threads} threads"}
        for second, interval_s, row in run.reports:
            at = micros(begin + timedelta(seconds=second))
            held.append(about | {"ts": at, "interval_s": interval_s} | row)
        begin += timedelta(seconds=run.length_s)
        held += [about | {"ts": micros(begin), "interval_s": run.length_s or None} | row for row in run.sums]
    yield rows("statistic", held)


def _runs(source: SourceFile) -> list[Run]:
    runs = [Run()]
    second = 0.0
    for _, line in source.lines():
        run = runs[-1]
        if TITLE.match(line) and (run.reports or run.sums):
            runs.append(Run())
            second = 0.0
        elif found := THREADS.match(line):
            run.threads = found[1]
        elif found := REPORT.match(line):
            before, second = second, float(found[1])
            if second <= before:  # of another run, whose title was filtered out
                run, before = Run(), 0.0
                runs.append(run)
            run.threads = run.threads or found[2]
            run.length_s = max(run.length_s, second)
            run.reports += [(second, second - before, row) for row in _reported(found[3])]
        elif found := TOTAL.match(line):
            run.length_s = float(found[1])
        else:
            run.sums += _summed_up(line)
    return runs


def _reported(text: str) -> Iterator[dict[str, Any]]:
    for name, shape, unit, kind in FIGURES:
        if found := shape.search(text):
            yield _figure(name, found[1], unit, kind)
    if found := PERCENTILE.search(text):
        yield _figure(f"latency_{found[1] or found[4]}_ms", found[2] or found[3], "ms", "gauge")


def _summed_up(line: str) -> Iterator[dict[str, Any]]:
    for name, shape, unit, kind in SUMS:
        if found := shape.match(line):
            yield _figure(name, found[1], unit, kind)
    if found := RUN_PERCENTILE.match(line):
        yield _figure(f"run_latency_{found[1]}_ms", found[2], "ms", "gauge")


def _figure(name: str, text: str, unit: str, kind: str) -> dict[str, Any]:
    return {"name": f"sysbench.{name}", "value": float(text), "unit": unit, "kind": kind}
