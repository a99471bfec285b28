"""Waits as a server counted them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.waits import background, foreground
from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
SYNC = "log file sync"


def _row(hour: int, waits_per_s: float | None, ms: float | None, **more: Any) -> dict[str, Any]:
    waited = None if waits_per_s is None or ms is None else waits_per_s * ms / 1000
    row = {"ts": START + timedelta(hours=hour), "interval_s": 3600.0, "db": "oracle:P", "kind": "foreground"}
    return {
        **row, "event": SYNC, "wait_class": "Commit", "waits_per_s": waits_per_s, "avg_wait_ms": ms,
        "average_active_sessions": waited, **more,
    }  # fmt: skip


def test_a_mean_weighs_waits_and_a_rate_weighs_time() -> None:
    wait = foreground(Dataset.from_rows(wait=[_row(1, 100.0, 1.0), _row(2, 300.0, 5.0)]))[SYNC]
    assert wait.per_second == pytest.approx(200.0)
    assert wait.ms == pytest.approx((100 * 1 + 300 * 5) / 400)
    assert wait.seconds_per_second == pytest.approx((0.1 + 1.5) / 2)


def test_an_hour_without_the_event_counts_as_time() -> None:
    rows = [_row(1, 100.0, 1.0), _row(2, 10.0, 1.0, event="latch free")]
    assert foreground(Dataset.from_rows(wait=rows))[SYNC].per_second == pytest.approx(50.0)


def test_instances_add_up() -> None:
    rows = [_row(1, 100.0, 1.0, instance="p1"), _row(1, 300.0, 1.0, instance="p2"), _row(2, 300.0, 1.0, instance="p2")]
    assert foreground(Dataset.from_rows(wait=rows))[SYNC].per_second == pytest.approx(400.0)


def test_the_background_is_kept_apart_unless_the_source_adds_it_up() -> None:
    rows = [_row(1, 5.0, 1.0, kind="background"), _row(1, 7.0, 1.0, kind=None, event="latch free")]
    dataset = Dataset.from_rows(wait=rows)
    assert set(foreground(dataset)) == {"latch free"}
    assert set(background(dataset)) == {SYNC, "latch free"}


def test_what_was_not_measured_is_null() -> None:
    rows = [
        _row(1, None, None, average_active_sessions=0.5),
        _row(1, None, None, event="latch free", average_active_sessions=0.5),
    ]
    wait = foreground(Dataset.from_rows(wait=rows))[SYNC]
    assert (wait.per_second, wait.ms) == (None, None)
    assert wait.seconds_per_second == pytest.approx(0.5)


def test_a_list_without_an_interval_stands_for_itself() -> None:
    wait = foreground(Dataset.from_rows(wait=[_row(1, 50.0, 4.0, interval_s=None)]))[SYNC]
    assert wait.ms == pytest.approx(4.0)
    assert wait.per_second is None


def test_an_event_without_a_name_is_left_out() -> None:
    assert foreground(Dataset.from_rows(wait=[_row(1, 5.0, 1.0, event=None), _row(1, 5.0, 1.0)])).keys() == {SYNC}
