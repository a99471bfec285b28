"""Waits of sampled sessions as durations."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.latency.map import latency_map, subjects
from doctord.dataset.dataset import Dataset

T0 = datetime(2026, 11, 21, tzinfo=UTC)


def samples(sid: int, event: str, *tenths: int, db: str = "postgresql:5432") -> list[dict[str, Any]]:
    return [
        {
            "ts": T0 + timedelta(seconds=tenth / 10),
            "interval_s": 0.1,
            "host": "h",
            "db": db,
            "sid": sid,
            "serial": 1,
            "event": event,
        }
        for tenth in tenths
    ]


def test_samples_in_a_row_are_one_wait() -> None:
    dataset = Dataset.from_rows(session=samples(1, "transactionid", 1, 2, 3, 4, 12, 13))
    drawn = latency_map(dataset, "transactionid")
    assert drawn.kind == "sampled"
    assert [(column.count, column.waited_us) for column in drawn.columns] == [
        (1, pytest.approx(4e5)),
        (1, pytest.approx(2e5)),
    ]
    ((bucket,), _) = (column.histogram.buckets for column in drawn.columns if column.histogram)
    assert (bucket.gt_us, bucket.le_us) == (pytest.approx(2e5), pytest.approx(4e5))


def test_sessions_and_events_are_kept_apart() -> None:
    rows = [
        *samples(1, "DataFileRead", 1, 2),
        *samples(2, "DataFileRead", 2, 3),
        *samples(1, "WALSync", 3),
        *samples(3, "CPU", 1, 2, 3),
    ]
    dataset = Dataset.from_rows(session=rows)
    assert [(known.name, known.kind, known.count) for known in subjects(dataset)] == [
        ("DataFileRead", "sampled", 2),
        ("WALSync", "sampled", 1),
    ]


def test_a_second_without_such_a_wait_is_no_gap() -> None:
    dataset = Dataset.from_rows(session=[*samples(1, "DataFileRead", 1, 25), *samples(2, "WALSync", 15)])
    assert [column.count for column in latency_map(dataset, "DataFileRead").columns] == [1, 0, 1]


def test_timed_waits_are_preferred() -> None:
    row = {"ts": T0, "interval_s": 1.0, "host": "h", "db": "postgresql:5432", "subject": "WALSync"}
    dataset = Dataset.from_rows(
        session=samples(1, "WALSync", 1), latency=[row | {"gt_us": 1.0, "le_us": 2.0, "count": 5}]
    )
    assert latency_map(dataset, "WALSync").kind == "histogram"
    assert [known.kind for known in subjects(dataset)] == ["histogram"]


def test_samples_that_come_late_do_not_change_the_buckets() -> None:
    rows = samples(1, "WALSync", 1, 2) + samples(2, "WALSync", 4, 5) + samples(3, "WALSync", 7)
    rows[-1]["interval_s"] = 0.13
    drawn = latency_map(Dataset.from_rows(session=rows), "WALSync")
    assert drawn.whole.total == 3
    assert drawn.whole.time.us == pytest.approx(0.53e6)
    assert [bucket.le_us for bucket in drawn.whole.buckets] == [pytest.approx(1e5), pytest.approx(2e5)]
