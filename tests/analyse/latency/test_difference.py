from datetime import timedelta
from math import inf

import pytest

from doctord.analyse.latency.difference import Part, difference, part
from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.errors import UserError
from maps import T0, map_of, of_means, powers


def test_shares_are_compared_not_counts() -> None:
    found = difference(Part.of(powers({6: 10, 13: 10}), 1.0), Part.of(powers({6: 300, 13: 300}), 10.0))
    assert found.moved == 0
    assert (found.a.per_second, found.b.per_second) == (20.0, 60.0)
    assert found.grown is found.shrunk is None


def test_what_moved_is_named_by_neighbouring_buckets() -> None:
    found = difference(Part.of(powers({6: 60, 7: 40}), 1.0), Part.of(powers({6: 30, 7: 20, 12: 25, 13: 25}), 1.0))
    assert found.moved == pytest.approx(0.5)
    assert found.shrunk
    assert found.grown
    assert (found.shrunk.gt_us, found.shrunk.le_us) == (32, 128)
    assert found.shrunk.gained == pytest.approx(-0.5)
    assert (found.grown.gt_us, found.grown.le_us) == (2048, 8192)
    assert (found.grown.share_a, found.grown.share_b) == (0, 0.5)


def test_buckets_of_one_side_alone_count_as_none_in_the_other() -> None:
    above = Histogram.of([Bucket(64, inf, 5)])
    found = difference(Part.of(powers({6: 5}), 1.0), Part.of(above, 1.0))
    assert [(shift.le_us, shift.share_a, shift.share_b) for shift in found.shifts] == [(64, 1, 0), (inf, 0, 1)]


def test_an_empty_part_has_no_shares() -> None:
    found = difference(Part.of(Histogram(), 5.0), Part.of(powers({6: 5}), 0.0))
    assert found.shifts == ()
    assert found.moved == 0
    assert (found.a.per_second, found.b.per_second) == (0.0, None)


def test_edges_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UserError, match="overlap"):
        difference(Part.of(powers({6: 5}), 1.0), Part.of(Histogram.of([Bucket(40, 50, 1)]), 1.0))


def test_a_part_of_a_map_leaves_gaps_out_of_its_seconds() -> None:
    drawn = map_of(10, lambda second: None if second in {2, 3} else powers({6: second}))
    found = part(drawn, T0, T0 + timedelta(seconds=5))
    assert found.seconds == 3
    assert found.histogram.total == 1 + 4 + 5


def test_buckets_with_others_between_are_not_one_range() -> None:
    found = difference(Part.of(powers({6: 90, 9: 10}), 1.0), Part.of(powers({5: 20, 6: 50, 13: 30}), 1.0))
    assert found.grown
    assert (found.grown.gt_us, found.grown.le_us, found.grown.share_b) == (4096, 8192, 0.3)


def test_of_means_number_and_time_are_known_alone() -> None:
    found = difference(part(of_means(10), None, T0), part(of_means(10), T0))
    assert found.a.is_of_means
    assert (found.a.count, found.a.mean_us) == (10, 1000)
    assert found.shifts == ()
