from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from doctord.collect.core.increase import ALL, Buckets, Growing, Total, latency_rows, wait_rows

EDGES = [(0.0, 1.0), (1.0, 2.0), (2.0, None)]


def reading(*counts: int, subject: str = "log file sync") -> dict[str, dict[str, Buckets]]:
    return {"1": {subject: {edges: Total(count) for edges, count in zip(EDGES, counts, strict=False)}}}


@given(st.lists(st.tuples(*[st.integers(0, 1000)] * 3), min_size=2, max_size=8))
def test_the_gains_add_up_to_what_the_counters_grew(growth: list[tuple[int, int, int]]) -> None:
    growing, counters, gained = Growing[str](), [0, 0, 0], [0, 0, 0]
    for at, grown in enumerate(growth):
        counters = [a + b for a, b in zip(counters, grown, strict=True)]
        buckets = growing.step(at, reading(*counters)).by_source.get("1", {}).get("log file sync", {})
        gained = [sum_ + buckets.get(edges, Total(0)).count for sum_, edges in zip(gained, EDGES, strict=True)]
    assert gained == [last - first for last, first in zip(counters, growth[0], strict=True)]


def test_the_first_reading_gains_nothing() -> None:
    gained = Growing[str]().step(5.0, reading(1, 2))
    assert (gained.by_source, gained.anew) == ({}, frozenset())


def test_what_was_not_there_before_began_at_zero_if_its_source_was_there() -> None:
    growing = Growing[str]()
    growing.step(1.0, reading(1))
    both = {"1": {**reading(1, 7)["1"], **reading(3, subject="log buffer space")["1"]}, "2": reading(9)["1"]}
    gained = growing.step(3.0, both)
    assert gained.interval_s == 2.0
    assert gained.by_source == {
        "1": {"log file sync": {(1.0, 2.0): Total(7)}, "log buffer space": {(0.0, 1.0): Total(3)}}
    }


def test_a_source_that_fell_gives_nothing_and_others_go_on() -> None:
    growing = Growing[str]()
    growing.step(1.0, {**reading(5, 5), "2": reading(1)["1"]})
    gained = growing.step(2.0, {**reading(9, 4), "2": reading(2)["1"]})
    assert gained.anew == {"1"}
    assert gained.by_source == {"2": {"log file sync": {(0.0, 1.0): Total(1)}}}
    assert growing.step(3.0, {**reading(10, 4), "2": reading(2)["1"]}).by_source == {
        "1": {"log file sync": {(0.0, 1.0): Total(1)}},
        "2": {"log file sync": {}},
    }


def test_a_bucket_that_went_away_began_anew_unless_it_was_empty() -> None:
    growing = Growing[str]()
    growing.step(1.0, reading(5, 1))
    assert growing.step(2.0, reading(5)).anew == {"1"}
    growing.step(3.0, reading(5, 0))
    assert growing.step(4.0, reading(6)).anew == set()


def test_time_is_gained_with_the_counts_and_its_fall_counts_too() -> None:
    def timed(count: int, waited_us: float) -> Mapping[str, Mapping[str, Buckets]]:
        return {"t": {"query": {ALL: Total(count, waited_us)}}}

    growing = Growing[str]()
    growing.step(0.0, timed(10, 1000.0))
    assert growing.step(1.0, timed(14, 1600.0)).by_source == {"t": {"query": {ALL: Total(4, 600.0)}}}
    assert growing.step(2.0, timed(14, 100.0)).anew == {"t"}


def test_rows_tell_no_wait_from_not_measured() -> None:
    common = {"db": "oracle:sales", "interval_s": 2.0}
    assert list(latency_rows({"a": {}, "b": {(1.0, 2.0): Total(3)}}, common)) == [
        {**common, "subject": "a", "gt_us": 0.0, "le_us": None, "count": 0, "waited_us": None},
        {**common, "subject": "b", "gt_us": 1.0, "le_us": 2.0, "count": 3, "waited_us": None},
    ]


def test_means_of_waits() -> None:
    rows = list(wait_rows({"a": {}, "b": {ALL: Total(4, 2e6)}, "c": {ALL: Total(4)}}, {}, 2.0))
    assert rows == [
        {"event": "a", "waits_per_s": 0.0, "average_active_sessions": 0.0, "avg_wait_ms": None},
        {"event": "b", "waits_per_s": 2.0, "average_active_sessions": 1.0, "avg_wait_ms": 500.0},
        {"event": "c", "waits_per_s": 2.0},
    ]
