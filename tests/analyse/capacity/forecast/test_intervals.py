"""Intervals calibrated on errors."""

import numpy as np

from doctord.analyse.capacity.forecast.intervals import half_widths


def test_ninety_five_percent_of_new_errors_are_held() -> None:
    random = np.random.default_rng(5)
    size = np.exp(random.normal(0, 1, 300))
    growth = np.sqrt(np.arange(1, 13))
    errors = random.standard_normal((300, 5, 12)) * size[:, None, None] * growth
    wide = half_widths(errors[:, :4], size, 0.95)
    held = (np.abs(errors[:, 4]) <= wide).mean()
    assert 0.93 < held < 0.97


def test_one_series_has_wider_intervals_than_its_errors() -> None:
    errors = np.full((1, 4, 6), 2.0)
    assert (half_widths(errors, np.array([1.0]), 0.95) > 4.0).all()


def test_unknown_errors_give_unknown_widths() -> None:
    assert np.isnan(half_widths(np.full((2, 4, 3), np.nan), np.ones(2), 0.95)).all()
