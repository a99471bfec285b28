"""Maps from the rows of a dataset."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.latency.map import joined, latency_map, maps_of_rows, subjects
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError

T0 = datetime(2026, 11, 21, tzinfo=UTC)


def at(second: float) -> datetime:
    return T0 + timedelta(seconds=second)


def bucket(second: float, le_us: float | None, count: int, **more: Any) -> dict[str, Any]:
    low = 1024.0 if le_us is None else le_us / 2
    row = {"ts": at(second), "interval_s": 1.0, "host": "h", "subject": "pread64", "gt_us": low, "le_us": le_us}
    return row | {"count": count} | more


def test_a_column_is_an_interval() -> None:
    dataset = Dataset.from_rows(latency=[bucket(1, 64.0, 5), bucket(1, 128.0, 1), bucket(2, 64.0, 7)])
    drawn = latency_map(dataset, "pread64")
    assert [(column.end, column.count) for column in drawn.columns] == [(at(1), 6), (at(2), 7)]
    assert drawn.whole.total == 13


def test_no_data_differs_from_no_wait() -> None:
    dataset = Dataset.from_rows(latency=[bucket(1, 64.0, 5), bucket(2, 64.0, 0), bucket(5, 64.0, 1)])
    counts = [column.count for column in latency_map(dataset, "pread64").columns]
    assert counts == [5, 0, None, None, 1]


def test_a_long_gap_is_a_few_columns_that_cover_it() -> None:
    dataset = Dataset.from_rows(latency=[bucket(1, 64.0, 5), bucket(3601, 64.0, 1)])
    columns = latency_map(dataset, "pread64").columns
    assert sum(column.is_gap for column in columns) == 10
    assert sum(column.interval_s for column in columns) == pytest.approx(3601)


def test_wider_columns_hold_what_ended_in_them() -> None:
    dataset = Dataset.from_rows(latency=[bucket(second, 64.0, second) for second in range(1, 11)])
    columns = latency_map(dataset, "pread64", column_s=5.0).columns
    assert [(column.end, column.interval_s, column.count) for column in columns] == [(at(5), 5, 15), (at(10), 5, 40)]


def test_a_wider_column_says_what_it_covers() -> None:
    rows = [bucket(second, 64.0, 30) | {"interval_s": 3.0} for second in (3, 6, 9, 12)]
    columns = latency_map(Dataset.from_rows(latency=rows), "pread64", column_s=5.0).columns
    assert [(column.end, column.interval_s, column.count) for column in columns] == [
        (at(5), 3, 30),
        (at(10), 6, 60),
        (at(15), 3, 30),
    ]


def test_time_is_known_only_where_it_is_of_all_parts() -> None:
    rows = [bucket(1, 64.0, 2, waited_us=100.0, instance="1"), bucket(1, 64.0, 2, instance="2")]
    dataset = Dataset.from_rows(latency=rows)
    both = latency_map(dataset, "pread64").whole.time
    assert (both.us, both.sureness) == (4 * 48.0, "estimated")
    one = latency_map(dataset, "pread64", instance="1").whole.time
    assert (one.us, one.sureness) == (100.0, "exact")


def test_above_the_last_edge_is_a_bucket_without_end() -> None:
    dataset = Dataset.from_rows(latency=[bucket(1, None, 3)])
    assert latency_map(dataset, "pread64").whole.overflow == 3


def test_means_are_shown_as_means() -> None:
    row = {"ts": at(2), "interval_s": 2.0, "host": "h", "device": "vda", "reads_per_s": 10.0, "read_ms": 3.0}
    drawn = latency_map(Dataset.from_rows(disk=[row]), "vda read")
    assert drawn.kind == "mean"
    (column,) = drawn.columns
    assert column.histogram is None
    assert (column.count, column.mean_us) == (20, pytest.approx(3000))


def test_subjects_are_named_once_and_histograms_win() -> None:
    wait = {"ts": at(1), "interval_s": 1.0, "host": "h", "db": None, "event": "pread64", "waits_per_s": 3.0}
    known = subjects(Dataset.from_rows(latency=[bucket(1, 64.0, 5)], wait=[wait]))
    assert [(subject.name, subject.kind, subject.columns) for subject in known] == [("pread64", "histogram", 1)]


def test_an_unknown_subject_is_refused_with_near_ones() -> None:
    with pytest.raises(UserError, match="no latencies of 'pread'") as refused:
        latency_map(Dataset.from_rows(latency=[bucket(1, 64.0, 5)]), "pread")
    assert refused.value.hint == "did you mean pread64?"


def test_one_of_several_servers_must_be_chosen() -> None:
    rows = [bucket(1, 64.0, 5, db="oracle:a"), bucket(1, 64.0, 6, db="oracle:b")]
    with pytest.raises(UserError, match="come from 2 places: oracle:a, oracle:b"):
        latency_map(Dataset.from_rows(latency=rows), "pread64")
    assert latency_map(Dataset.from_rows(latency=rows), "pread64", db="oracle:b").whole.total == 6


def test_markers_are_the_events_of_the_server() -> None:
    events = [{"ts": at(1), "kind": "restart", "text": "it was restarted"}, {"ts": at(1), "kind": "not measured"}]
    drawn = latency_map(Dataset.from_rows(latency=[bucket(1, 64.0, 5)], event=events), "pread64")
    assert [(marker.kind, marker.text) for marker in drawn.markers] == [("restart", "it was restarted")]


def test_what_comes_later_is_joined_with_the_gap_before_it() -> None:
    first, second = (
        latency_map(Dataset.from_rows(latency=[bucket(second, 64.0, second) for second in seconds]), "pread64")
        for seconds in ((1, 2), (4, 5))
    )
    assert [column.count for column in joined(first, second, 10).columns] == [1, 2, None, 4, 5]
    assert [column.count for column in joined(first, second, 3).columns] == [None, 4, 5]


def test_rows_as_they_come_make_the_map_that_the_dataset_makes() -> None:
    rows = [bucket(2, 64.0, 7), bucket(1, 64.0, 5), bucket(1, None, 1), bucket(3, 64.0, 0), bucket(1, 64.0, 2)]
    dataset = Dataset.from_rows(latency=rows)
    (live,) = maps_of_rows(dataset.tables["latency"].to_pylist())
    drawn = latency_map(dataset, "pread64")
    for ours, theirs in zip(live.columns, drawn.columns, strict=True):
        assert ours.histogram == theirs.histogram
        assert (ours.end, ours.interval_s) == (theirs.end, theirs.interval_s)
    assert (live.subject, live.db, live.host) == (drawn.subject, drawn.db, drawn.host)


def test_a_mean_that_was_not_measured_is_not_zero() -> None:
    def row(second: int, reads_per_s: float, read_ms: float | None) -> dict[str, Any]:
        at_second = {"ts": at(second), "interval_s": 1.0, "host": "h", "device": "vda"}
        return at_second | {"reads_per_s": reads_per_s, "read_ms": read_ms}

    dataset = Dataset.from_rows(disk=[row(1, 10.0, 2.0), row(2, 10.0, None), row(3, 0.0, None)])
    columns = latency_map(dataset, "vda read").columns
    assert [column.waited_us for column in columns] == [pytest.approx(20_000), None, 0]
    assert [column.mean_us for column in columns] == [pytest.approx(2000), None, None]
    assert [column.count for column in columns] == [10, 10, 0]
