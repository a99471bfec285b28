"""Looking up figures of a chart: means weighted by the interval that each row covers."""

from dataclasses import dataclass

import polars as pl

from doctord.chart.chart import Chart


@dataclass(frozen=True, slots=True)
class Figure:
    """One named figure of one entity over the interval: its mean, its last and its largest reading."""

    db: str | None
    instance: str | None
    entity: str | None
    name: str
    mean: float
    last: float
    largest: float
    unit: str


def figures(chart: Chart, name: str) -> list[Figure]:
    """The figures of that name in `statistic`, one per server, instance and entity, largest mean first."""
    weight = pl.col("interval_s").fill_null(1.0)
    grouped = (
        chart.frame("statistic")
        .filter((pl.col("name") == name) & pl.col("value").is_not_null())
        .group_by("db", "instance", "entity")
        .agg(
            ((pl.col("value") * weight).sum() / weight.sum()).alias("mean"),
            pl.col("value").last().alias("last"),
            pl.col("value").max().alias("largest"),
            pl.col("unit").last(),
        )
        .sort("mean", descending=True)
    )
    return [
        Figure(
            row["db"], row["instance"], row["entity"], name, row["mean"], row["last"], row["largest"], row["unit"] or ""
        )
        for row in grouped.iter_rows(named=True)
    ]


def mean(frame: pl.DataFrame, column: str) -> float | None:
    """Mean of a column weighted by `interval_s` (point readings weigh the same); null when nothing was measured."""
    measured = frame.filter(pl.col(column).is_not_null())
    if measured.is_empty():
        return None
    weight = measured["interval_s"].fill_null(1.0)
    total = float(weight.sum())
    return float((measured[column] * weight).sum()) / total if total else None


def setting(chart: Chart, name: str, db: str | None = None) -> str | None:
    """The value in force of a setting (of one database server, or of the host); null when it is not known."""
    rows = chart.frame("setting").filter(pl.col("name") == name)
    rows = rows.filter(pl.col("db").is_null() if db is None else pl.col("db") == db)
    value = rows["value"].last() if rows.height else None
    return None if value is None else str(value)
