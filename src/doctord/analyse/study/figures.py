"""Measures of a period beside database time: load tests, statements, timings, what people noted, and the host."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import polars as pl

from doctord.analyse.capacity.series import stepped
from doctord.analyse.study.grid import MOST_STEPS
from doctord.analyse.study.measure import Better, Key, Measure, better_of
from doctord.analyse.study.samples import FEWEST, Samples
from doctord.analyse.study.spent import MEASURED
from doctord.dataset.common_statistics import COMMON
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import own_figures

LOAD_TESTS: Final = ("pgbench", "sysbench", "fio")
# Where the names of a statistic are nobody's but its keeper's.
KEPT: Final = ("noted", "workload")
SYSSTAT: Final = "v$sysstat."
MOST_KEPT: Final = 50  # names: a report tells hundreds, and nobody chose them
OF_HOST: Final = ("cpu", "host memory", "storage", "network")
TIMES: Final = ("s", "ms", "us")
MOST_STATEMENTS: Final = 50  # of each period, those that took most of its time
DAY_S: Final = 86_400.0
_COMMON_NAMES: Final = [name for one in COMMON.values() for names in one.names.values() for name in names]


def figures(dataset: Dataset) -> Iterator[Measure]:
    """All of them."""
    yield from load_tests(dataset)
    yield from timings(dataset)
    yield from noted(dataset)
    yield from common(dataset)
    yield from statements(dataset)
    yield from host(dataset)
    yield from requests(dataset)
    yield from translation(dataset)


def load_tests(dataset: Dataset) -> Iterator[Measure]:
    """What clients of a load test saw: rates, better high, and latencies, better low."""
    rows = dataset.frame("statistic").filter(pl.col("component").is_in(LOAD_TESTS))
    for name, entity, unit, part in _named(rows):
        better: Better | None = "high" if unit.endswith("per_s") else "low"
        # A line of a run as a whole is a run of its own, whatever came before it.
        of_run = ".run_" in name or part.height < FEWEST
        yield _measure(Key("run", name, entity), unit, better, part, are_runs=of_run)


def noted(dataset: Dataset) -> Iterator[Measure]:
    """What people wrote down of a state, under names of their own, or as a short list of Oracle's."""
    statistics = dataset.frame("statistic")
    is_listed = (pl.col("component") == "oracle") & pl.col("name").str.starts_with(SYSSTAT)
    listed = statistics.filter(is_listed & ~pl.col("name").is_in(_COMMON_NAMES))
    few = listed if listed["name"].n_unique() <= MOST_KEPT else listed.clear()
    for rows in (statistics.filter(pl.col("component").is_in(KEPT)), few):
        for name, entity, unit, part in _named(rows):
            yield _measure(Key("figure", name, entity), unit, better_of(name, unit), part)


def common(dataset: Dataset) -> Iterator[Measure]:
    """The statistics that all vendors have, under their common names: each says how much was done, or went wrong."""
    statistics = dataset.frame("statistic").filter(pl.col("value").is_not_null() & MEASURED)
    for name, one in COMMON.items():
        own = {known for names in one.names.values() for known in names}
        rows = statistics.filter(pl.col("name").is_in(own))
        if rows.height:
            by_time = rows.group_by("ts", maintain_order=True).agg(pl.col("interval_s").max(), pl.col("value").sum())
            yield _measure(Key("figure", name), one.unit, "low" if name == "deadlocks" else None, by_time)


def timings(dataset: Dataset) -> Iterator[Measure]:
    """How long runs and their steps took (s), and requests over a limit, scaled to a day of what was measured.

    Where requests are counted, the length is that of the measurement, and no result.
    """
    rows = dataset.frame("timing").drop_nulls("duration_s")
    for (run, step), part in rows.partition_by("run", "step", as_dict=True, maintain_order=True).items():
        name = " ".join(str(word) for word in (run, step) if word is not None)
        over = part.drop_nulls("over_limit")
        if over.height:
            day = Samples.of(over["over_limit"].to_numpy() * DAY_S, over["duration_s"].to_numpy(), are_runs=True)
            yield Measure(Key("run", "over limit per day", name), "requests_per_day", "low", day)
        elif part["requests"].null_count() == part.height:
            took = Samples.of(part["duration_s"].to_numpy(), 1.0, are_runs=True)
            yield Measure(Key("run", "time", name), "s", "low", took)


def statements(dataset: Dataset) -> Iterator[Measure]:
    """The time of one execution (ms) of the statements that took most of the time."""
    rows = dataset.frame("statement").filter(pl.col("calls_per_s") > 0).drop_nulls(["elapsed_s_per_s", "statement_id"])
    weight = pl.col("interval_s").fill_null(1.0)
    counted = rows.with_columns(
        (pl.col("elapsed_s_per_s") * weight * 1000).alias("spent_ms"), (pl.col("calls_per_s") * weight).alias("calls")
    )
    parts = counted.partition_by("statement_id", as_dict=True, maintain_order=True).items()
    for (statement,), part in sorted(parts, key=lambda one: -float(one[1]["spent_ms"].sum()))[:MOST_STATEMENTS]:
        by_time = part.group_by("ts", maintain_order=True).agg(pl.col("spent_ms", "calls").sum(), pl.col("text").last())
        samples = Samples.of(by_time["spent_ms"].to_numpy(), by_time["calls"].to_numpy())
        covered = float(part.unique("ts", maintain_order=True)["interval_s"].fill_null(1.0).sum())
        spent_s = float(part["spent_ms"].sum()) / 1000 / covered if covered else None
        text = by_time["text"].drop_nulls()
        yield Measure(Key("statement", str(statement), text[-1] if len(text) else ""), "ms", "low", samples, spent_s)


def host(dataset: Dataset) -> Iterator[Measure]:
    """The figures of the host that are worth keeping (`dataset/figures.toml`); times are better low."""
    if dataset.since is None or dataset.until is None:
        return
    span_s = (dataset.until - dataset.since).total_seconds()
    step_s = max(1, round(span_s / MOST_STEPS))
    for figure in own_figures():
        if figure.component not in OF_HOST or dataset.frame(figure.table).is_empty():
            continue
        steps = stepped(dataset.frame(figure.table), figure, step_s)
        for (entity,), part in steps.partition_by("entity", as_dict=True, maintain_order=True).items():
            weight = part["weight"].to_numpy()
            samples = Samples.of(part["value"].to_numpy() * weight, weight, weight)
            better: Better | None = "low" if figure.unit in TIMES else None
            yield Measure(Key("figure", figure.title, str(entity or "")), figure.unit, better, samples)


def requests(dataset: Dataset) -> Iterator[Measure]:
    """The least and the largest request (bytes) of a trace of I/O, by device and operation: whether some are split."""
    rows = dataset.frame("block_io").drop_nulls("bytes")
    for (device, operation), part in rows.partition_by(
        "device", "operation", as_dict=True, maintain_order=True
    ).items():
        of = " ".join(str(word) for word in (device, operation) if word is not None)
        for name, size in (("smallest I/O", part["bytes"].min()), ("largest I/O", part["bytes"].max())):
            yield Measure(Key("figure", name, of), "bytes", None, Samples.of(size, 1.0))


def translation(dataset: Dataset) -> Iterator[Measure]:
    """The share of time of a CPU that goes into misses of its TLB and TSB, in user and kernel mode together (%)."""
    spent = pl.sum_horizontal("itlb_pct", "itsb_pct", "dtlb_pct", "dtsb_pct")
    rows = dataset.frame("translation")
    if rows.is_empty():
        return
    by_cpu = rows.group_by("ts", "cpu", maintain_order=True).agg(spent.sum().alias("value"), pl.col("interval_s").max())
    by_time = by_cpu.group_by("ts", maintain_order=True).agg(pl.col("value").mean(), pl.col("interval_s").max())
    yield _measure(Key("figure", "time in TLB and TSB misses"), "pct", "low", by_time)


def _named(rows: pl.DataFrame) -> Iterator[tuple[str, str, str, pl.DataFrame]]:
    """Rows of `statistic` by name and entity: both, the unit, and the rows in order of time."""
    known = rows.drop_nulls(["name", "value"])
    for (name, entity), part in known.partition_by("name", "entity", as_dict=True, maintain_order=True).items():
        units = part["unit"].drop_nulls()
        yield str(name), str(entity or ""), str(units[0]) if len(units) else "", part.sort("ts", maintain_order=True)


def _measure(key: Key, unit: str, better: Better | None, part: pl.DataFrame, *, are_runs: bool = False) -> Measure:
    weight = np.ones(part.height) if are_runs else part["interval_s"].fill_null(1.0).to_numpy()
    samples = Samples.of(part["value"].to_numpy() * weight, weight, part["interval_s"].fill_null(0.0).to_numpy())
    return Measure(key, unit, better, Samples(samples.amount, samples.per, samples.seconds, are_runs))
