"""A figure of one period, row by row, and its mean with an error that knows that neighbouring rows are alike.

Rows that follow each other in time are not independent: the error of their mean is that of batch means (P. D. Welch,
"The statistical analysis of simulation results", 1983), in batches that are longer than rows resemble each other. How
long that is, is the integrated autocorrelation time with the window of A. Sokal ("Monte Carlo Methods in Statistical
Mechanics", 1997) and the correction of U. Wolff ("Monte Carlo errors with less errors", 2004) for the mean that was
taken off; M. G. Kendall's for the first autocorrelation ("Note on bias in the estimation of autocorrelation", 1954).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

FEWEST, MOST = 8, 20  # batches: fewer tell no error, more are alike again
APART: Final = 3.0  # times the correlation time, that a batch is long where there are rows enough
AT_LEAST: Final = 1.5  # the same where there are not
WINDOW: Final = 5.0  # correlation times that the sum of autocorrelations goes over
FEWEST_RUNS: Final = 3  # of rows that are runs of their own


@dataclass(frozen=True, eq=False)
class Samples:
    """Rows of a figure, in order of time: the sum of `amount` over that of `per` is its value.

    Attributes:
        amount: Of a mean wait the milliseconds waited, of a cost the seconds spent, of a reading the reading.
        per: Of a mean wait the number of waits, of a cost the units of load, of a reading its length or 1.
        seconds: How long each row is; 0 where it is of a moment.
        are_runs: Whether each row is a run of its own, and resembles its neighbours no more than others.
        are_pairs: Whether each row was run beside the row of that place in the other period.
    """

    amount: Numbers
    per: Numbers
    seconds: Numbers
    are_runs: bool = False
    are_pairs: bool = False

    @classmethod
    def of(cls, amount: object, per: object, seconds: object = 0.0, *, are_runs: bool = False) -> "Samples":
        """Rows of arrays, or of what holds for all; those in which one of both was not measured are left out."""
        own, by, length = np.broadcast_arrays(
            *(np.atleast_1d(np.asarray(it, dtype=np.float64)) for it in (amount, per, seconds))
        )
        kept = np.isfinite(own) & np.isfinite(by) & (by >= 0)
        return cls(own[kept], by[kept], np.nan_to_num(length[kept]), are_runs)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.per)

    @property
    def value(self) -> float | None:
        """The figure over the whole period; null where no row tells it, or nothing was counted."""
        whole = float(self.per.sum())
        return float(self.amount.sum()) / whole if whole else None

    def part(self, begin: int, end: int) -> "Samples":
        """Rows from one to before another."""
        rows = slice(begin, end)
        return Samples(self.amount[rows], self.per[rows], self.seconds[rows], self.are_runs)


@dataclass(frozen=True, slots=True)
class Mean:
    """The value of a figure over a period, and how far off chance may put it.

    Attributes:
        value: The figure, in its own unit.
        error: Standard error of its logarithm; null where it cannot be told.
        freedom: Degrees of freedom of that error; 0 where there is none.
        rows: How many rows it is of.
        why: Why there is no error; empty where there is one.
    """

    value: float
    error: float | None
    freedom: int
    rows: int
    why: str = ""


def mean_of(samples: Samples) -> Mean | None:
    """The mean of a period with its error; null without any row.

    The value is a ratio of sums, and its error that of the batches' departures from it (the ratio estimator of W. G.
    Cochran, "Sampling Techniques", 1977), on the scale of logarithms, where a change by half and one to the double
    are as large as each other.
    """
    value, rows = samples.value, samples.rows
    if value is None:
        return None
    if why := _too_few(samples, value):
        return Mean(value, None, 0, rows, why)
    count, widening = (rows, 1.0) if samples.are_runs else batch_count(samples)
    if not count:
        return Mean(value, None, 0, rows, "too short: its rows resemble their neighbours for too long")
    amount, per = (batch_sums(column, count) for column in (samples.amount, samples.per))
    off = amount - value * per
    variance = float((off**2).sum()) / (count * (count - 1)) / float(per.mean()) ** 2
    return Mean(value, float(np.sqrt(widening * variance)) / value, count - 1, rows)


def _too_few(samples: Samples, value: float) -> str:
    if value <= 0:
        return "nothing, or less: no ratio to it can be told"
    if samples.rows == 1:
        return "one value"
    if samples.rows < (FEWEST_RUNS if samples.are_runs else FEWEST):
        return f"{samples.rows} {'runs' if samples.are_runs else 'rows'} are too few"
    return ""


def batch_count(samples: Samples) -> tuple[int, float]:
    """How many batches the rows make, and what the variance of their means is to be multiplied by; 0: too few rows.

    Neighbouring batches are still alike a little: for a series in which each row holds a share r of the one before
    (AR(1)) the correlation of two batches of k correlation times is r / (k (1 + r)^2 - 2 r).
    """
    length = correlation_time(samples.amount - (samples.value or 0.0) * samples.per)
    count = int(np.clip(samples.rows / (APART * length), FEWEST, MOST))
    long = samples.rows / count / length
    if long < AT_LEAST:
        return 0, 1.0
    share = (length - 1) / (length + 1)
    return count, 1 + 2 * share / (long * (1 + share) ** 2 - 2 * share)


def batch_sums(column: Numbers, count: int) -> Numbers:
    """The sums of a column over batches of the same number of rows, give or take one."""
    begins = np.linspace(0, len(column), count, endpoint=False).astype(int)
    return np.asarray(np.add.reduceat(column, begins), dtype=np.float64)


def correlation_time(series: Numbers) -> float:
    """Rows that are worth one independent row: the integrated autocorrelation time, at least 1.

    The larger of what all autocorrelations sum up to, and of what the first one tells if each row holds the same share
    of the one before (AR(1)): of few rows either alone is often far too small.

    >>> rng = np.random.default_rng(1)
    >>> round(correlation_time(rng.normal(size=5000)), 1)
    1.0
    """
    rows = len(series)
    centred = series - series.mean()
    covariance = np.fft.irfft(np.abs(np.fft.rfft(centred, 2 * rows)) ** 2)[:rows]
    if covariance[0] <= 0:
        return 1.0
    correlation = covariance / covariance[0]
    first = float(correlation[1])
    share = min(first + (1 + 3 * first) / rows, 1 - 1 / rows)
    return max(1.0, _summed(correlation), (1 + share) / (1 - share))


def _summed(correlation: Numbers) -> float:
    """The time by the sum of autocorrelations, over as many of them as WINDOW says."""
    rows = len(correlation)
    summed = 1 + 2 * np.cumsum(correlation[1:])
    wide = np.arange(1, rows) >= WINDOW * summed
    window = int(np.argmax(wide)) + 1 if wide.any() else rows // 2
    return float(summed[max(0, window - 1)]) * (1 + (2 * window + 1) / rows)
