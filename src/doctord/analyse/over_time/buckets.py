"""Even stretches of time for a picture, and how what was measured is spread in each of them."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

# Widths that a bucket is given: people read an axis of these.
WIDTHS_S: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600, 43200, 86400)


@dataclass(frozen=True, slots=True)
class Buckets:
    """Even stretches of time: bucket 0 begins `start_s` seconds after 1970."""

    start_s: int
    width_s: int
    count: int

    @classmethod
    def between(cls, since_s: float, until_s: float, most: int, step_s: int = 1) -> "Buckets":
        """The narrowest buckets of whole steps, no more than so many, that hold all from one moment to another.

        A length that an axis is read easily by is taken where there is one.

        >>> Buckets.between(1000.5, 4600.0, 100)
        Buckets(start_s=960, width_s=60, count=61)
        """
        for width_s in (width for width in WIDTHS_S if width % step_s == 0):
            first, last = int(since_s // width_s), int(-(-until_s // width_s))
            if last - first <= most:
                return cls(first * width_s, width_s, last - first)
        start_s = int(since_s // step_s) * step_s
        width_s = -(-math.ceil((until_s - start_s) / most) // step_s) * step_s
        return cls(start_s, width_s, math.ceil((until_s - start_s) / width_s))


@dataclass(frozen=True, slots=True)
class Envelope:
    """Of each bucket the mean of its steps, and their extremes and quartiles; NaN where it was not looked at."""

    mean: Numbers
    low: Numbers
    q1: Numbers
    median: Numbers
    q3: Numbers
    high: Numbers
