"""The step in which a source can be read."""

from datetime import UTC, datetime, timedelta

import pytest

from doctord.analyse.capacity.pace import series_at_pace, step_of
from doctord.chart.chart import Chart
from histories import FIGURES

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)


def chart(every_s: float, count: int = 20) -> Chart:
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
    return Chart.from_rows(filesystem=rows)


@pytest.mark.parametrize(
    ("every_s", "step_s"),
    [(1, 300), (299, 300), (600, 600), (3600, 3600), (3700, 3600), (86_400, 86_400), (1e7, 604_800)],
)
def test_a_step_is_no_shorter_than_what_was_measured(every_s: float, step_s: int) -> None:
    assert step_of(chart(every_s).frame("filesystem"), 300) == step_s


def test_one_moment_alone_has_the_least_step() -> None:
    assert step_of(chart(60, count=1).frame("filesystem"), 300) == 300
    assert step_of(Chart().frame("filesystem"), 300) == 300


def test_daily_readings_are_whole_days() -> None:
    figures = [FIGURES["filesystem_used_bytes"], FIGURES["cpu_used_pct"], FIGURES["filesystem_used_pct"]]
    series = list(series_at_pace(chart(86_400), figures, 300))
    assert len(series) == 8
    assert all(len(one.values) == 20 for one in series)
