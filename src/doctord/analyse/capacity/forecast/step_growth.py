"""Growth by steps: space that is added in pieces, loads that come in batches."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doctord.analyse.capacity.forecast.robust import deviation, noise_floor
from doctord.analyse.capacity.forecast.shifts import change_points
from doctord.analyse.capacity.series import DAY_S, Numbers

FEWEST = 3  # steps up, or down, that make stairs
SHORTEST = 4  # values on one level
PENALTY = 25.0  # of one more level, in variances of the noise
DEVIATIONS = 3.0  # of its error, by which a step is clear
IRREGULAR = 0.6  # of their mean: sizes or times that vary by more are no stairs
BETTER = 0.7  # of the squares that a curve leaves, stairs leave less
LEVEL = 7  # values that tell the level on which it ends
MOST_VALUES = 2000  # the newest ones, in which steps are looked for: that time grows with their square

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StepGrowth:
    """Growth by steps.

    Attributes:
        places: Where the steps are: the first value on the new level.
        sizes: How far each goes, all to one side.
        slope: Growth between steps, from value to value.
        length: Values of the history.
    """

    places: tuple[int, ...]
    sizes: Numbers
    slope: float
    length: int

    @property
    def gaps(self) -> Numbers:
        """Values from each step to the next."""
        return np.diff(self.places).astype(np.float64)

    def ahead(self, horizon: int, deviations: float = 0.0) -> Numbers:
        """What is added to the level in each value to come.

        Args:
            horizon: Values to come.
            deviations: How much sooner and larger the steps come than usual, in their own deviations; times add up
                as those of a renewal process do (D. R. Cox, "Renewal Theory", 1962), with the error of the mean.
        """
        gaps, size = self.gaps, float(np.mean(self.sizes))
        number = np.arange(1, horizon + 2)
        spread = float(gaps.std(ddof=1)) * np.sqrt(number + number**2 / len(gaps))
        times = self.places[-1] + gaps.mean() * number
        late = max(0.0, self.length - float(times[0]))
        moments = np.maximum(times + late - deviations * spread, self.length)
        taller = deviations * float(self.sizes.std(ddof=1)) * np.sqrt(number + number**2 / len(self.sizes))
        heights = np.concatenate([[0.0], size * number + np.sign(size) * taller])
        values = self.length + np.arange(horizon)
        climbed = np.searchsorted(np.sort(np.rint(moments)), values, side="right")
        return np.asarray(heights[climbed] + self.slope * (np.arange(horizon) + 1.0))

    def note(self, level: float, step_s: int) -> str:
        """What it is, for people, in parts of the usual level."""
        pct, days = 100 * self.sizes / level, self.gaps * step_s / DAY_S
        size = f"{pct.mean():+.3g} % of its usual level, give or take {pct.std(ddof=1):.2g}"
        between = f"{days.mean():.3g} days apart, give or take {days.std(ddof=1):.2g}"
        return f"it moves by steps: {len(pct)} of {size}, {between}"


def step_growth_of(values: Numbers) -> StepGrowth | None:
    """The stairs in a history without gaps and seasons; null where there are none, or a curve does nearly as well.

    Levels come from PELT (R. Killick, P. Fearnhead, I. A. Eckley, 2012), as `ruptures` does it. A line would be cut
    into levels too: growth within the levels is therefore taken off the steps, and those that are none are left out.
    """
    before = max(0, len(values) - MOST_VALUES)
    values = values[before:]
    noise = max(deviation(np.diff(values)) / np.sqrt(2), noise_floor(values))
    places = np.array(change_points(values / noise, SHORTEST, PENALTY), dtype=np.int64)
    while FEWEST <= len(places) <= len(values) / SHORTEST:
        sizes, slope, left, lengths = _fitted(values, places)
        clear = np.abs(sizes) > DEVIATIONS * noise * np.sqrt(1 / lengths[1:] + 1 / lengths[:-1])
        if clear.all():
            are_stairs = _alike(places, sizes) and left < BETTER * _left_by_curve(values)
            found = StepGrowth(tuple((places + before).tolist()), sizes, slope, before + len(values))
            return found if are_stairs else None
        places = places[clear]
    return None


def _fitted(values: Numbers, places: Places) -> tuple[Numbers, float, float, Places]:
    """Levels between places and one slope for all: steps between the levels, slope, squares left, lengths of levels."""
    lengths = np.diff(np.concatenate([[0], places, [len(values)]]))
    first = np.concatenate([[0], places])
    levels, centres = np.add.reduceat(values, first) / lengths, first + (lengths - 1) / 2
    at = np.arange(len(values)) - np.repeat(centres, lengths)
    within = values - np.repeat(levels, lengths)
    slope = float(at @ within / (at @ at))
    left = within - slope * at
    return np.diff(levels) - slope * np.diff(centres), slope, float(left @ left), lengths


def _left_by_curve(values: Numbers) -> float:
    """The squares that a cubic curve leaves."""
    at = np.linspace(-1, 1, len(values))
    left = values - np.polynomial.polynomial.polyval(at, np.polynomial.polynomial.polyfit(at, values, 3))
    return float(left @ left)


def _alike(places: Places, sizes: Numbers) -> bool:
    """Whether steps go one way, and are alike in size and in the time between them."""
    spreads = (sizes, np.diff(places))
    one_way = abs(np.sign(sizes).sum()) == len(sizes)
    return bool(one_way and all(each.std(ddof=1) <= IRREGULAR * abs(each.mean()) for each in spreads))
