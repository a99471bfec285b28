"""What the tests of readers share that look at more tables than that of latencies."""

import os
from pathlib import Path

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.read.formats import Reading, read_file
from reading import SAMPLES


def read_sample(name: str) -> Reading:
    """A whole sample, in UTC."""
    return read_file(SAMPLES / name, zone="UTC")


def read_lines(tmp_path: Path, *lines: str, zone: str | None = "UTC") -> Reading:
    """Lines as a file of 1970."""
    file = tmp_path / "file"
    file.write_text("\n".join(lines) + "\n")
    os.utime(file, (0, 0))
    return read_file(file, zone=zone)


def frame(reading: Reading, table: str) -> pl.DataFrame:
    return Dataset.from_batches(reading.batches).frame(table)


def figures(reading: Reading, name: str, *keys: str) -> dict[tuple[object, ...], float]:
    """Values of the statistic of this name by these columns (default: time of day, instance, entity)."""
    found = frame(reading, "statistic").filter(name=name).with_columns(at=pl.col("ts").dt.strftime("%H:%M"))
    return {row[:-1]: row[-1] for row in found.select(*(keys or ("at", "instance", "entity")), "value").rows()}
