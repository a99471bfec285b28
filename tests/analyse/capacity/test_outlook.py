"""What will be violated, and when."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from doctord.analyse.capacity.outlook import outlook
from doctord.analyse.capacity.series import DAY_S, HOUR_S, Labels, Series
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.dataset.figure import Figure

pytestmark = pytest.mark.slow

START = datetime(2026, 8, 1, tzinfo=UTC)
USED = Figure("used", "used", "space", "space", "used_bytes", "bytes", each=("name",))
FULL = Threshold("full", "used", 200.0)
NOISE = np.random.default_rng(7).normal(0, 0.3, 100)


def series(entity: str, values: "np.typing.NDArray[np.float64]") -> Series:
    return Series(USED, Labels(entity=entity), DAY_S, START, values, values, values)


def test_the_worst_comes_first_then_by_date() -> None:
    days = np.arange(100.0)
    found = outlook(
        [
            series("flat", 50 + NOISE),
            series("slow", 100 + 0.8 * days + NOISE),
            series("fast", 100 + 0.95 * days + NOISE),
            series("over", 250 + NOISE),
        ],
        [FULL],
        60 * DAY_S,
    )
    assert [item.series.labels.entity for item in found] == ["over", "fast", "slow", "flat"]
    assert [item.when.verdict for item in found] == ["violated", "date", "date", "not within the horizon"]
    fast = found[1].when.date
    assert fast is not None
    assert abs((fast - START).days - 105) <= 3


def test_four_days_tell_little_and_that_is_admitted() -> None:
    (item,) = outlook([series("users", np.array([160.0, 170.0, 172.0, 181.0]))], [FULL], 60 * DAY_S)
    assert item.when.verdict == "date"
    assert item.when.earliest is not None
    assert item.when.latest is None or (item.when.latest - item.when.earliest).days > 3
    assert "4 steps only" in item.forecast.notes[0]


def test_three_days_tell_nothing() -> None:
    (item,) = outlook([series("users", np.array([160.0, 170.0, 172.0]))], [FULL], 60 * DAY_S)
    assert item.when.verdict == "cannot be told"


def test_hours_of_three_days_tell_of_the_next_days_and_of_no_more() -> None:
    hours = np.arange(72.0)
    steep = replace(series("steep", 100 + 1.25 * hours + NOISE[:72]), step_s=HOUR_S)
    found = outlook([steep, replace(series("slow", 50 + NOISE[:72]), step_s=HOUR_S)], [FULL], 90 * DAY_S)
    assert [(item.series.labels.entity, item.when.verdict) for item in found] == [
        ("steep", "date"),
        ("slow", "cannot be told"),
    ]
    date = found[0].when.date
    assert date is not None
    assert abs((date - steep.at(80)).total_seconds()) <= 4 * HOUR_S
    assert found[0].forecast.notes[-1].startswith("too few days were measured to look further than 7 d")


def test_what_no_threshold_concerns_is_left_out() -> None:
    assert outlook([series("users", NOISE)], [Threshold("other", "unused", 1.0)], DAY_S) == []
