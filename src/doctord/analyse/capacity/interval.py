"""The step in which a source can be read: no finer than it measured, or most steps would hold nothing."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np
import polars as pl

from doctord.analyse.capacity.series import DAY_S, HOUR_S, Series, series_of, spaced
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure

STEPS_S = (60, 300, 600, 900, 1800, HOUR_S, 2 * HOUR_S, 4 * HOUR_S, 6 * HOUR_S, 12 * HOUR_S, DAY_S, 7 * DAY_S)
_JITTER = 1.1  # a sample of an hour may take a little longer


def series_at_interval(dataset: Dataset, figures: Iterable[Figure], least_step_s: int) -> Iterator[Series]:
    """The series of a dataset, each table's in the step that it was measured in, or a longer one."""
    for table, own in groupby(sorted(figures, key=lambda figure: figure.table), key=lambda figure: figure.table):
        yield from series_of(dataset, own, step_of(dataset.frame(table), least_step_s))


def step_of(frame: pl.DataFrame, least_s: int) -> int:
    """Seconds of a step, at least so many: the usual time between two moments at which a host was measured."""
    between_s = (
        frame.select("host", "ts")
        .unique(maintain_order=True)
        .sort("host", "ts", maintain_order=True)
        .select(pl.col("ts").diff().over("host").dt.total_seconds(fractional=True))
        .to_series()
        .median()
    )
    return _at_least(max(least_s, (between_s if isinstance(between_s, float) else 0.0) / _JITTER))


def at_its_interval(series: Series) -> Series:
    """A series in the step that it was measured in, where most of its own steps hold nothing."""
    measured = np.flatnonzero(~np.isnan(series.values))
    every = float(np.median(np.diff(measured))) if measured.size > 1 else 1.0
    step_s = _at_least(every * series.step_s / _JITTER)
    if every <= 1 or step_s <= series.step_s:
        return series
    ends_s = round(series.start.timestamp()) + series.step_s * measured
    columns = {"value": series.values[measured], "low": series.low[measured], "high": series.high[measured]}
    value = pl.col("value")
    summed = {"mean": value.mean(), "max": value.max(), "min": value.min(), "last": value.last()}[series.figure.sum]
    steps = (
        pl.DataFrame({"end_s": -(-ends_s // step_s) * step_s} | columns)
        .group_by("end_s", maintain_order=True)
        .agg(summed, pl.col("low").min(), pl.col("high").max())
        .with_columns(pl.from_epoch("end_s", "s").alias("ts"))
    )
    return spaced(series.figure, series.labels, step_s, steps)


def _at_least(wanted_s: float) -> int:
    return next((step for step in STEPS_S if step >= wanted_s), STEPS_S[-1])
