"""The regression over all series."""

import numpy as np

from doctord.analyse.capacity.forecast.pooled import pooled


def test_a_season_is_learnt_from_other_series() -> None:
    at = np.arange(200)
    many = [100 * (k + 1) * (2 + np.sin(2 * np.pi * (at + k) / 12)) for k in range(6)]
    short = 5 * (2 + np.sin(2 * np.pi * at / 12))
    ahead = pooled([*many, short[:30]], 12, 24)
    assert np.abs(ahead[-1] / short[30:42] - 1).max() < 0.02


def test_a_series_may_be_negative_and_too_short_for_windows() -> None:
    at = np.arange(100.0)
    ahead = pooled([at - 50, np.array([3.0, 3.0])], 3, 8)
    assert np.abs(ahead[0] - [50, 51, 52]).max() < 3
    assert np.isfinite(ahead[1]).all()


def test_without_any_window_nothing_is_said() -> None:
    assert np.isnan(pooled([np.array([1.0, 2.0])], 3, 8)).all()
