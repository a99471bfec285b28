"""The engine: every cause looks at the case; what one explains of another is set below it; the rest is ranked."""

import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from doctord.analyse.block_sizes import Sizes, block_sizes
from doctord.chart.calltrace import Trace
from doctord.chart.chart import Chart
from doctord.diagnose import causes
from doctord.diagnose.case import Case
from doctord.diagnose.cause import CAUSES
from doctord.diagnose.finding import Diagnosis, Finding
from doctord.diagnose.words import in_bytes, in_share

MOST_TRACED = 6  # devices and operations of an I/O trace that are told of
MOST_SIZES = 4
for _module in pkgutil.iter_modules(causes.__path__):
    importlib.import_module(f"{causes.__name__}.{_module.name}")


def diagnose(chart: Chart, earlier: Chart | None = None, trace: Trace | None = None) -> Diagnosis:
    """Diagnose one interval.

    Args:
        chart: what was measured in it.
        earlier: the same patient before, to judge by its own past; absolute rules alone are used without it.
        trace: system calls of its processes; the time is then that of the trace.

    Returns:
        The verdict, with findings in order of damage.
    """
    case = Case(chart, earlier, trace)
    found = [finding for cause in CAUSES.values() for finding in cause.findings(case)]
    interval = (chart.since, chart.until) if chart.since and chart.until else None
    findings = tuple(replace(finding, interval=interval) for finding in ranked(explained(found)))
    return Diagnosis(
        host=_host(chart),
        since=chart.since,
        until=chart.until,
        time_of=case.time.of,
        time=case.time.shares,
        findings=findings,
        looked_at=_looked_at(case),
        unseen=case.unseen() + case.gaps(),
        figures=tuple((vital.name, vital.text) for vital in case.vitals.values()),
    )


def explained(findings: Iterable[Finding]) -> list[Finding]:
    """Mark findings that another finding explains; of several that do, the one with the largest impact counts."""
    found = sorted(findings, key=_damage)
    result = []
    for finding in found:
        by = next((other.cause for other in found if finding.cause in CAUSES[other.cause].explains), None)
        result.append(replace(finding, explained_by=by))
    return result


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Most damage first, each followed by what it explains."""
    ordered = sorted(findings, key=_damage)
    names = {finding.cause for finding in ordered}

    def below(cause: str) -> Iterable[Finding]:
        for finding in ordered:
            if finding.explained_by == cause:
                yield finding
                yield from below(finding.cause)

    roots = [finding for finding in ordered if finding.explained_by not in names]
    result: list[Finding] = []
    for root in roots:
        result += [finding for finding in (root, *below(root.cause)) if finding not in result]
    return result


def _damage(finding: Finding) -> tuple[float, float, str]:
    return (-(finding.impact.share or 0.0) * finding.confidence, -finding.confidence, finding.cause)


def _host(chart: Chart) -> str:
    names = {name for table in chart.tables for name in chart.frame(table)["host"].drop_nulls().unique()}
    return ", ".join(sorted(names)) or "unknown host"


def _sums_of_waits(case: Case, sampled: pl.Series) -> list[str]:
    """A line for each database that told its waits in sum alone: how many reports, of how many events."""
    waits = case.chart.frame("wait").filter(pl.col("db").is_not_null() & ~pl.col("db").is_in(sampled.implode()))
    by_db = waits.group_by("db").agg(pl.col("ts").n_unique(), pl.col("event").n_unique()).sort("db")
    return [f"{db}: waits in sum, {events} events, {times} intervals" for db, times, events in by_db.rows()]


def _traced(sizes: Sizes) -> str:
    """What an I/O trace tells of one device: the sizes that arrive, and whether they are pieces of larger ones."""
    most = ", ".join(f"{in_bytes(size)} ({count})" for size, count in sizes.sizes[:MOST_SIZES])
    parts = [f"{sizes.requests} {sizes.operation}s of {sizes.device} traced: {most}"]
    if sizes.continued:
        parts.append(f"{in_share(sizes.continued)} begin where the one before ended")
    if sizes.whole_block:
        parts.append(f"all are multiples of {in_bytes(sizes.whole_block)}: blocks of that size arrive whole")
    return "; ".join(parts)


def _looked_at(case: Case) -> tuple[str, ...]:
    """One line per table that held something: how much, over how long."""
    lines = [f"{case.cpus} CPUs over {case.seconds:.0f} s"] if case.cpus else []
    if case.processes.height:
        lines.append(f"{case.processes.height} processes")
    for table, column, words in (
        ("disk", "device", "disks"),
        ("filesystem", "mount", "file systems"),
        ("network", "interface", "network interfaces"),
    ):
        count = case.chart.frame(table)[column].drop_nulls().n_unique()
        if count:
            lines.append(f"{count} {words if count > 1 else words[:-1]}")
    lines += [_traced(sizes) for sizes in block_sizes(case.chart)[:MOST_TRACED]]
    sampled = case.chart.frame("session").filter(pl.col("db").is_not_null())
    by_db = sampled.group_by("db").agg(pl.len(), pl.col("sid").n_unique()).sort("db")
    lines += [f"{db}: {samples} samples of sessions, {sids} sessions at work" for db, samples, sids in by_db.rows()]
    lines += _sums_of_waits(case, by_db["db"])
    told = {*by_db["db"], *case.chart.frame("wait")["db"]}
    lines += [f"{db}: no session at work" for db in case.dbs if db not in told]
    statistics = case.chart.frame("statistic").height
    return (*lines, f"{statistics} other figures, {case.chart.frame('setting').height} settings")
