"""Responses, the loads behind them, and what becomes of them when these grow."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from doctord.analyse.capacity.load.responses import WAITS, grown, queues_of, with_loads
from doctord.analyse.capacity.outlook import outlook
from doctord.analyse.capacity.series import HOUR_S, Labels, Series
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.analyse.capacity.whatif import Change
from doctord.dataset.figure import Figure, own_figures

pytestmark = pytest.mark.slow

FIGURES = {figure.name: figure for figure in own_figures()}
START = datetime(2026, 9, 1, tzinfo=UTC)
HOURS = 24 * 14
SDA = Labels("alpha", None, "sda")
RANDOM = np.random.default_rng(2)
RATE = 60 * (1 + 0.5 * np.sin(np.arange(HOURS) * 2 * np.pi / 24)) * RANDOM.normal(1, 0.02, HOURS)
READ_MS = 5 / (1 - RATE / 200) * RANDOM.normal(1, 0.02, HOURS)


def series(figure: Figure, values: np.ndarray, labels: Labels = SDA, late_h: int = 0) -> Series:
    return Series(figure, labels, HOUR_S, START + timedelta(hours=late_h), values, values, values)


def test_a_load_is_read_beside_each_response() -> None:
    used = [FIGURES["disk_read_ms"], FIGURES["wait_ms"], FIGURES["cpu_used_pct"]]
    names = [figure.name for figure in with_loads(used, own_figures())]
    assert names == ["disk_read_ms", "wait_ms", "cpu_used_pct", "disk_requests_per_s", WAITS.name]


def test_the_queue_is_that_of_the_same_hours_of_the_same_device() -> None:
    reads = series(FIGURES["disk_read_ms"], READ_MS[5:], late_h=5)
    load = series(FIGURES["disk_requests_per_s"], RATE[:-3])
    (queue,) = queues_of([reads], [reads, load]).values()
    assert queue.points == HOURS - 8
    assert queue.saturation.value == pytest.approx(200, rel=0.1)
    other = series(FIGURES["disk_requests_per_s"], RATE, Labels("alpha", None, "sdb"))
    assert queues_of([reads], [reads, other]) == {}


def test_growth_moves_a_response_along_its_curve_up_to_just_before_saturation() -> None:
    load, reads = series(FIGURES["disk_requests_per_s"], RATE), series(FIGURES["disk_read_ms"], READ_MS)
    (queue,) = queues_of([reads], [load]).values()
    now, half, full = 5 / (1 - 80 / 200), 5 / (1 - 120 / 200), 5 / (1 - 0.99)
    assert grown(np.array([now]), queue, 1.5)[0] == pytest.approx(half, rel=0.05)
    assert grown(np.array([now]), queue, 4.0)[0] == pytest.approx(full, rel=0.2)
    assert grown(np.array([4.0]), queue, 1.5)[0] == pytest.approx(4.0)


def test_a_forecast_with_growth_answers_by_queueing_and_says_so() -> None:
    load, reads = series(FIGURES["disk_requests_per_s"], RATE), series(FIGURES["disk_read_ms"], READ_MS)
    limit = Threshold("reads are slow", "disk_read_ms", 14.0)
    (item,) = outlook([reads, load], [limit], 7 * 24 * HOUR_S, [Change("80% more", factor=1.8)])
    assert item.forecast.notes[-1].startswith("with 80% more, by queueing: ")
    assert item.when.verdict == "date"
    assert np.nanmax(item.forecast.mean) > 2.5 * np.nanmax(READ_MS)  # a straight line would give 1.8 times


def test_a_response_that_does_not_depend_on_the_load_stays() -> None:
    flat = series(FIGURES["disk_read_ms"], RANDOM.normal(0.5, 0.01, HOURS))
    load = series(FIGURES["disk_requests_per_s"], RATE)
    limit = Threshold("reads are slow", "disk_read_ms", 14.0)
    (item,) = outlook([flat, load], [limit], 7 * 24 * HOUR_S, [Change("80% more", factor=1.8)])
    assert item.forecast.notes[-1].startswith("with 80% more: the response does not depend on the load")
    assert np.nanmax(item.forecast.mean) < 0.6


def test_where_nothing_can_be_fitted_the_straight_line_is_owned_up_to() -> None:
    reads, load = series(FIGURES["disk_read_ms"], READ_MS), series(FIGURES["disk_requests_per_s"], RATE * 0 + 60)
    limit = Threshold("reads are slow", "disk_read_ms", 14.0)
    (item,) = outlook([reads, load], [limit], 7 * 24 * HOUR_S, [Change("80% more", factor=1.8)])
    assert "by a straight line, for the load was mostly 60 to 60" in item.forecast.notes[-1]
