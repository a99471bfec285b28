"""The host on one page."""

from datetime import UTC, datetime, timedelta
from typing import Literal

import numpy as np
import pytest

from doctord.analyse.capacity.profile import Profile, profile
from doctord.analyse.capacity.series import HOUR_S, Labels, Series
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.dataset.figure import own_figures

AT = datetime(2026, 11, 20, tzinfo=UTC)
FIGURES = {figure.name: figure for figure in own_figures()}
CLASSES = {"log file sync": "Commit", "db file sequential read": "User I/O", "rdbms ipc message": "Idle"}


def series(name: str, values: list[float], entity: str = "", *, end: datetime = AT) -> Series:
    """Hours that end with a moment."""
    start = end - timedelta(hours=len(values) - 1)
    array = np.array(values)
    return Series(FIGURES[name], Labels("a", "oracle:X", entity), HOUR_S, start, array, array, array)


def page(*given: Series, **options: object) -> Profile:
    return profile(given, own_figures(), AT, classes=CLASSES, **options)  # type: ignore[arg-type]


def test_days_end_at_the_moment_of_the_profile() -> None:
    (server,) = page(series("commits_per_s", [1.0] * 24 * 7 + [3.0] * 24)).servers
    (line,) = server.lines
    assert line.values == {90: None, 30: None, 7: 1.0, 0: 3.0}
    assert (line.change_pct(7), line.change_pct(30), line.verdict) == (200.0, None, "no limit")


def test_what_was_not_measured_today_is_said_and_keeps_no_limit() -> None:
    (server,) = page(
        series("commits_per_s", [1.0], end=AT - timedelta(days=7)), thresholds=[Threshold("x", "commits_per_s", 0.5)]
    ).servers
    assert (server.lines[0].today, server.lines[0].verdict) == (None, "not measured")


def test_hours_without_a_measurement_do_not_lower_a_mean() -> None:
    (server,) = page(series("commits_per_s", [2.0, *[float("nan")] * 20, 4.0])).servers
    assert server.lines[0].today == 3.0


@pytest.mark.parametrize(
    ("worse", "value", "verdict"),
    [("above", 90.0, "violated"), ("above", 80.0, "kept"), ("below", 79.0, "violated"), ("below", 80.0, "kept")],
)
def test_a_limit_is_violated_on_its_bad_side(worse: Literal["above", "below"], value: float, verdict: str) -> None:
    limit = Threshold("x", "cpu_used_pct", 80.0, worse)
    (server,) = page(series("cpu_used_pct", [value] * 24), thresholds=[limit]).servers
    assert server.lines[0].verdict == verdict


def test_of_several_thresholds_the_violated_one_is_told() -> None:
    lenient, strict = (Threshold(name, "commits_per_s", limit) for name, limit in (("a", 100.0), ("b", 10.0)))
    (line,) = page(series("commits_per_s", [50.0]), thresholds=[lenient, strict]).violations
    assert line.threshold == strict


def test_space_is_what_it_was_last() -> None:
    (server,) = page(series("space_used_bytes", [5.0, 7.0, 6.0])).servers
    assert server.lines[0].today == 6.0


def test_the_busy_hour_is_that_of_the_leading_figure() -> None:
    load = [9.0 if hour == 14 else 1.0 for hour in range(24)] * 28
    other = [float(hour) for hour in range(24)] * 28
    (server,) = page(series("executions_per_s", load), series("cpu_used_pct", other), busy_hour=True).servers
    assert server.rhythm is not None
    assert server.rhythm.busy_hour == 14
    assert [line.today for line in server.lines] == [14.0, 9.0]
