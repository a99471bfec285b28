from hypothesis import given
from hypothesis import strategies as st

from doctord.collect.core.rates import EARLY, Cadence, Counters


def test_an_increase_is_per_second() -> None:
    counters = Counters[str]()
    assert counters.step(10.0, {"a": 100.0}) is None
    increase = counters.step(14.0, {"a": 120.0})
    assert increase is not None
    assert (increase.interval_s, increase.per_s, increase.reset) == (4.0, {"a": 5.0}, frozenset())


def test_a_counter_that_goes_down_gives_no_rate() -> None:
    counters = Counters[str]()
    counters.step(0.0, {"a": 100.0, "b": 1.0})
    increase = counters.step(1.0, {"a": 3.0, "b": 2.0})
    assert increase is not None
    assert (increase.per_s, increase.reset) == ({"b": 1.0}, {"a"})


def test_a_new_counter_has_no_rate_unless_it_began_at_zero() -> None:
    plain, from_zero = Counters[str](), Counters[str](from_zero=True)
    for counters in (plain, from_zero):
        counters.step(0.0, {})
    first, second = plain.step(2.0, {"a": 4.0}), from_zero.step(2.0, {"a": 4.0})
    assert first is not None
    assert second is not None
    assert (first.per_s, second.per_s) == ({}, {"a": 2.0})


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.floats(0, 1e15)), max_size=6), st.booleans())
def test_no_rate_is_ever_negative(readings: list[dict[str, float]], from_zero: bool) -> None:  # noqa: FBT001
    counters = Counters[str](from_zero=from_zero)
    for second, reading in enumerate(readings):
        increase = counters.step(float(second), reading)
        assert increase is None or all(rate >= 0 for rate in increase.per_s.values())


def test_a_cadence_has_early_moments_and_then_its_own() -> None:
    cadence = Cadence(every_s=60, early_s=EARLY)
    assert [second for second in range(0, 200, 5) if cadence.due(1000 + second)] == [0, 5, 10, 20, 30, 60, 120, 180]


def test_a_cadence_bears_ticks_that_are_early_late_or_missing() -> None:
    cadence = Cadence(every_s=5)
    assert [second for second in (0, 4.9, 10.1, 14.95, 40, 44.8) if cadence.due(second)] == [
        0,
        4.9,
        10.1,
        14.95,
        40,
        44.8,
    ]
