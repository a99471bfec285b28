"""The load in even steps of time: how long sessions of each kind were at work in a step, and how long it was looked at.

A sample of a session stands for the `interval_s` seconds before it, and so does a row of summed-up waits. Seconds that
lie in two steps are parted between them, so that sessions which are always there give the same load in every step.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from doctord.analyse.load import DIMENSIONS as OF_SESSIONS
from doctord.analyse.time import AT_WORK, foreground_waits
from doctord.dataset.dataset import Dataset

# The column that each dimension is told by: those of a session, and whose it is.
DIMENSIONS: Final = {"host": "host"} | OF_SESSIONS
OF_WAITS: Final = ("host", "server", "wait_class", "event", "wait_kind")
# What sums of minutes tell apart: with single sessions they would be as many as the samples themselves.
WITHOUT_SESSIONS: Final = tuple(name for name in DIMENSIONS if name != "session")
FINEST_S: Final = 1
_US: Final = 1_000_000
_HOST: Final = pl.col("host")


@dataclass(frozen=True, eq=False)
class Steps:
    """The load by steps of `step_s` seconds; step `at` is from `at * step_s` to `(at + 1) * step_s` seconds since 1970.

    Attributes:
        step_s: Seconds of a step.
        active: `at`, the columns of dimensions, `active_s`: seconds that sessions of this kind were at work, and
            `most`: as many of them as were at work on average in any one of the finest steps in it.
        looked: `at`, `host`, `looked_s`: seconds of the step that were looked at; no row where none was. `low`, `high`:
            the fewest and the most sessions of the host at work in any one of the finest steps in it.
    """

    step_s: int
    active: pl.DataFrame
    looked: pl.DataFrame

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions that are told apart."""
        return tuple(name for name, column in DIMENSIONS.items() if column in self.active.columns)


def steps_of(dataset: Dataset, dimensions: Sequence[str] = tuple(DIMENSIONS)) -> Steps:
    """The load of a dataset by the finest steps that its rows tell: of its sampled sessions, or of its sums of waits.

    Args:
        dataset: Sessions, or waits; rows of `cpu` of the whole host tell when it was looked at.
        dimensions: What is to be told apart.
    """
    names, rows = _rows(dataset, dimensions)
    looks = _looks(dataset, rows)
    usual_s = max(float(part["interval_s"].median() or 0.0) for part in (rows, looks))  # type: ignore[arg-type]
    step_s = FINEST_S if usual_s <= 1.5 * FINEST_S else math.ceil(usual_s)
    last = looks.group_by("host").agg(pl.col("end_us").max().alias("last_us"))
    # A host is looked at a moment after its sessions: of that moment nobody knows yet.
    rows = rows.join(last, "host", nulls_equal=True).filter(pl.col("end_us") <= pl.col("last_us"))
    columns = list(dict.fromkeys(DIMENSIONS[name] for name in names))
    active = _by_step(rows, step_s, columns).rename({"amount": "active_s"})
    looked = _by_step(_once(looks), step_s, ["host"]).rename({"amount": "looked_s"})
    return Steps(step_s, active.with_columns(most=pl.col("active_s") / step_s), _with_extremes(looked, active, step_s))


def coarser(steps: Steps, step_s: int) -> Steps:
    """The same in longer steps: of so many seconds, or the next whole multiple of its own."""
    times = -(-step_s // steps.step_s)
    if times == 1:
        return steps
    return added(
        Steps(
            steps.step_s * times, *(part.with_columns(pl.col("at") // times) for part in (steps.active, steps.looked))
        )
    )


def added(steps: Steps) -> Steps:
    """The same with rows of one step and kind added up."""
    kind = [name for name in steps.active.columns if name not in {"active_s", "most"}]
    return Steps(
        steps.step_s,
        steps.active.group_by(kind).agg(pl.col("active_s").sum(), pl.col("most").max()),
        steps.looked.group_by("at", "host").agg(pl.col("looked_s").sum(), pl.col("low").min(), pl.col("high").max()),
    )


def _rows(dataset: Dataset, dimensions: Sequence[str]) -> tuple[tuple[str, ...], pl.DataFrame]:
    """The dimensions that rows tell; their columns, `end_us`, `interval_s`, and `amount`: seconds at work."""
    names = tuple(name for name in DIMENSIONS if name in {"host", *dimensions})
    told, amount = dataset.frame("session"), pl.col("interval_s")
    if told.is_empty():
        names = tuple(name for name in names if name in OF_WAITS)
        told, amount = foreground_waits(dataset), pl.col("average_active_sessions") * pl.col("interval_s")
    else:
        told = dataset.rows("session", AT_WORK, "ts", "interval_s", *dict.fromkeys(DIMENSIONS[name] for name in names))
    columns = (pl.col(DIMENSIONS[name]).cast(pl.String) for name in names)
    times = ("interval_s", pl.col("ts").dt.epoch("us").alias("end_us"), amount.alias("amount"))
    return names, told.filter(pl.col("interval_s") > 0).select(*columns, *times)


def _looks(dataset: Dataset, rows: pl.DataFrame) -> pl.DataFrame:
    """Host, `end_us`, `interval_s` of each look at the host; where nothing tells of it, those of its sessions."""
    looks = dataset.rows("cpu", pl.col("cpu").is_null() & (pl.col("interval_s") > 0), "host", "ts", "interval_s")
    if looks.is_empty():
        return rows.select("host", "end_us", "interval_s").unique()
    return looks.select("host", "interval_s", end_us=pl.col("ts").dt.epoch("us"))


def _once(looks: pl.DataFrame) -> pl.DataFrame:
    """What two looks cover is of the first alone; `amount`: seconds."""
    before_us = pl.col("end_us").shift().cum_max().over("host")
    begin_us = pl.col("end_us") - (pl.col("interval_s") * _US).round().cast(pl.Int64)
    looks = looks.sort("end_us").with_columns(begin_us=pl.max_horizontal(begin_us, before_us))
    seconds = (pl.col("end_us") - pl.col("begin_us")) / _US
    return looks.with_columns(interval_s=seconds, amount=seconds).filter(pl.col("amount") > 0)


def _by_step(rows: pl.DataFrame, step_s: int, columns: Sequence[str]) -> pl.DataFrame:
    """The amounts of rows by step and columns; that of a row is spread evenly over its interval."""
    step_us = step_s * _US
    begin_us = pl.col("end_us") - (pl.col("interval_s") * _US).round().cast(pl.Int64)
    placed = rows.with_columns(begin_us=begin_us).with_columns(
        at=pl.col("begin_us") // step_us, last=(pl.col("end_us") - 1) // step_us
    )
    is_parted = pl.col("at") < pl.col("last")
    inside = placed.filter(~is_parted)
    parted = placed.filter(is_parted).with_columns(pl.int_ranges("at", pl.col("last") + 1).alias("at")).explode("at")
    share = (
        pl.min_horizontal("end_us", (pl.col("at") + 1) * step_us)
        - pl.max_horizontal("begin_us", pl.col("at") * step_us)
    ) / (pl.col("end_us") - pl.col("begin_us"))
    both = pl.concat([inside, parted.with_columns(pl.col("amount") * share)])
    return both.group_by("at", *columns).agg(pl.col("amount").sum())


def _with_extremes(looked: pl.DataFrame, active: pl.DataFrame, step_s: int) -> pl.DataFrame:
    """What was looked at, with the sessions at work in each step; null where that was less than half of the step."""
    of_host = active.group_by("at", "host").agg(pl.col("active_s").sum())
    joined = looked.join(of_host, ["at", "host"], how="left", nulls_equal=True)
    load = pl.col("active_s").fill_null(0.0) / pl.col("looked_s")
    low = pl.when(pl.col("looked_s") >= step_s / 2).then(load).alias("low")
    return joined.select("at", "host", "looked_s", low).with_columns(high=pl.col("low"))
