"""Figures: weighted by what they cover, each second of a host once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.figures import figures, mean, told_once
from doctord.dataset.dataset import Dataset

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def row(end_min: float, length_min: float | None, idle_pct: float, host: str | None = "a") -> dict[str, Any]:
    """A row that ends so many minutes after noon."""
    seconds = None if length_min is None else length_min * 60
    return {"ts": NOON + timedelta(minutes=end_min), "interval_s": seconds, "idle_pct": idle_pct, "host": host}


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        ([row(30, 1, 0.0), row(31, 1, 0.0)], 80.0),  # within the hour
        ([row(30, 1, 0.0, None)], 80.0),  # of nobody else than the one host that is named
        ([row(60, 60, 80.0)], 80.0),  # told again
        ([row(-30, 30, 20.0)], (80 * 60 + 20 * 30) / 90),  # before it
        ([row(15, 30, 20.0)], (80 * 45 + 20 * 30) / 75),  # half of it before
        ([row(30, 60, 20.0, "b")], 50.0),  # another host
        ([row(60.001, 0.5, 0.0), row(60.5, 0.5, 20.0)], (80 * 60 + 20 * 0.5) / 60.5),
    ],
)  # fmt: skip
def test_what_two_sources_tell_of_a_host_counts_once(minutes: list[dict[str, Any]], expected: float) -> None:
    frame = Dataset.from_rows(cpu=[*minutes, row(60, 60, 80.0)]).frame("cpu")
    assert mean(told_once(frame), "idle_pct") == pytest.approx(expected, rel=1e-4)


def test_readings_of_a_moment_stay_and_rows_on_end_keep_their_length() -> None:
    rows = [row(1, 1, 5.0), row(1.99, 1, 6.0), row(2, None, 7.0)]
    assert told_once(Dataset.from_rows(cpu=rows).frame("cpu"))["interval_s"].to_list() == [60.0, 60.0, None]


def test_the_rows_of_one_source_are_as_they_were() -> None:
    frame = Dataset.from_rows(cpu=[row(1, 1, 5.0), row(1.99, 1, 6.0), row(5, 2, 7.0, None)]).frame("cpu")
    assert told_once(frame) is frame


def test_a_figure_tells_how_long_it_was_measured() -> None:
    rate = {"name": "x", "ts": NOON, "value": 2.0}
    (found,) = figures(Dataset.from_rows(statistic=[rate | {"interval_s": 30.0}, rate | {"interval_s": 60.0}]), "x")
    assert (found.mean, found.seconds) == (2.0, 90.0)


def test_a_log_that_says_nothing_of_it_counts_as_none() -> None:
    """Ten minutes of a log, two of which tell of a checkpoint; a collector's own figure is none of the log's."""

    def told(end_min: float, name: str, value: float) -> dict[str, Any]:
        length = {"ts": NOON + timedelta(minutes=end_min), "interval_s": 60.0, "db": "postgresql"}
        return length | {"component": "postgresql", "name": name, "value": value, "kind": "rate", "unit": "per_s"}

    rows = [told(minute, "log.messages", 3.0) for minute in (1, 4, 5, 10)]
    rows += [told(4, "checkpoints", 0.5), told(10, "checkpoints", 0.7), told(7.5, "collected", 2.0)]
    dataset = Dataset.from_rows(statistic=rows)
    (checkpoints,), (collected,) = figures(dataset, "checkpoints"), figures(dataset, "collected")
    assert (checkpoints.mean, checkpoints.seconds) == (pytest.approx(1.2 / 10), 600.0)
    assert (checkpoints.last, checkpoints.largest) == (0.7, 0.7)
    assert (collected.mean, collected.seconds) == (2.0, 60.0)
