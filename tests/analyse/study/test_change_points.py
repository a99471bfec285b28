from datetime import timedelta

import numpy as np
import pytest

from doctord.analyse.study.change_points import ChangePoints, change_points
from doctord.analyse.study.spent import Spent, spent
from study_series import START, latencies, of_a_server

ROWS, LATER_S = 600, 3600


def server(seed: int, steps: dict[int, float] | None = None, begin_s: float = 0.0, cost_s: float = 0.02) -> Spent:
    """A server whose cost takes steps: from a row on so many times as much."""
    cost = latencies(np.random.default_rng(seed), ROWS, 0.5, cost_s)
    for row, times in (steps or {}).items():
        cost[row:] *= times
    found = spent(of_a_server(cost, np.full(ROWS, 100.0), begin_s))
    assert found
    return found


def study(
    before: dict[int, float] | None = None, after: dict[int, float] | None = None, cost_s: float = 0.02
) -> ChangePoints:
    return change_points(server(1, before), server(2, after, LATER_S, cost_s), "commit")


def test_level_periods_have_none() -> None:
    found = study(cost_s=0.01)
    assert (found.before, found.after, found.at_the_change, found.is_elsewhere) == ((), (), None, False)
    assert (found.ended, found.began) == (START + timedelta(seconds=ROWS), START + timedelta(seconds=LATER_S))


def test_what_moved_before_the_change_did_not_move_with_it() -> None:
    found = study({400: 0.5}, cost_s=0.01)
    (point,) = found.before
    assert abs((point.at - START).total_seconds() - 400) <= 10
    assert point.difference.ratio == pytest.approx(0.5, abs=0.06)
    assert found.is_elsewhere


def test_what_moved_at_the_change_as_well_is_not_elsewhere() -> None:
    found = study({400: 0.5})
    assert len(found.before) == 1
    assert not found.is_elsewhere
    assert found.at_the_change
    assert found.at_the_change.ratio == pytest.approx(2.0, abs=0.25)


def test_several_steps_are_found_each_by_the_levels_beside_it() -> None:
    found = study(after={200: 2.0, 400: 0.5})
    assert [round((one.at - START).total_seconds() - LATER_S, -2) for one in found.after] == [200, 400]
    assert [one.difference.ratio for one in found.after] == [pytest.approx(2, abs=0.25), pytest.approx(0.5, abs=0.06)]


def test_rows_that_resemble_their_neighbours_make_no_steps() -> None:
    """5 % of level periods may have one by chance, and of a hundred more than twelve come once in five hundred."""
    found = 0
    for seed in range(100):
        cost = latencies(np.random.default_rng(seed), ROWS, 0.9)
        told = spent(of_a_server(cost, np.full(ROWS, 100.0)))
        assert told
        found += bool(change_points(told, told, "commit").before)
    assert found <= 12
