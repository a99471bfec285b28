"""The native grid against a plain calculation."""

from array import array
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord._native import LatencyGrid

WIDTH_US = 1000
PAIRS = st.lists(st.tuples(st.integers(-50_000, 50_000), st.integers(-3, 10**12)), max_size=200)


def grid(pairs: list[tuple[int, int]], width_us: int = WIDTH_US) -> LatencyGrid:
    made = LatencyGrid(width_us)
    add(made, pairs)
    return made


def add(made: LatencyGrid, pairs: list[tuple[int, int]]) -> None:
    if pairs:  # an empty array has no memory to lie in
        made.add(array("q", [time for time, _ in pairs]), array("q", [latency for _, latency in pairs]))


@given(PAIRS)
def test_every_wait_is_in_its_column_and_bucket(pairs: list[tuple[int, int]]) -> None:
    made = grid(pairs)
    waits = [(time, latency) for time, latency in pairs if latency >= 0]
    columns = Counter(-(-time // WIDTH_US) * WIDTH_US for time, _ in waits)
    cells = [cell for cell in made.cells() if cell[3]]
    found: Counter[int] = Counter()
    for end_us, low_us, high_us, count, waited_us in cells:
        found[end_us] += count
        held = [latency / 1e3 for time, latency in waits if end_us - WIDTH_US < time <= end_us]
        # A latency in nanoseconds is rounded down to 1/1024 us.
        inside = [us for us in held if low_us <= us < high_us + 1 / 1024]
        assert count <= len(inside)
        assert low_us * count <= waited_us + 1e-3 <= (high_us + 2 / 1024) * count + 1e-3
    assert found == columns
    assert made.refused == len(pairs) - len(waits)
    assert sum(cell[4] for cell in cells) == pytest.approx(sum(latency for _, latency in waits) / 1e3)


@given(PAIRS, st.integers(0, 200))
def test_parts_make_the_whole(pairs: list[tuple[int, int]], cut: int) -> None:
    whole, parts = grid(pairs), grid(pairs[:cut])
    add(parts, pairs[cut:])
    assert [cell for cell in parts.cells() if cell[3]] == [cell for cell in whole.cells() if cell[3]]


def test_an_interval_without_a_wait_is_there() -> None:
    ends = [(end_us, count) for end_us, _, _, count, _ in grid([(500, 10), (2500, 10)]).cells()]
    assert ends == [(1000, 1), (2000, 0), (3000, 1)]


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="1 times, but 2 latencies"):
        LatencyGrid(1).add(array("q", [1]), array("q", [1, 2]))
    with pytest.raises(OverflowError, match="take wider ones"):
        grid([(0, 1), (10**15, 1)], 1)
    with pytest.raises(OverflowError, match="is no time"):
        grid([(2**63 - 1, 1)], 1000)
    with pytest.raises(ValueError, match="longer than nothing"):
        LatencyGrid(0)
    with pytest.raises(BufferError):
        LatencyGrid(1).add(array("i", [1]), array("i", [1]))
    assert LatencyGrid(1).cells() == []
