"""Latency maps on a terminal."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from syrupy.assertion import SnapshotAssertion

from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.map import LatencyMap, Marker
from doctord.report.map.cells import Colours
from doctord.report.map.terminal import frame, too_small
from doctord.report.map.view import View
from maps import T0, bimodal_with_bursts, map_of, of_means, powers

PLAIN = View()
RESTART = Marker(T0 + timedelta(seconds=35), "restart", "the server was started again")


def lines(drawn: LatencyMap, view: View = PLAIN, size: tuple[int, int] = (80, 24), colours: Colours = "none") -> str:
    return "\n".join(frame(drawn, view, size, colours, state="LIVE").lines)


@pytest.mark.parametrize("colours", ["none", "256", "true"])
def test_two_modes_bursts_and_a_gap(colours: Colours, snapshot: SnapshotAssertion) -> None:
    assert lines(map_of(50, bimodal_with_bursts, RESTART), colours=colours) == snapshot


def test_percentiles_threshold_and_cursor(snapshot: SnapshotAssertion) -> None:
    view = View(percentiles=True, threshold_us=1000.0, cursor=(3, 4))
    assert lines(map_of(30, bimodal_with_bursts), view) == snapshot


def test_means_are_marks(snapshot: SnapshotAssertion) -> None:
    assert lines(of_means(20)) == snapshot


def test_above_the_last_edge(snapshot: SnapshotAssertion) -> None:
    overflow = Histogram.of([*powers({9: 10, 10: 5}).buckets, Bucket(1024.0, float("inf"), 2)])
    assert lines(map_of(5, lambda _: overflow)) == snapshot


def test_no_wait_differs_from_no_data() -> None:
    text = lines(map_of(4, lambda second: (powers({4: 1}), Histogram(), None, powers({4: 1}))[second]))
    assert "|# /#|" in text


def test_a_map_without_any_wait() -> None:
    text = lines(map_of(3, lambda second: Histogram() if second < 2 else None))
    assert "|  /|" in text
    assert "WAITS  now -  most 0  mean 0" in text


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("height", [14, 24, 60])
def test_nothing_leaves_the_terminal(width: int, height: int) -> None:
    told = lines(map_of(200, bimodal_with_bursts, RESTART), View(percentiles=True), (width, height), "256")
    plain = re.sub(r"\x1b\[[\d;]*m", "", told).splitlines()
    assert max(len(line) for line in plain) <= width
    assert len(plain) < height


def test_older_columns_can_be_looked_at() -> None:
    drawn = map_of(200, bimodal_with_bursts)
    newest, older = (frame(drawn, replace(View(), back=back), (80, 24), "none") for back in (0, 100))
    assert newest.older - older.older == 100
    assert "06:01:40" not in "".join(newest.lines)


def test_a_terminal_may_be_too_small() -> None:
    assert too_small((80, 24)) is None
    assert too_small((30, 10)) == "a map needs 40 columns and 14 lines, this terminal has 30 and 10"
