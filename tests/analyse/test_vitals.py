"""The past is judged by windows as long as the present."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.vitals import usual, vitals
from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 12, tzinfo=UTC)


def cpu(used: list[float]) -> Dataset:
    rows: list[dict[str, Any]] = [
        {"ts": START + timedelta(seconds=i), "interval_s": 1.0, "host": "a", "idle_pct": 100 - value}
        for i, value in enumerate(used)
    ]
    return Dataset.from_rows(cpu=rows)


def test_vital_signs_that_were_not_measured_are_left_out() -> None:
    signs = vitals(cpu([10.0, 30.0]))
    assert signs["CPU used"].value == pytest.approx(20)
    assert "memory pressure" not in signs
    assert "active sessions" not in signs


def test_sampled_sessions_none_of_which_was_active_are_none() -> None:
    wait = {"ts": START, "interval_s": 1.0, "host": "a", "db": "x:1", "event": "CPU", "wait_class": "CPU"}
    host = {"ts": START, "interval_s": 1.0, "host": "a", "idle_pct": 90.0}
    sampled = Dataset.from_rows(cpu=[host], wait=[wait | {"average_active_sessions": 0.0}])
    assert vitals(sampled)["active sessions"].value == 0
    summed_up = Dataset.from_rows(cpu=[host], wait=[wait | {"average_active_sessions": 0.5, "kind": "foreground"}])
    assert "active sessions" not in vitals(summed_up), "the times of a report are no samples"


def test_usual_is_the_median_and_what_was_seldom_exceeded() -> None:
    past = usual(cpu([20.0, 22.0] * 60), 10)["CPU used"]
    assert past.median == pytest.approx(21)
    assert 21 <= past.high < 30
    assert past.windows == 12


def test_a_short_past_says_nothing() -> None:
    assert usual(cpu([20.0] * 30), 10) == {}
