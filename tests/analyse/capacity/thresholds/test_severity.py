"""What a violation damages."""

from dataclasses import replace

import pytest

from doctord.analyse.capacity.series import Labels
from doctord.analyse.capacity.thresholds.severity import severity_of
from histories import history
from report.capacity_examples import READS, SPACE

READ, OTHER, SLAVE = (Labels("db1", "oracle:DW", name) for name in ("db file sequential read", "CPU", "PX Deq: reply"))
WAITED = [
    history([5.0] * 24 + [0.5] * 24, "wait_s_per_s", READ),
    history([1.5] * 48, "wait_s_per_s", OTHER),
    history([9.0] * 48, "wait_s_per_s", SLAVE),
    history([9.0] * 48, "wait_s_per_s", Labels("db2", "oracle:DW", "CPU")),
]


def test_the_share_of_the_last_day_of_that_server() -> None:
    share = severity_of(READS, history([12.0] * 48, "wait_ms", READ), WAITED).share_of_time
    assert share == pytest.approx(0.25)


def test_what_is_no_wait_has_no_share() -> None:
    assert severity_of(SPACE, history([1.0], "space_left_bytes", READ), WAITED).share_of_time is None


def test_a_wait_whose_time_was_not_measured_has_none() -> None:
    assert severity_of(READS, history([12.0], "wait_ms", Labels("db3", None, "x")), WAITED).share_of_time is None


def test_space_stops_work_unless_the_threshold_says_otherwise() -> None:
    series = history([1.0], "space_left_bytes", READ)
    assert severity_of(SPACE, series, []).stops
    assert not severity_of(replace(SPACE, severity="slows"), series, []).stops
    assert not severity_of(READS, history([1.0], "wait_ms", READ), []).stops
    assert severity_of(replace(READS, severity="stops"), history([1.0], "wait_ms", READ), []).stops
