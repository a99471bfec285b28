from itertools import pairwise

import numpy as np
import pytest

from doctord.analyse.study.difference import adjusted, difference, noise_of, student_p
from doctord.analyse.study.samples import Samples
from study_series import latencies


def series(seed: int, rows: int = 600, share: float = 0.5, mean: float = 1.0) -> Samples:
    return Samples.of(latencies(np.random.default_rng(seed), rows, share, mean), 1.0, 1.0)


def test_a_planted_change_is_in_the_interval() -> None:
    found = difference(series(1), series(2, mean=1.2))
    assert found.low is not None
    assert found.high is not None
    assert 1 < found.low < 1.2 < found.high
    assert found.p is not None
    assert found.p < 0.01


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say_and_equals_are_rarely_told_apart() -> None:
    """Two hundred pairs with rows that resemble each other: 95 % of them, give or take what chance does to so few."""
    held = [
        found.low <= 1 <= found.high
        for seed in range(200)
        if (found := difference(series(seed, share=0.8), series(1000 + seed, share=0.8))).low is not None
        and found.high is not None
    ]
    assert len(held) > 180
    assert 0.9 <= np.mean(held) <= 0.99


def test_single_values_have_no_interval_and_say_so() -> None:
    found = difference(Samples.of(26.45, 1.0), Samples.of(2.13, 1.0))
    assert found.ratio == pytest.approx(0.0805, abs=1e-4)
    assert (found.low, found.high, found.p, found.why) == (None, None, None, "one value each")


def test_what_was_not_measured_has_no_ratio() -> None:
    assert difference(None, series(1)).why == "not measured before"
    assert difference(series(1), None).why == "not measured after"
    assert difference(Samples.of(0.0, 1.0), Samples.of(1.0, 1.0)).ratio is None


def test_rows_that_are_all_the_same_differ_for_sure_or_not_at_all() -> None:
    same, other = Samples.of(np.full(50, 2.0), 1.0), Samples.of(np.full(50, 3.0), 1.0)
    assert difference(same, same).p == 1.0
    assert (difference(same, other).p, difference(same, other).low) == (0.0, 1.5)


def test_noise_is_what_two_such_periods_differ_by() -> None:
    noise = noise_of(series(5))
    assert noise.is_steady
    assert noise.least is not None
    assert 1.0 < noise.least < 1.2


def test_a_period_whose_halves_differ_is_not_steady() -> None:
    rng = np.random.default_rng(6)
    stepped = np.concatenate([rng.normal(10, 0.5, 300), rng.normal(14, 0.5, 300)])
    # The step makes rows resemble each other; enough of them on both sides are told apart all the same.
    noise = noise_of(Samples.of(np.tile(stepped, 1), 1.0, 1.0))
    assert noise.least is None or not noise.is_steady


def test_probabilities_of_student() -> None:
    assert student_p(0.0, 5) == pytest.approx(1.0)
    assert student_p(1.96, 100_000) == pytest.approx(0.05, abs=1e-3)


def test_adjusted_probabilities_keep_their_order_and_are_no_smaller() -> None:
    chances = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205]
    found = adjusted(chances)
    assert all(one >= own for one, own in zip(found, chances, strict=True))
    assert all(one <= other for one, other in pairwise(found))
    assert found[1] == pytest.approx(0.032)
