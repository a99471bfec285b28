"""Figures over time: evenly spaced steps, what was not measured being NaN, never zero."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure

HOUR_S = 3600
DAY_S = 86_400
MOST_STEPS = 200_000  # twenty years of hours: more is a clock that was wrong

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labels:
    """Whom a series is about.

    Attributes:
        host: Host, null where the source does not tell it.
        db: Database server, null for the host's own.
        entity: From the figure's `each` columns; empty or null: all of it.
    """

    host: str | None = None
    db: str | None = None
    entity: str | None = None


@dataclass(frozen=True, eq=False)
class Series:
    """One figure of one entity over time.

    Attributes:
        figure: What it is.
        labels: Whom it is about.
        step_s: Seconds of a step.
        start: End of the first step.
        values: One for each step; NaN where nothing was measured.
        low, high: Least and largest row of each step; NaN likewise.
        of: What the values are: a percentile of the rows of each step (`p95`); empty: as the figure is summed.
    """

    figure: Figure
    labels: Labels
    step_s: int
    start: datetime
    values: Numbers
    low: Numbers
    high: Numbers
    of: str = ""

    @property
    def name(self) -> str:
        """The figure's title, and whom it is about."""
        about = [part for part in (self.labels.host, self.labels.db, self.labels.entity) if part]
        title = f"{self.figure.title}, {self.of}" if self.of else self.figure.title
        return f"{title} ({', '.join(about)})" if about else title

    @property
    def end(self) -> datetime:
        """When the last step ends, UTC."""
        return self.at(len(self.values) - 1)

    def at(self, step: float) -> datetime:
        """The end of a step; steps after the last are yet to come."""
        return self.start + timedelta(seconds=self.step_s * step)


def series_of(dataset: Dataset, figures: Iterable[Figure], step_s: int = HOUR_S) -> Iterator[Series]:
    """The series of a dataset, a step each so many seconds; a row belongs to the step in which its interval ends."""
    for figure in figures:
        steps = stepped(dataset.frame(figure.table), figure, step_s)
        for key, part in steps.group_by("host", "db", "entity", maintain_order=True):
            yield spaced(figure, Labels(*map(text_of, key)), step_s, part)


def stepped(frame: pl.DataFrame, figure: Figure, step_s: int = HOUR_S) -> pl.DataFrame:
    """A figure by step: host, db, entity, ts (end of the step), value, low, high, count, weight; where rows are."""
    value, weight = pl.col("value"), pl.col("weight")
    summed = {
        "mean": (value * weight).sum() / weight.sum(),
        "max": value.max(),
        "min": value.min(),
        "last": value.sort_by("ts", maintain_order=True).last(),
    }[figure.sum]
    return (
        valued(frame, figure, step_s)
        .group_by("host", "db", "entity", "step_us", maintain_order=True)
        .agg(
            summed.alias("value"),
            value.min().alias("low"),
            value.max().alias("high"),
            pl.len().alias("count"),
            weight.sum(),
        )
        .with_columns(pl.from_epoch("step_us", "us").dt.replace_time_zone("UTC").alias("ts"))
        .drop("step_us")
        .sort("host", "db", "entity", "ts", maintain_order=True)
    )


def valued(frame: pl.DataFrame, figure: Figure, step_s: int = HOUR_S) -> pl.DataFrame:
    """A figure by measured row: host, db, entity, step_us (end of its step, since 1970), ts, value, weight."""
    rows = frame.filter(pl.sql_expr(figure.where)) if figure.where else frame
    db = pl.col("db") if "db" in frame.columns else pl.lit(None, pl.String)
    entity = pl.concat_str(*figure.each, separator=" ", ignore_nulls=True) if figure.each else pl.lit("")
    step_us = step_s * 1_000_000
    return rows.select(
        "host",
        db.alias("db"),
        entity.alias("entity"),
        (-(-pl.col("ts").dt.epoch("us") // step_us) * step_us).alias("step_us"),
        "ts",
        pl.sql_expr(figure.value).cast(pl.Float64).alias("value"),
        pl.sql_expr(figure.weight).cast(pl.Float64).fill_null(1.0).alias("weight"),
    ).filter(pl.col("value").is_finite() & (pl.col("weight") > 0))


def spaced(figure: Figure, labels: Labels, step_s: int, steps: pl.DataFrame) -> Series:
    """Steps of one entity (ts, value, low, high) as a series; what lies too far before the last one is left out."""
    numbers = (steps["ts"].dt.epoch("us") // (step_s * 1_000_000)).to_numpy()
    numbers, kept = numbers[numbers > numbers[-1] - MOST_STEPS], numbers > numbers[-1] - MOST_STEPS
    first = int(numbers[0])
    filled = {}
    for name in ("value", "low", "high"):
        filled[name] = np.full(int(numbers[-1]) - first + 1, np.nan)
        filled[name][numbers - first] = steps[name].to_numpy()[kept]
    start = datetime.fromtimestamp(first * step_s, UTC)
    return Series(figure, labels, step_s, start, filled["value"], filled["low"], filled["high"])


def text_of(value: object) -> str | None:
    """A key of a group as text; null stays null."""
    return None if value is None else str(value)
