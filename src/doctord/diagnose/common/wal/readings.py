"""Readings of one figure in the order of time: what they are at the end, and for how long they have been so."""

from datetime import timedelta
from typing import Final

import polars as pl

from doctord.diagnose.case import Case

# What began in the middle of a recording and has lasted for so long is no moment between two of a kind.
LASTS_S: Final = 60.0
LATELY: Final = timedelta(minutes=10)


def looks(case: Case, db: str | None, entity: str | None, name: str) -> pl.DataFrame:
    """The readings of a figure in the order of time."""
    is_own = (
        (pl.col("name") == name)
        & pl.col("db").eq_missing(pl.lit(db))
        & pl.col("entity").eq_missing(pl.lit(entity))
    )  # fmt: skip
    return case.dataset.frame("statistic").filter(is_own).drop_nulls("value").sort("ts", maintain_order=True)


def lately(readings: pl.DataFrame) -> pl.DataFrame:
    """Those of the last ten minutes: how fast something grows now, the days before do not tell."""
    return readings.filter(pl.col("ts") > readings["ts"][-1] - LATELY) if readings.height else readings


def held_s(readings: pl.DataFrame, value: float) -> float | None:
    """For how long readings have had a value up to the last one, seconds; null where the last has another."""
    if readings.is_empty() or readings["value"][-1] != value:
        return None
    others = readings.filter(pl.col("value") != value)
    same = readings if others.is_empty() else readings.filter(pl.col("ts") > others["ts"][-1])
    return float((readings["ts"][-1] - same["ts"][0]).total_seconds())


def stays(readings: pl.DataFrame, value: float) -> bool:
    """Whether readings have a value at every look, or at every one of the last minute at the least."""
    seconds = held_s(readings, value)
    return seconds is not None and (seconds >= LASTS_S or bool((readings["value"] == value).all()))
