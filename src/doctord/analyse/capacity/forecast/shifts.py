"""Level shifts: moments at which the level of a figure jumps and stays."""

import numpy as np

from doctord.analyse.capacity.forecast.robust import deviation, noise_floor
from doctord.analyse.capacity.series import Numbers

SHIFT_DEVIATIONS = 10.0
FEWEST_BLOCKS = 16
MOST_BLOCKS = 400  # change points are sought in medians of blocks: robust, and quick however long the history is


def level_shifts(values: Numbers, season: int = 1) -> list[tuple[int, float]]:
    """Steps at which the level jumps and stays, and how far.

    Candidates come from PELT (R. Killick, P. Fearnhead, I. A. Eckley, 2012), as `ruptures` does it, on differences
    of what a straight line leaves. A candidate counts if the jump is far beyond the noise on both of its sides.
    """
    block = max(season, -(-len(values) // MOST_BLOCKS))
    blocks = np.median(values[len(values) % block :].reshape(-1, block), axis=1)
    if len(blocks) < FEWEST_BLOCKS:
        return []
    noise = max(deviation(np.diff(blocks)) / np.sqrt(2), noise_floor(blocks))
    flat = (blocks - np.median(np.diff(blocks)) * np.arange(len(blocks))) / noise
    points = change_points(flat, 4, SHIFT_DEVIATIONS**2)
    return _confirmed(values, [len(values) % block + block * point for point in points], noise, season)


def one_way(shifts: list[tuple[int, float]], even: Numbers) -> bool:
    """Whether steps are the growth: three or more in one direction, and little against them between the steps."""
    jumps = np.array([jump for _, jump in shifts])
    is_one_way = len(jumps) >= 3 and abs(np.sign(jumps).sum()) == len(jumps)
    return bool(is_one_way and (even[-1] - even[0]) * np.sign(jumps[0]) > -0.5 * abs(jumps.sum()))


def change_points(values: Numbers, shortest: int, penalty: float) -> list[int]:
    """Where the mean changes, in values whose noise has a variance of 1."""
    import ruptures  # type: ignore[import-untyped]  # noqa: PLC0415 - of the extra `forecast`

    search = ruptures.KernelCPD(kernel="linear", min_size=shortest).fit(values.reshape(-1, 1))
    return [int(point) for point in search.predict(pen=penalty)[:-1]]


def _confirmed(values: Numbers, candidates: list[int], noise: float, season: int) -> list[tuple[int, float]]:
    """Candidates, at the greatest jump nearby, if the levels on both sides differ by far more than noise."""
    side = max(4 * season, min(24, len(values) // 20))
    windows = np.median(np.lib.stride_tricks.sliding_window_view(values, side), axis=1)
    moves = windows[side:] - windows[:-side]
    least = SHIFT_DEVIATIONS * max(noise, deviation(moves))
    found: dict[int, float] = {}
    for candidate in candidates:
        near = np.arange(max(side, candidate - side), min(len(values) - 4 * season, candidate + side) + 1)
        if not len(near):
            continue
        shift = int(near[np.argmax(np.abs(values[near] - values[near - 1]))])
        before, after = values[max(0, shift - side) : shift], values[shift : shift + side]
        drift = (_slope(before) + _slope(after)) / 2 * (len(before) + len(after)) / 2
        jump = float(np.median(after) - np.median(before)) - drift
        single = abs(values[shift] - values[shift - 1]) > abs(jump) / 2
        if abs(jump) > least and single:
            found[shift] = jump
    return sorted(found.items())


def _slope(values: Numbers) -> float:
    """Per step, robust: the median of the slopes between the halves."""
    half = len(values) // 2
    return float(np.median(values[-half:] - values[:half])) / (len(values) - half) if half else 0.0
