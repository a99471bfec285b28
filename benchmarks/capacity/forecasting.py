"""What the benchmarks of forecasts share: series, the measures of the M4 competition, and the page of their tables."""

import re
import resource
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from simulated import START

from doctord.analyse.capacity.series import Labels, Numbers, Series
from doctord.dataset.figure import Figure

FIGURE = Figure("figure", "figure", "workload", "disk", "reads_per_s", "per_s")
LEVEL = 0.95
Told = tuple[Numbers, Numbers, Numbers]
PAGE = Path(__file__).parents[2] / "docs/reference/forecast-accuracy.md"


class Score(NamedTuple):
    """How good a forecast was.

    Attributes:
        smape: Symmetric mean absolute error in %.
        msis: Mean scaled interval score (S. Makridakis and others, "The M4 Competition", 2020).
        held: Share of what came that the interval held.
    """

    smape: float
    msis: float
    held: float


def series_of(values: Numbers, step_s: int) -> Series:
    """A series of values."""
    return Series(FIGURE, Labels(), step_s, START, values, values, values)


def scored(train: Numbers, test: Numbers, told: Told, season: int) -> Score:
    """The score of a forecast (mean, low, high); MSIS is scaled by the seasonal naive error of the history."""
    mean, low, high = told
    smape = 200 * np.mean(np.abs(mean - test) / (np.abs(mean) + np.abs(test)))
    outside = np.maximum(low - test, 0) + np.maximum(test - high, 0)
    scale = np.nanmean(np.abs(train[season:] - train[:-season]))
    msis = np.mean(high - low + 2 / (1 - LEVEL) * outside) / scale
    return Score(float(smape), float(msis), float(np.mean(outside == 0)))


def average(scores: Iterable[Score]) -> Score:
    """The mean of each measure."""
    return Score(*(float(np.mean(column)) for column in zip(*scores, strict=True)))


def cpu_s() -> float:
    """CPU seconds of this process and of the children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def write(part: str, lines: Iterable[str]) -> None:
    """Print the rows of a table, and put them in the place of the old ones on the page."""
    rows = "\n".join(lines)
    print(f"{part}:\n{rows}\n", flush=True)
    begin, end = f"<!-- {part}: begin -->\n", f"<!-- {part}: end -->"
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(f"{begin}.*?{end}", lambda _: f"{begin}{rows}\n{end}", page, flags=re.S), encoding="utf-8")
