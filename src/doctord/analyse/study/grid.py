"""Rows of several tables on one grid of time, so that what was spent and what was done stand beside each other."""

from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np
import polars as pl

from doctord.analyse.study.samples import Numbers

MOST_STEPS: Final = 2000
SHORTEST_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Grid:
    """Steps of the same length; a row belongs to the one in which its interval ends."""

    since_s: float
    step_s: float
    count: int

    @classmethod
    def over(cls, *frames: pl.DataFrame) -> "Grid | None":
        """The grid of some tables (with ts and interval_s), as fine as the coarsest of them; null without any row."""
        filled = [frame for frame in frames if frame.height]
        if not filled:
            return None
        ends = [frame["ts"].dt.epoch("us").to_numpy() / 1e6 for frame in filled]
        lengths = [frame["interval_s"].fill_null(0.0).to_numpy() for frame in filled]
        since = min(float((end - length).min()) for end, length in zip(ends, lengths, strict=True))
        span = max(float(end.max()) for end in ends) - since
        usual = [_usual_s(end, length) for end, length in zip(ends, lengths, strict=True)]
        step = max(SHORTEST_S, *usual, span / MOST_STEPS)
        return cls(since, step, max(1, ceil(span / step - 0.5)))

    def places(self, frame: pl.DataFrame) -> "np.typing.NDArray[np.int64]":
        """The step of each row."""
        ends = frame["ts"].dt.epoch("us").to_numpy() / 1e6
        return np.clip(np.ceil((ends - self.since_s) / self.step_s - 0.5).astype(np.int64) - 1, 0, self.count - 1)

    def sums(self, frame: pl.DataFrame, column: str) -> Numbers:
        """The sum of a column in each step; 0 where there is no row."""
        values = frame[column].fill_null(0.0).to_numpy()
        summed: Numbers = np.bincount(self.places(frame), values, self.count).astype(np.float64)
        return summed

    def means(self, frame: pl.DataFrame, column: str) -> Numbers:
        """The mean of a column in each step, weighted by `interval_s`; NaN where there is no row."""
        told = frame.drop_nulls(column)
        weight = told["interval_s"].fill_null(1.0).to_numpy()
        places = self.places(told)
        whole = np.bincount(places, weight, self.count)
        summed = np.bincount(places, weight * told[column].to_numpy(), self.count)
        means: Numbers = np.divide(summed, whole, out=np.full(self.count, np.nan), where=whole > 0)
        return means


def _usual_s(ends: Numbers, lengths: Numbers) -> float:
    """The usual interval of rows; of readings of a moment the usual time between two of them."""
    if (lengths > 0).any():
        return float(np.median(lengths[lengths > 0]))
    apart = np.diff(np.unique(ends))
    return float(np.median(apart)) if len(apart) else 0.0
