"""The rows and cells in which a map is drawn."""

import itertools
from datetime import UTC, datetime
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.map import Column, LatencyMap
from doctord.report.map.grid import GridRow, choose_edges, grid, share

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def powers(first: int, last: int, unit_us: float = 1.0) -> Histogram:
    return Histogram.of(Bucket(2**power / 2 * unit_us, 2**power * unit_us, 10) for power in range(first, last + 1))


def fine(low: int, high: int) -> Histogram:
    """32 steps per power of two."""
    edges = [2**power * (1 + step / 32) for power in range(low, high) for step in range(33)]
    return Histogram.of(Bucket(a, b, 1) for a, b in itertools.pairwise(edges) if b > a)


def drawn(*histograms: Histogram | None) -> LatencyMap:
    return LatencyMap("x", None, "h", "histogram", tuple(Column(NOW, 1.0, histogram) for histogram in histograms))


def test_powers_of_two_are_shown_as_they_are() -> None:
    assert choose_edges(powers(0, 5), 12) == [1, 2, 4, 8, 16, 32]


def test_powers_of_two_of_milliseconds_too() -> None:
    assert choose_edges(powers(0, 3, 1000.0), 12) == [1000, 2000, 4000, 8000]


def test_more_powers_than_rows_are_shown_in_pairs() -> None:
    assert choose_edges(powers(0, 9), 6) == [2, 8, 32, 128, 512]


def test_hardly_used_low_rows_become_one_instead() -> None:
    whole = (
        powers(4, 9)
        .merge(Histogram.of([Bucket(1, 2, 0), Bucket(0, 1, 1)]))
        .merge(Histogram.of([Bucket(64, 128, 5000)]))
    )
    assert choose_edges(whole, 6) == [16, 32, 64, 128, 256, 512]


def test_narrow_buckets_are_shown_at_powers_of_two_or_finer() -> None:
    assert choose_edges(fine(4, 10), 7) == [32, 64, 128, 256, 512, 1024]
    assert len(choose_edges(fine(4, 10), 12)) == 12


def test_what_is_above_the_last_edge_has_a_row_of_its_own() -> None:
    above = powers(1, 3).merge(Histogram.of([Bucket(8, inf, 4)]))
    cells = grid(drawn(above), choose_edges(above, 12))
    assert cells.rows[-1] == GridRow(8, inf)
    assert cells.columns[0] is not None
    assert cells.columns[0][-1].count == 4


def test_a_gap_has_no_cells_and_an_idle_interval_empty_ones() -> None:
    cells = grid(drawn(powers(1, 2), None, Histogram()), [2, 4])
    first, gap, idle = cells.columns
    assert first is not None
    assert gap is None
    assert idle is not None
    assert [cell.count for cell in idle] == [0, 0]


def test_only_waits_without_an_upper_edge() -> None:
    above = Histogram.of([Bucket(1024, inf, 3)])
    cells = grid(drawn(above), choose_edges(above, 12))
    assert [row.le_us for row in cells.rows] == [1024, inf]


def test_a_part_of_the_latencies_has_narrower_rows() -> None:
    assert choose_edges(fine(4, 20), 9, 256, 1024) == pytest.approx([358.4, 507.0, 724.1, 1024.0], rel=0.03)


def test_nothing_at_all_has_no_rows() -> None:
    assert grid(drawn(Histogram()), choose_edges(Histogram(), 12)).rows == ()


@given(
    st.dictionaries(st.integers(0, 30 * 32), st.integers(1, 1000), min_size=1, max_size=60),
    st.integers(2, 40),
)
def test_no_wait_is_lost_whatever_the_rows(places: dict[int, int], rows: int) -> None:
    def edge(step: int) -> float:
        return 2.0 ** (step // 32) * (1 + step % 32 / 32)

    whole = Histogram.of(Bucket(edge(step), edge(step + 1), count) for step, count in places.items())
    cells = grid(drawn(whole), choose_edges(whole, rows))
    assert len(cells.rows) <= rows
    assert sum(cell.count for cell in cells.columns[0] or ()) == whole.total


@pytest.mark.parametrize("scale", ["linear", "root", "log"])
def test_scales_keep_the_order_and_the_ends(scale: str) -> None:
    shares = [share(value, 100.0, scale) for value in (0, 1, 10, 100)]  # type: ignore[arg-type]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == pytest.approx(1)
