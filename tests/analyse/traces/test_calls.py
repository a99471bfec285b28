"""Figures of a trace that causes and reports share."""

import pytest

from doctord.analyse.traces.calls import of_class, pass_s, seconds_of, traced_s
from traces import call, healthy, without_loop


def test_the_pass_is_that_of_the_loop() -> None:
    assert pass_s(healthy()) == 0.001
    assert pass_s(without_loop()) is None


@pytest.mark.parametrize(
    ("totals", "seconds"),
    [
        ({"elapsed_s": 126.21, "in_calls_s": 52.3, "outside_calls_s": None}, 126.21),
        ({"in_calls_s": 0.6, "outside_calls_s": 0.4}, 1.0),
        ({"in_calls_s": 52.3, "outside_calls_s": None}, 52.3),
        ({"in_calls_s": None, "outside_calls_s": None}, 10.0),
    ],
)
def test_the_time_of_a_trace(totals: dict[str, float | None], seconds: float) -> None:
    assert traced_s(healthy(totals=totals)) == pytest.approx(seconds)


def test_seconds_are_null_when_no_call_has_a_length() -> None:
    trace = without_loop(calls=[call("read", "read", seconds=None), call("write", "write", seconds=0.5)])
    assert seconds_of(of_class(trace, "read")) is None
    assert seconds_of(of_class(trace, "read", "write")) == 0.5
