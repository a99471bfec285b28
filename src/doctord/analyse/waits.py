"""Wait events as a server counted them: how often, how long, and the time that went into them.

Rows of `wait` come from reports over whole intervals (AWR, Statspack). Sampled waits are in `session` instead.
"""

from dataclasses import dataclass, replace

import polars as pl

from doctord.analyse.latency.counted import CountedWait, are_alone, counted_waits
from doctord.dataset.dataset import Dataset
from doctord.dataset.waits.events import kind_of

INSTANCE = ("db", "instance")


@dataclass(frozen=True, slots=True)
class Wait:
    """One wait event over the intervals that were reported, all instances together.

    `ms` is the mean duration, weighted by the number of waits; null where that is not known, as `per_second` is.
    """

    event: str
    wait_class: str
    wait_kind: str | None
    seconds_per_second: float
    per_second: float | None
    ms: float | None


def foreground(dataset: Dataset) -> dict[str, Wait]:
    """What client sessions waited for, by event; where a report does not tell sessions apart, what all waited for.

    What is told in seconds alone has its number and mean of the event's histogram; without any waits or sessions the
    histograms alone say what was waited for.
    """
    told = _by_event(dataset, "foreground")
    if not told and are_alone(dataset):
        return {event: _counted(wait) for event, wait in counted_waits(dataset).items()}
    untimed = frozenset(event for event, wait in told.items() if wait.ms is None and wait.wait_kind != "cpu")
    histograms = counted_waits(dataset, untimed) if untimed else {}
    return {event: _completed(wait, histograms.get(event)) for event, wait in told.items()}


def _counted(wait: CountedWait) -> Wait:
    return Wait(wait.event, wait.wait_class, wait.wait_kind, wait.seconds_per_second, wait.per_second, wait.ms)


def _completed(wait: Wait, counted: CountedWait | None) -> Wait:
    if counted is None:
        return wait
    return replace(wait, ms=counted.ms, per_second=counted.per_second if wait.per_second is None else wait.per_second)


def background(dataset: Dataset) -> dict[str, Wait]:
    """What background processes waited for, by event; likewise."""
    return _by_event(dataset, "background")


def reported(dataset: Dataset) -> pl.DataFrame:
    """Seconds that reports of waits cover, for each instance: columns db, instance, seconds."""
    intervals = _weighted(dataset).select(*INSTANCE, "ts", "weight").unique(maintain_order=True)
    return intervals.group_by(*INSTANCE, maintain_order=True).agg(pl.col("weight").sum().alias("seconds"))


def _weighted(dataset: Dataset) -> pl.DataFrame:
    """Rows of `wait` with their weight: the interval; a list without one (of top events, say) stands for itself."""
    return dataset.derived("wait", _with_weight)


def _with_weight(wait: pl.DataFrame) -> pl.DataFrame:
    return wait.with_columns(weight=pl.col("interval_s").fill_null(1.0)).filter(pl.col("weight") > 0)


def _by_event(dataset: Dataset, kind: str) -> dict[str, Wait]:
    rows = (
        _weighted(dataset)
        .drop_nulls("event")
        .filter((pl.col("kind") == kind) | pl.col("kind").is_null())
        .join(reported(dataset), on=INSTANCE, nulls_equal=True, maintain_order="left")
        .with_columns(part=pl.col("weight") / pl.col("seconds"), count=pl.col("waits_per_s") * pl.col("weight"))
    )
    timed = pl.col("avg_wait_ms").is_not_null() & (pl.col("count") > 0)
    # without an interval it is not known how many there were in a second of the clock
    known = (pl.col("count").is_not_null() & pl.col("interval_s").is_not_null()).any()
    grouped = rows.group_by("event", maintain_order=True).agg(
        pl.col("wait_class", "wait_kind").drop_nulls().last(),
        (pl.col("average_active_sessions") * pl.col("part")).sum().alias("seconds_per_second"),
        pl.when(known).then((pl.col("waits_per_s") * pl.col("part")).sum()).alias("per_second"),
        pl.when(timed.any()).then((pl.col("avg_wait_ms") * pl.col("count")).filter(timed).sum()).alias("timed_ms"),
        pl.col("count").filter(timed).sum().alias("timed"),
    )
    return {row["event"]: _wait(row) for row in grouped.iter_rows(named=True)}


def _wait(row: dict[str, str | float | None]) -> Wait:
    seconds, per_second = float(row["seconds_per_second"] or 0.0), row["per_second"]
    timed_ms, timed = row["timed_ms"], row["timed"]
    event, wait_class = str(row["event"]), str(row["wait_class"] or "Other")
    ms = None
    if timed_ms is not None and timed:
        ms = float(timed_ms) / float(timed)
    elif seconds and per_second:
        ms = seconds * 1000 / float(per_second)
    return Wait(
        event=event,
        wait_class=wait_class,
        wait_kind=str(row["wait_kind"]) if row["wait_kind"] else kind_of(event, wait_class),
        seconds_per_second=seconds,
        per_second=None if per_second is None else float(per_second),
        ms=ms,
    )
