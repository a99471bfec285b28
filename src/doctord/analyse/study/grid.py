"""Rows of several tables on one grid of time, so that what was spent and what was done stand beside each other."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from doctord.analyse.study.samples import Numbers

MOST_STEPS: Final = 2000
SHORTEST_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Grid:
    """Steps of the same length; a row belongs to the one in which the middle of its interval lies."""

    since_s: float
    step_s: float
    count: int

    @classmethod
    def over(cls, *frames: pl.DataFrame) -> "Grid | None":
        """The grid of some tables (with ts and interval_s), as fine as the coarsest of them; null without any row."""
        spans = [_spans(frame) for frame in frames if frame.height]
        if not spans:
            return None
        since = min(float((ends - lengths).min()) for ends, lengths in spans)
        until = max(float(ends.max()) for ends, _ in spans)
        step = max(SHORTEST_S, *(_usual_s(*span) for span in spans), (until - since) / MOST_STEPS)
        last = max(float((ends - lengths / 2).max()) for ends, lengths in spans)
        return cls(since, step, int((last - since) / step) + 1)

    def places(self, frame: pl.DataFrame) -> "np.typing.NDArray[np.int64]":
        """The step of each row."""
        ends, lengths = _spans(frame)
        return np.clip(((ends - lengths / 2 - self.since_s) / self.step_s).astype(np.int64), 0, self.count - 1)

    def sums(self, frame: pl.DataFrame, column: str) -> Numbers:
        """The sum of a column in each step; 0 where there is no row."""
        values = frame[column].fill_null(0.0).to_numpy()
        summed: Numbers = np.bincount(self.places(frame), values, self.count).astype(np.float64)
        return summed

    def means(self, frame: pl.DataFrame, column: str) -> Numbers:
        """The mean of a column in each step, weighted by `interval_s`; NaN where there is no row.

        A single reading stands for the whole period.
        """
        told = frame.drop_nulls(column)
        if is_single(told):
            return np.full(self.count, float(told[column][0]))
        weight = told["interval_s"].fill_null(1.0).to_numpy()
        places = self.places(told)
        whole = np.bincount(places, weight, self.count)
        summed = np.bincount(places, weight * told[column].to_numpy(), self.count)
        means: Numbers = np.divide(summed, whole, out=np.full(self.count, np.nan), where=whole > 0)
        return means


def is_single(frame: pl.DataFrame) -> bool:
    """Whether a table is one reading without a length: somebody wrote down what was so all along."""
    return frame.height == 1 and frame["interval_s"][0] is None


def _spans(frame: pl.DataFrame) -> tuple[Numbers, Numbers]:
    """End and length of each row, seconds; the length of a reading of a moment is 0."""
    return frame["ts"].dt.epoch("us").to_numpy() / 1e6, frame["interval_s"].fill_null(0.0).to_numpy()


def _usual_s(ends: Numbers, lengths: Numbers) -> float:
    """The usual interval of rows; of readings of a moment the usual time between two of them."""
    if (lengths > 0).any():
        return float(np.median(lengths[lengths > 0]))
    apart = np.diff(np.unique(ends))
    return float(np.median(apart)) if len(apart) else 0.0
