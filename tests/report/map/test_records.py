"""Latency maps as records of PyLatencyMap, read again by the reader of such records."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path

import pytest

from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.map import Column, LatencyMap, Mean, latency_map
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.read.formats import read_file
from doctord.report.map.records import records

AT = datetime(2026, 11, 20, 10, tzinfo=UTC)
EMPTY = Histogram()


def drawn(*histograms: Histogram | None) -> LatencyMap:
    """A map of columns of three seconds, null being a gap."""
    ends = (AT + timedelta(seconds=3 * (number + 1)) for number in range(len(histograms)))
    columns = tuple(Column(end, 3.0, histogram) for end, histogram in zip(ends, histograms, strict=True))
    return LatencyMap("log file sync", "oracle:PRD", None, "histogram", columns)


def counted(*edges_and_counts: tuple[float, float, int]) -> Histogram:
    return Histogram.of(Bucket(low, high, count) for low, high, count in edges_and_counts)


def read_again(tmp_path: Path, map_: LatencyMap) -> LatencyMap:
    file = tmp_path / "records"
    file.write_text("\n".join(records(map_)) + "\n")
    return latency_map(Dataset.from_batches(read_file(file).batches), map_.subject)


def buckets(map_: LatencyMap) -> list[list[tuple[float, float, int]] | None]:
    return [
        [(bucket.gt_us, bucket.le_us, bucket.count) for bucket in column.histogram.buckets]
        if column.histogram
        else None
        for column in map_.columns
    ]


@pytest.mark.parametrize(
    "map_",
    [
        drawn(counted((0.0, 1.0, 5), (512.0, 1024.0, 3)), EMPTY, counted((8192.0, 16384.0, 1))),
        drawn(counted((0.0, 1000.0, 2), (2000.0, 4000.0, 1))),
        drawn(counted((262.144, 524.288, 7))),
        drawn(EMPTY, EMPTY),
    ],
)
def test_counts_and_times_come_back(tmp_path: Path, map_: LatencyMap) -> None:
    again = read_again(tmp_path, map_)
    assert buckets(again) == buckets(map_)
    assert [column.end for column in again.columns] == [column.end for column in map_.columns]
    assert {column.interval_s for column in again.columns} == {3.0}


def test_fine_buckets_are_put_between_powers_of_two(tmp_path: Path) -> None:
    fine = drawn(counted((512.0, 528.0, 3), (528.0, 544.0, 4), (1008.0, 1024.0, 2)))
    assert buckets(read_again(tmp_path, fine)) == [[(512.0, 1024.0, 9)]]


def test_a_gap_comes_back_as_a_gap(tmp_path: Path) -> None:
    map_ = drawn(counted((512.0, 1024.0, 3)), None, counted((512.0, 1024.0, 4)))
    again = read_again(tmp_path, map_)
    assert buckets(again) == buckets(map_)
    assert [marker.kind for marker in again.markers] == ["restart"]


def test_counters_only_grow() -> None:
    lines = list(records(drawn(counted((0.0, 1.0, 5)), counted((0.0, 1.0, 2)))))
    assert [line for line in lines if line.startswith("1, ")] == ["1, 0", "1, 5", "1, 7"]
    assert lines[1] == "timestamp, microsec, 1795168800000000, 20-NOV-26 10.00.00.000000 AM +00:00"


@pytest.mark.parametrize(
    ("map_", "why"),
    [
        (drawn(counted((512.0, 1024.0, 3), (1024.0, inf, 1))), "above the last edge"),
        (drawn(counted((0.0, 10.0, 3), (10.0, 20.0, 1))), "do not lie between powers of two"),
        (replace(drawn(), kind="mean", columns=(Column(AT, 1.0, mean=Mean(3, 1.0)),)), "only means are known"),
    ],
)
def test_what_records_cannot_hold_is_refused(map_: LatencyMap, why: str) -> None:
    with pytest.raises(UserError, match=why):
        list(records(map_))
