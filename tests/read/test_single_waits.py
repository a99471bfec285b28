"""Single waits summed up into columns."""

from io import BufferedReader, BytesIO
from typing import cast

import polars as pl

from doctord._native import Batch
from doctord.dataset.dataset import Dataset
from doctord.read.single_waits import MOST_SILENT_COLUMNS, Waits
from doctord.read.source import SourceFile


def source() -> SourceFile:
    return SourceFile("a trace", "", cast("BufferedReader", BytesIO()))


def counted(waits: list[tuple[float, float, str]], column_us: int = 1_000_000) -> pl.DataFrame:
    tally, batches = Waits(source(), column_us, db="oracle"), list[Batch]()
    for end_s, latency_us, subject in waits:
        batches += tally.add(1, end_s * 1e6, latency_us, subject)
    return Dataset.from_batches([*batches, *tally.flush()]).frame("latency").sort("ts", "subject", "gt_us")


def per_column(frame: pl.DataFrame) -> list[tuple[float, str, int, float]]:
    summed = frame.group_by("ts", "subject").agg(pl.col("count", "waited_us").sum()).sort("ts", "subject")
    return [(ts.timestamp(), *rest) for ts, *rest in summed.rows()]


def test_a_wait_is_of_the_column_that_it_ends_in() -> None:
    assert per_column(counted([(0.5, 10.25, "read"), (1.0, 20, "read"), (1.000001, 30, "read")])) == [
        (1.0, "read", 2, 30.25),
        (2.0, "read", 1, 30.0),
    ]


def test_buckets_are_a_thirty_second_wide_at_most() -> None:
    found = counted([(0.5, latency, "read") for latency in (1.5, 37, 1_000, 123_456, 9_999_999)])
    assert found["count"].sum() == 5
    for low, high, waited in found.select("gt_us", "le_us", "waited_us").rows():
        assert low <= waited <= high
        assert (high - low) / low <= 1 / 32


def test_silence_is_no_wait_but_a_long_one_a_gap() -> None:
    found = counted([(0.5, 1, "read"), (0.6, 1, "write"), (3.5, 1, "read"), (4 + MOST_SILENT_COLUMNS + 1.5, 1, "read")])
    assert [row for row in per_column(found) if row[1] == "write"] == [
        (1.0, "write", 1, 1.0),
        *((second, "write", 0, 0.0) for second in (2.0, 3.0, 4.0)),
    ]
    assert [row[0] for row in per_column(found) if row[1] == "read"] == [1, 2, 3, 4, 4 + MOST_SILENT_COLUMNS + 2]


def test_any_order_gives_the_same_sums() -> None:
    waits = [(number * 0.1, float(number), "read") for number in range(1, 60)]
    far = [(-5_000.0, 7.0, "read")]
    backwards = per_column(counted([*reversed(waits), *far]))
    assert [row for row in backwards if row[2]] == [row for row in per_column(counted([*far, *waits])) if row[2]]


def test_what_cannot_be_a_time_is_told() -> None:
    told = source()
    tally = Waits(told)
    for end_us, latency_us in ((1.0, -1.0), (1.0, 1e30), (float("nan"), 1.0), (1e30, 1.0)):
        assert not tally.add(7, end_us, latency_us, "read")
    assert [(skipped.line, skipped.reason) for skipped in told.skipped] == [(7, "a time that cannot be one")] * 4
    assert not tally.flush()
