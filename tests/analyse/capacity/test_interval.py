"""The step in which a source can be read."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from doctord.analyse.capacity.interval import at_its_interval, series_at_interval, step_of
from doctord.dataset.dataset import Dataset
from histories import FIGURES, NAN, history

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)


def dataset(every_s: float, count: int = 20) -> Dataset:
    rows = [
        {
            "ts": MIDNIGHT + timedelta(seconds=every_s * row),
            "host": host,
            "mount": mount,
            "used_bytes": row,
            "size_bytes": 50,
        }
        for row in range(count)
        for host in ("a", "b")
        for mount in ("/", "/data")
    ]
    return Dataset.from_rows(filesystem=rows)


@pytest.mark.parametrize(
    ("every_s", "step_s"),
    [(1, 300), (299, 300), (600, 600), (3600, 3600), (3700, 3600), (86_400, 86_400), (1e7, 604_800)],
)
def test_a_step_is_no_shorter_than_what_was_measured(every_s: float, step_s: int) -> None:
    assert step_of(dataset(every_s).frame("filesystem"), 300) == step_s


def test_one_moment_alone_has_the_least_step() -> None:
    assert step_of(dataset(60, count=1).frame("filesystem"), 300) == 300
    assert step_of(Dataset().frame("filesystem"), 300) == 300


def test_daily_readings_are_whole_days() -> None:
    figures = [FIGURES["filesystem_used_bytes"], FIGURES["cpu_used_pct"], FIGURES["filesystem_used_pct"]]
    series = list(series_at_interval(dataset(86_400), figures, 300))
    assert len(series) == 8
    assert all(len(one.values) == 20 for one in series)


def test_hours_that_hold_a_reading_a_day_are_days() -> None:
    hours = history([NAN if hour % 24 else float(hour) for hour in range(24 * 9 + 1)], "filesystem_used_pct")
    days = at_its_interval(hours)
    assert days.step_s == 86_400
    assert days.values.tolist() == [24.0 * day for day in range(10)]


def test_hours_with_some_gaps_stay_hours() -> None:
    hours = history([1.0, NAN, NAN, 2.0, 3.0, 4.0, NAN, 5.0, 6.0])
    assert at_its_interval(hours) is hours
    assert at_its_interval(history([NAN, 1.0])).step_s == 3600
    assert np.isnan(at_its_interval(history([NAN, NAN])).values).all()
