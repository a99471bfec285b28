"""Columns of a dataset as series to plot: thinned to what a small plot shows, with gaps where nothing was measured."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from doctord.analyse.time import active_sessions, foreground_waits
from doctord.dataset.dataset import Dataset

MOST_STEPS = 240
ROUNDING_S = 0.001
SHOWN_EVERY_S = 5.0  # a collector's own cost and the sampled waits come that often, whether sessions work or not
CLASSES = (
    "CPU",
    "Scheduler",
    "User I/O",
    "System I/O",
    "Commit",
    "Application",
    "Concurrency",
    "Configuration",
    "Network",
    "Other",
)


@dataclass(frozen=True, slots=True)
class Step:
    """A value over a time: seconds since the epoch, and the lowest, mean and highest of the rows that it stands for."""

    start: float
    end: float
    low: float
    mean: float
    high: float


@dataclass(frozen=True, slots=True)
class Series:
    """A named line or layer. Where one step does not start at the end of the one before, nothing was measured.

    `colour` and `dash` number its colour and pattern.
    """

    name: str
    steps: tuple[Step, ...]
    colour: int
    dash: int = 0

    @property
    def mean(self) -> float:
        """Mean over the time that was measured."""
        seconds = sum(step.end - step.start for step in self.steps)
        return sum(step.mean * (step.end - step.start) for step in self.steps) / seconds

    @property
    def highest(self) -> float:
        """Highest value, also of those that were thinned out."""
        return max(step.high for step in self.steps)


def line(name: str, frame: pl.DataFrame, column: str, *, colour: int, dash: int = 0) -> list[Series]:
    """One column of a frame with `ts` and `interval_s` as a list of one series; empty when nothing was measured."""
    rows = frame.drop_nulls(column)
    return [Series(name, steps, colour, dash) for steps in _steps(rows, [column]).values() if steps]


def layers(frame: pl.DataFrame, columns: Mapping[str, tuple[str, int]]) -> list[Series]:
    """Series with the same steps, for a stack; `columns` gives each name its column and colour.

    A column that was never measured is left out; a row that lacks one of the others is a gap.
    """
    measured = {name: part for name, part in columns.items() if frame[part[0]].drop_nulls().len()}
    names = [column for column, _ in measured.values()]
    steps = _steps(frame.drop_nulls(names), names)
    return [Series(name, steps[column], colour) for name, (column, colour) in measured.items()]


def _steps(frame: pl.DataFrame, columns: list[str]) -> dict[str, tuple[Step, ...]]:
    """Steps of each column, about MOST_STEPS at most; rows become one step only where no gap is between them."""
    per_step = math.ceil(max(frame.height, 1) / MOST_STEPS)
    thinned = (
        _segments(frame)
        .with_columns((pl.int_range(pl.len()).over("segment") // per_step).alias("part"))
        .group_by("segment", "part", maintain_order=True)
        .agg(
            pl.col("start").first(),
            pl.col("end").last(),
            *(pl.col(column).min().cast(pl.Float64).alias(f"low {column}") for column in columns),
            *(pl.col(column).mean().alias(f"mean {column}") for column in columns),
            *(pl.col(column).max().cast(pl.Float64).alias(f"high {column}") for column in columns),
        )
    )
    parts = ("start", "end")
    return {
        column: tuple(
            Step(*row) for row in thinned.select(*parts, *(f"{of} {column}" for of in ("low", "mean", "high"))).rows()
        )
        for column in columns
    }


def _segments(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows with start and end in seconds since the epoch, numbered by unbroken segment.

    A reading without an interval stands for the time since the one before. Within a segment each row starts where the
    one before ended, whatever the clock of the sampler did; a row that begins over half an interval later is a new one.
    """
    end = pl.col("ts").dt.epoch("us") / 1e6
    timed = frame.with_columns(end.alias("end"))
    usual_s = timed["end"].diff().median()
    length = pl.col("interval_s").fill_null(usual_s if isinstance(usual_s, float) and usual_s > 0 else 1.0)
    gap = (pl.col("end") - length - pl.col("end").shift(1) > length / 2).fill_null(value=False)
    return timed.with_columns(
        gap.cum_sum().alias("segment"),
        pl.when(gap).then(None).otherwise(pl.col("end").shift(1)).fill_null(pl.col("end") - length).alias("start"),
    )


def active_by_class(dataset: Dataset) -> list[Series]:
    """Average active sessions by wait class, from sampled sessions, or else from the server's own count of waits."""
    frame = _sampled_by_class(dataset)
    if frame.is_empty():
        frame = _counted_by_class(dataset)
    known = [name for name in frame.columns if name in CLASSES]
    return layers(frame, {name: (name, CLASSES.index(name)) for name in sorted(known, key=CLASSES.index)})


def _counted_by_class(dataset: Dataset) -> pl.DataFrame:
    waits = foreground_waits(dataset).filter(pl.col("wait_class").is_not_null())
    return waits.pivot(
        on="wait_class", index=["ts", "interval_s"], values="average_active_sessions", aggregate_function="sum"
    ).sort("ts")


def _sampled_by_class(dataset: Dataset) -> pl.DataFrame:
    """One row per time bucket in which a database server was seen, one column per wait class.

    A bucket without a session at work is zero only when the server gave something else in it; else it is left out.
    """
    if dataset.since is None or dataset.until is None:
        return pl.DataFrame()
    since_s, until_s = dataset.since.timestamp(), dataset.until.timestamp()
    width_s = max(1.0, (until_s - since_s) / MOST_STEPS)
    seen = _seen_buckets(dataset, since_s, until_s, width_s)
    sampled = _seconds_by_bucket(active_sessions(dataset), since_s, width_s)
    classes = [name for name in sampled.columns if name in CLASSES]
    start = pl.lit(since_s) + pl.col("bucket") * width_s
    end = pl.min_horizontal(start + width_s, pl.lit(until_s))
    return (
        seen.join(sampled, on="bucket", how="left")
        .sort("bucket")
        .with_columns((pl.col(name).fill_null(0) / (end - start)).alias(name) for name in classes)
        .with_columns(pl.from_epoch((end * 1e6).cast(pl.Int64), "us").alias("ts"), (end - start).alias("interval_s"))
    )


def _seconds_by_bucket(sessions: pl.DataFrame, since_s: float, width_s: float) -> pl.DataFrame:
    """Seconds of sampled sessions by bucket and, in columns, wait class."""
    middle = pl.col("ts").dt.epoch("us") / 1e6 - pl.col("interval_s").fill_null(0) / 2
    return sessions.with_columns(
        ((middle - since_s) / width_s).floor().cast(pl.Int64).alias("bucket"),
        pl.when(pl.col("wait_class").is_in(CLASSES)).then("wait_class").otherwise(pl.lit("Other")),
    ).pivot(on="wait_class", index="bucket", values="interval_s", aggregate_function="sum")


def _seen_buckets(dataset: Dataset, since_s: float, until_s: float, width_s: float) -> pl.DataFrame:
    """The buckets that rows of a database server cover, and a little more: an idle server shows only so often."""
    rows = pl.concat(
        dataset.frame(table).filter(pl.col("db").is_not_null()).select("ts", "interval_s").unique()
        for table in ("session", "statistic", "statement")
    ).unique()
    tail = rows.select(
        pl.col("ts").max() + pl.duration(seconds=SHOWN_EVERY_S), pl.lit(SHOWN_EVERY_S).alias("interval_s")
    )
    rows = pl.concat([rows, tail.drop_nulls()])
    end = pl.col("ts").dt.epoch("us") / 1e6 - since_s
    first = ((end - pl.col("interval_s").fill_null(0) + ROUNDING_S) / width_s).floor().cast(pl.Int64)
    last = ((end - ROUNDING_S) / width_s).floor().cast(pl.Int64)
    buckets = pl.int_ranges(first, pl.max_horizontal(first, last) + 1).alias("bucket")
    highest = math.ceil((until_s - since_s) / width_s)
    return rows.select(buckets).explode("bucket").unique().filter(pl.col("bucket").is_between(0, highest - 1))
