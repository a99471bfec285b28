"""Rows of waits that contradict themselves."""

from datetime import UTC, datetime
from typing import Any

import pytest

from doctord.analyse.capacity.contradictions import contradictions
from doctord.dataset.dataset import Dataset

AT = datetime(2026, 11, 20, tzinfo=UTC)


def found(**columns: Any) -> list[tuple[str, float, float]]:
    """Entity, mean that is said and mean that is reckoned of what contradicts itself in one row of an hour."""
    row = {"ts": AT, "interval_s": 3600.0, "host": "a", "db": "x", "instance": "1", "event": "e"} | columns
    told = contradictions(Dataset.from_rows(wait=[row]).frame("wait"))
    return [(one.entity, one.said_ms, round(one.reckoned_ms, 6)) for one in told]


def test_a_mean_that_is_not_time_by_waits() -> None:
    assert found(waits_per_s=10.0, average_active_sessions=0.5, avg_wait_ms=8.0) == [("1 e", 8.0, 50.0)]


def test_a_mean_of_nothing_where_time_was_waited() -> None:
    assert found(waits_per_s=10.0, average_active_sessions=0.5, avg_wait_ms=0.0) == [("1 e", 0.0, 50.0)]


@pytest.mark.parametrize(
    "columns",
    [
        {"waits_per_s": 10.0, "average_active_sessions": 0.5, "avg_wait_ms": 50.0},
        {"waits_per_s": 10.0, "average_active_sessions": 0.005, "avg_wait_ms": 1.0},  # printed in whole milliseconds
        {"waits_per_s": 0.001, "average_active_sessions": 0.0, "avg_wait_ms": 200.0},  # printed in whole seconds
        {"waits_per_s": None, "average_active_sessions": 0.5, "avg_wait_ms": 8.0},
        {"waits_per_s": 10.0, "average_active_sessions": 0.5, "avg_wait_ms": None},
        {"waits_per_s": 10.0, "average_active_sessions": 0.5, "avg_wait_ms": 8.0, "interval_s": None},
    ],
)
def test_rounding_and_what_is_not_there_contradict_nothing(columns: dict[str, float | None]) -> None:
    assert found(**columns) == []
