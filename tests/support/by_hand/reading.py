"""What the tests of readers share: samples, and the rows of a reading as frames."""

from pathlib import Path
from typing import Any

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.read.formats import Reading, read_file

SAMPLES = Path(__file__).parents[2] / "read" / "samples"


def read_sample(name: str, **told: Any) -> Reading:
    return read_file(SAMPLES / name, **told)


def frame(reading: Reading, table: str) -> pl.DataFrame:
    return Dataset.from_batches(reading.batches).frame(table)


def picked(reading: Reading, table: str, *columns: str, **where: object) -> list[tuple[Any, ...]]:
    """These columns of the rows that hold these values."""
    rows = frame(reading, table)
    for column, value in where.items():
        rows = rows.filter(pl.col(column).eq_missing(pl.lit(value)))
    return rows.select(*columns).rows()


def figure(reading: Reading, name: str, **where: object) -> list[float]:
    """Values of the statistic of this name."""
    return [value for (value,) in picked(reading, "statistic", "value", name=name, **where)]
