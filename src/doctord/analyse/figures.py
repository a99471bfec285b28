"""Looking up figures of a dataset: means weighted by the interval that each row covers."""

from typing import NamedTuple

import numpy as np
import polars as pl

from doctord.dataset.dataset import Dataset

CPUS = "v$osstat.NUM_CPUS"
MESSAGES = "log.messages"
# So much of an interval (0 to 1) may seem to be told twice by clocks that are read at slightly different moments.
CLOCKS_DIFFER = 0.1


class Statistic(NamedTuple):
    """One named figure of one entity over the interval: its mean, its last and its largest reading.

    `seconds` is how long it was measured for; 0 of readings of single moments.
    """

    db: str | None
    instance: str | None
    entity: str | None
    name: str
    mean: float
    last: float
    largest: float
    unit: str
    seconds: float


def figures(dataset: Dataset, name: str) -> list[Statistic]:
    """The figures of that name in `statistic`, one per server, instance and entity, largest mean first."""
    return [*dataset.derived("statistic", _by_name).get(name, ())]


def _by_name(statistic: pl.DataFrame) -> dict[str, list[Statistic]]:
    """All at once: a diagnosis asks for hundreds of names, and to look through all rows for each takes longer."""
    weight = pl.col("interval_s").fill_null(1.0)
    known = statistic.filter(pl.col("value").is_not_null() & pl.col("name").is_not_null())
    silence = _silence(known)
    grouped = (
        (known if silence.is_empty() else pl.concat([silence, known]))
        .group_by("db", "instance", "entity", "name", maintain_order=True)
        .agg(
            ((pl.col("value") * weight).sum() / weight.sum()).alias("mean"),
            pl.col("value").last().alias("last"),
            pl.col("value").max().alias("largest"),
            pl.col("unit").last().fill_null(""),
            pl.col("interval_s").sum().alias("seconds"),
        )
        .sort("mean", descending=True, maintain_order=True)
    )
    found = dict[str, list[Statistic]]()
    for figure in (Statistic(*row) for row in grouped.iter_rows()):
        found.setdefault(figure.name, []).append(figure)
    return found


def _silence(statistic: pl.DataFrame) -> pl.DataFrame:
    """Rows of 0 for the time in which a log told nothing of what it told at other times.

    A log is summed up by the minute, and of a minute without such a message there is no row; that it was written all
    along, its first and last message say.
    """
    messages = statistic.filter(pl.col("name") == MESSAGES)
    if messages.is_empty():
        return statistic.clear()
    minutes = messages.select("db", "ts").unique(maintain_order=True)
    began, ended = (pl.col("ts") - pl.duration(microseconds=pl.col("interval_s") * 1e6)).min(), pl.col("ts").max()
    spans = messages.group_by("db", maintain_order=True).agg(
        ((ended - began).dt.total_microseconds() / 1e6).alias("#s")
    )
    silent_s = pl.col("#s").first() - pl.col("interval_s").sum()
    return (
        statistic.filter(pl.col("kind") == "rate")
        .join(minutes, on=["db", "ts"], how="semi", nulls_equal=True, maintain_order="left")
        .join(spans, on="db", nulls_equal=True, maintain_order="left")
        .group_by("db", "instance", "entity", "name", maintain_order=True)
        .agg(pl.exclude("#s", "value", "interval_s").first(), pl.lit(0.0).alias("value"), silent_s.alias("interval_s"))
        .filter(pl.col("interval_s") > 0)
        .select(statistic.columns)
    )


def told_once(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows about hosts as a whole, each with as much of its `interval_s` as no row of the same host before it covers.

    A report over an hour and a tool that printed a minute of it tell of that minute twice. Rows of which nothing is
    left are left out; readings of a moment stay as they are. A row without a host is of the one that others name.
    """
    if frame.height < 2:
        return frame
    names = frame["host"].drop_nulls().unique(maintain_order=True)
    if names.len() < 2 and _follow_each_other(frame):
        return frame
    host = pl.col("host").fill_null(names[0]) if names.len() == 1 else pl.col("host")
    end_s, length_s = pl.col("ts").dt.timestamp("us") / 1e6, pl.col("interval_s")
    timed = frame.filter(length_s > 0).with_columns(host.alias("#host"), end_s.alias("#end"))
    ordered = timed.sort(pl.col("#end") - length_s, -length_s, maintain_order=True)
    told_until = pl.col("#end").cum_max().shift(1).over("#host").fill_null(float("-inf"))
    left_s = (pl.col("#end") - pl.max_horizontal(pl.col("#end") - length_s, told_until)).clip(lower_bound=0)
    is_new = left_s >= length_s * (1 - CLOCKS_DIFFER)
    left = ordered.with_columns(pl.when(is_new).then(length_s).otherwise(left_s).alias("interval_s"))
    return pl.concat([left.filter(length_s > 0).select(frame.columns), frame.filter(length_s.is_null())])


def _follow_each_other(frame: pl.DataFrame) -> bool:
    """Whether no interval begins before the one before it has ended, but for what clocks differ: as of one source."""
    if frame["interval_s"].null_count() or frame["ts"].null_count():
        return False
    end_s, length_s = frame["ts"].dt.timestamp("us").to_numpy() / 1e6, frame["interval_s"].to_numpy()
    begins_s = end_s - length_s
    in_order = (begins_s[1:] >= begins_s[:-1]).all() and (end_s[1:] >= end_s[:-1]).all()
    left_s = np.clip(end_s[1:] - np.maximum(begins_s[1:], end_s[:-1]), 0.0, None)
    return bool(in_order and (length_s > 0).all() and (left_s >= length_s[1:] * (1 - CLOCKS_DIFFER)).all())


def mean(frame: pl.DataFrame, column: str) -> float | None:
    """Mean of a column weighted by `interval_s` (point readings weigh the same); null when nothing was measured."""
    unknown = frame[column].null_count()
    if unknown == frame.height:
        return None
    measured = frame.filter(pl.col(column).is_not_null()) if unknown else frame
    weight = measured["interval_s"].fill_null(1.0)
    total = float(weight.sum())
    return float((measured[column] * weight).sum()) / total if total else None


def cpus_told(dataset: Dataset) -> dict[str | None, int]:
    """CPUs of each host as its databases tell them. Of a host without a name each instance counts: it may be any."""
    told = dataset.frame("statistic").filter((pl.col("name") == CPUS) & (pl.col("value") > 0))
    unnamed = pl.when(pl.col("host").is_null()).then(pl.concat_str("db", "instance", ignore_nulls=True))
    by_host = told.group_by("host", unnamed.alias("#instance"), maintain_order=True).agg(pl.col("value").max())
    counts = dict[str | None, int]()
    for host, _, count in by_host.iter_rows():
        counts[host] = counts.get(host, 0) + round(count)
    return counts


def setting(dataset: Dataset, name: str, db: str | None = None) -> str | None:
    """The value in force of a setting (of one database server, or of the host); null when it is not known."""
    return dataset.derived("setting", _in_force).get((db, name))


def _in_force(settings: pl.DataFrame) -> dict[tuple[str | None, str], str]:
    """The last value told of each setting of each server; a setting whose last value is null has none."""
    last = (
        settings.select("db", "name", "value")
        .drop_nulls("name")
        .unique(["db", "name"], keep="last", maintain_order=True)
    )
    return {(db, name): value for db, name, value in last.drop_nulls("value").iter_rows()}
