from datetime import timedelta

from doctord.analyse.latency.difference import Part, difference
from doctord.analyse.latency.histogram import Histogram
from doctord.report.map.difference import compared, sentences
from maps import T0, map_of, of_means, powers

FAST = Part.of(powers({6: 60, 7: 40}), 1.0)
SLOW = Part.of(powers({6: 30, 7: 20, 12: 25, 13: 25}), 0.5)


def test_a_second_mode_is_said() -> None:
    assert list(sentences(difference(FAST, SLOW))) == [
        "Waits per second: 100 in A, 200 in B: 2 times as many.",
        "50 % of the waits lie elsewhere: 32 us to 128 us lost 50 %, 2.05 ms to 8.19 ms gained 50 %.",
        "Median: 58.7 us in A, 128 us in B.",
        "99 %: 126 us in A, 8.03 ms in B.",
    ]


def test_the_same_distribution_at_another_rate_is_alike() -> None:
    assert list(sentences(difference(FAST, Part.of(FAST.histogram, 2.0)))) == [
        "Waits per second: 100 in A, 50 in B: 0.5 times as many.",
        "They are spread alike: 0 % differ.",
    ]


def test_none_and_not_measured_differ() -> None:
    none, unknown = Part.of(Histogram(), 5.0), Part.of(Histogram(), 0.0)
    assert list(sentences(difference(none, FAST))) == ["Waits per second: 0 in A, 100 in B."]
    assert list(sentences(difference(unknown, FAST))) == ["Not measured in both intervals."]


def test_means_are_compared_as_means() -> None:
    assert list(sentences(compared(of_means(4), T0 + timedelta(seconds=1)))) == [
        "Waits per second: 10.5 in A, 12.5 in B: 1.19 times as many.",
        "Mean: 1.52 ms in A, 3.52 ms in B. More is not known: the source knows no distribution.",
    ]


def test_a_map_is_compared_before_and_after_a_moment() -> None:
    found = compared(map_of(10, lambda second: powers({6 if second < 5 else 13: 8})), T0 + timedelta(seconds=4))
    assert (found.a.seconds, found.b.seconds, found.moved) == (5, 5, 1)
    assert list(sentences(found))[1] == (
        "100 % of the waits lie elsewhere: up to 64 us lost 100 %, 4.1 ms to 8.19 ms gained 100 %."
    )
