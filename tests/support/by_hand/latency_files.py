"""What the tests of readers share: a text read as a file, and what was read of it."""

import os
from pathlib import Path

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.read.formats import Reading, read_file


def read_text(tmp_path: Path, text: str | bytes, *, zone: str | None = None, unit_us: float | None = None) -> Reading:
    file = tmp_path / "file"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(file, (86_399, 86_399))  # the last second of 1970-01-01
    return read_file(file, zone=zone, unit_us=unit_us)


def latencies(reading: Reading) -> pl.DataFrame:
    return Dataset.from_batches(reading.batches).frame("latency")


def buckets(reading: Reading, *columns: str) -> list[tuple[object, ...]]:
    """Edges and counts of the buckets that hold something, after the columns named."""
    return latencies(reading).filter(pl.col("count") > 0).select(*columns, "gt_us", "le_us", "count").rows()


def reasons(reading: Reading) -> list[str]:
    return [*(skipped.reason for skipped in reading.skipped), *reading.notes]
